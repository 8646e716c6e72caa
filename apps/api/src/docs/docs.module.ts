import { Module, type DynamicModule } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { PageScript } from './docs-page.js';

/** Serves `/docs` and `/openapi.json`. */
@Module({})
export class DocsModule {
  /** @param canTry whether the page can send requests, which go to the port that serves it */
  static with({ canTry }: { canTry: boolean }): DynamicModule {
    return {
      module: DocsModule,
      controllers: [DocsController],
      providers: [{ provide: PageScript, useValue: new PageScript(canTry) }],
    };
  }
}
