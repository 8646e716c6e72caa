import { createLogger, loadApiConfig } from '@app/runtime';
import { ErrorFilter } from './error.filter.js';
import { ApiAdapter } from './api.adapter.js';

const config = loadApiConfig({
  MONGODB_URI: 'mongodb://localhost/x',
  REDIS_URL: 'redis://localhost',
  NODE_ENV: 'test',
});

describe('ApiAdapter', () => {
  const adapter = new ApiAdapter(config, new ErrorFilter(createLogger('test', 'silent'), () => ''), undefined);
  const handler = (): void => undefined;

  it('rejects paths with parameters, middleware and other methods when they are registered', () => {
    expect(() => {
      adapter.get('/items/:id', handler);
    }).toThrow('only fixed paths');
    expect(() => adapter.use()).toThrow('middleware');
    expect(() => {
      adapter.put('/items', handler);
    }).toThrow();
  });
});
