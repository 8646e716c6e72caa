import type { ArgumentsHost } from '@nestjs/common';
import { InputError } from '../http/api-error.js';
import type { ErrorFilter } from '../http/error.filter.js';
import { CategoryIssuesFilter } from './category-issues.filter.js';
import type { ItemsService } from './items.service.js';

const ISSUE = { path: ['name'], message: 'Too short' };

describe('CategoryIssuesFilter', () => {
  it('the filter keeps nothing of an invalid input while it waits for MongoDB', async () => {
    const request = { body: { categoryId: 'no-such', unknown: [{}] } as unknown };
    const host = { switchToHttp: () => ({ getRequest: () => request }) } as ArgumentsHost;
    let found: (category: null) => void = () => undefined;
    const items = { findCategoryId: () => new Promise((resolve) => (found = resolve)) } as unknown as ItemsService;
    const respond = jest.fn<undefined, [InputError]>();
    const filter = new CategoryIssuesFilter(items, { catch: respond } as unknown as ErrorFilter);
    const catching = filter.catch(new InputError([ISSUE]), host);
    expect(request.body).toBeUndefined();
    found(null);
    await catching;
    expect(respond.mock.calls[0]?.[0].issues).toHaveLength(2);
  });
});
