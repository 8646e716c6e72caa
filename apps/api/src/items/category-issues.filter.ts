import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { CreateItemInputSchema, UNKNOWN_CATEGORY } from '@app/contracts';
import { InputError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-message.js';
import { ErrorFilter } from '../http/error.filter.js';
import { ItemsService } from './items.service.js';

const CategorySchema = CreateItemInputSchema.pick({ categoryId: true });

/** Adds an unknown category to the issues of an invalid create input, so that the client gets all issues at once. */
@Injectable()
@Catch(InputError)
export class CategoryIssuesFilter implements ExceptionFilter<InputError> {
  constructor(
    private readonly items: ItemsService,
    private readonly errors: ErrorFilter,
  ) {}

  async catch(error: InputError, host: ArgumentsHost): Promise<void> {
    const { issues } = error;
    const { body } = host.switchToHttp().getRequest<ApiRequest>();
    const isToCheck = !issues.some(({ path }) => path[0] === 'categoryId');
    const isUnknown = isToCheck && (await this.isCategoryUnknown(body));
    this.errors.catch(isUnknown ? new InputError([...issues, UNKNOWN_CATEGORY]) : error, host);
  }

  /** Returns false while MongoDB is unavailable: the input is invalid anyway. */
  private async isCategoryUnknown(body: unknown): Promise<boolean> {
    const { data } = CategorySchema.safeParse(body);
    const found = data && this.items.findCategoryId(data.categoryId).catch(() => undefined);
    return (await found) === null;
  }
}
