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
    const request = host.switchToHttp().getRequest<ApiRequest>();
    const { data } = CategorySchema.safeParse(request.body);
    // It may be large, and finding the category may take long.
    request.body = undefined;
    const isToCheck = data !== undefined && !issues.some(({ path }) => path[0] === 'categoryId');
    const isUnknown = isToCheck && (await this.isUnknown(data.categoryId));
    this.errors.catch(isUnknown ? new InputError([...issues, UNKNOWN_CATEGORY]) : error, host);
  }

  /** Returns false while MongoDB is unavailable: the input is invalid anyway. */
  private async isUnknown(category: string): Promise<boolean> {
    return (await this.items.findCategoryId(category).catch(() => undefined)) === null;
  }
}
