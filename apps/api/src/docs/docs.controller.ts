import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Controller, Get, Res } from '@nestjs/common';
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';
import type { ApiResponse } from '../orpc/answer.js';
import { PAGE, PAGE_SCRIPT } from './docs-page.js';
import { OPENAPI } from './openapi.js';

/** The OpenAPI document and a page that shows it; everything comes from this process. */
@Controller()
export class DocsController {
  @Get('openapi.json')
  openapi(): typeof OPENAPI {
    return OPENAPI;
  }

  @Get('docs')
  page(@Res() response: ApiResponse): void {
    send(response, 'text/html', PAGE);
  }

  @Get('docs/page.js')
  script(@Res() response: ApiResponse): void {
    send(response, 'text/javascript', PAGE_SCRIPT);
  }

  @Get('docs/swagger-ui-bundle.js')
  async bundle(@Res() response: ApiResponse): Promise<void> {
    send(response, 'text/javascript', await swaggerUi('swagger-ui-bundle.js'));
  }

  @Get('docs/swagger-ui.css')
  async styles(@Res() response: ApiResponse): Promise<void> {
    send(response, 'text/css', await swaggerUi('swagger-ui.css'));
  }

  @Get('docs/favicon-32x32.png')
  async icon(@Res() response: ApiResponse): Promise<void> {
    send(response, 'image/png', await swaggerUi('favicon-32x32.png'));
  }
}

function swaggerUi(file: string): Promise<Buffer> {
  return readFile(join(swaggerUiFolder(), file));
}

function send(response: ApiResponse, type: string, body: string | Buffer): void {
  response.setHeader('Content-Type', type.startsWith('text/') ? `${type}; charset=utf-8` : type);
  response.end(body);
}
