import { ApiModule } from '../apps/api/src/api.module.js';
import { validInput } from './support/items.js';
import { startService } from './support/service.js';

describe('a stopping API', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('runs the shutdown hooks of its modules once, after the last response, when it no longer listens', async () => {
    const service = await startService({ worker: false });
    const states: string[] = [];
    const { onApplicationShutdown } = ApiModule.prototype;
    jest.spyOn(ApiModule.prototype, 'onApplicationShutdown').mockImplementation(async function (this: ApiModule) {
      const live = fetch(`${service.api.base}/health/live`);
      states.push(
        await live.then(
          () => 'listening',
          () => 'closed',
        ),
      );
      await onApplicationShutdown.call(this);
    });
    const creating = service.api.call('create', validInput(), { Prefer: 'wait=2' });
    await service.stop();
    expect((await creating).status).toBe(504);
    expect(states).toEqual(['closed']);
  });
});
