import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Res } from '@nestjs/common';
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';
import type { ApiResponse } from '../http/api-message.js';
import { Json } from '../orpc/json.js';
import { PAGE, PageScript } from './docs-page.js';
import { OPENAPI } from './openapi.js';

/** Each response is built once and shared. */
const DOCUMENT = Json.of(OPENAPI);
const BUNDLE = swaggerUi('swagger-ui-bundle.js');
const STYLES = swaggerUi('swagger-ui.css');
const ICON = swaggerUi('favicon-32x32.png');

/** Serves the OpenAPI document and a page that shows it. The page loads nothing from other hosts. */
@Controller()
export class DocsController {
  constructor(private readonly pageScript: PageScript) {}

  @Get('openapi.json')
  openapi(): Json {
    return DOCUMENT;
  }

  @Get('docs')
  page(@Res() response: ApiResponse): void {
    send(response, 'text/html', PAGE);
  }

  @Get('docs/page.js')
  script(@Res() response: ApiResponse): void {
    send(response, 'text/javascript', this.pageScript.text);
  }

  @Get('docs/swagger-ui-bundle.js')
  bundle(@Res() response: ApiResponse): void {
    send(response, 'text/javascript', BUNDLE);
  }

  @Get('docs/swagger-ui.css')
  styles(@Res() response: ApiResponse): void {
    send(response, 'text/css', STYLES);
  }

  @Get('docs/favicon-32x32.png')
  icon(@Res() response: ApiResponse): void {
    send(response, 'image/png', ICON);
  }
}

function swaggerUi(file: string): Buffer {
  return readFileSync(join(swaggerUiFolder(), file));
}

function send(response: ApiResponse, type: string, body: string | Buffer): void {
  response.setHeader('Content-Type', type.startsWith('text/') ? `${type}; charset=utf-8` : type);
  response.end(body);
}
