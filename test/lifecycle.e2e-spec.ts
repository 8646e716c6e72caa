import type { BeforeApplicationShutdown, DynamicModule, OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import { Database } from '@app/database';
import { ApiModule } from '../apps/api/src/api.module.js';
import { WorkerModule } from '../apps/worker/src/worker.module.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { startService } from './support/service.js';

/** A provider that notes its shutdown hooks, and whether MongoDB can still be used in them. */
class Hooks implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    private readonly database: Database,
    private readonly calls: string[],
  ) {}

  onModuleDestroy(): Promise<void> {
    return this.read('onModuleDestroy');
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.read('beforeApplicationShutdown');
  }

  onApplicationShutdown(): void {
    this.calls.push('onApplicationShutdown');
  }

  private async read(hook: string): Promise<void> {
    const items = await this.database.models.items.countDocuments().catch(() => 'unreadable');
    this.calls.push(`${hook}: items ${String(items)}`);
  }
}

/** Returns the module with a provider of its own. */
function withHooks(module: DynamicModule, calls: string[]): DynamicModule {
  const hooks = { provide: Hooks, inject: [Database], useFactory: (database: Database) => new Hooks(database, calls) };
  return { ...module, providers: [...(module.providers ?? []), hooks] };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a stopping API or worker', () => {
  it('a stopping process runs the shutdown hooks in order, and closes MongoDB after onModuleDestroy and beforeApplicationShutdown', async () => {
    const [ofApi, ofWorker]: [string[], string[]] = [[], []];
    const [api, worker] = [ApiModule.with.bind(ApiModule), WorkerModule.with.bind(WorkerModule)];
    jest.spyOn(ApiModule, 'with').mockImplementation((...parts) => withHooks(api(...parts), ofApi));
    jest.spyOn(WorkerModule, 'with').mockImplementation((...parts) => withHooks(worker(...parts), ofWorker));
    const service = await startService();
    await service.api.create(validInput());
    await service.stop();
    const expected = ['onModuleDestroy: items 1', 'beforeApplicationShutdown: items 1', 'onApplicationShutdown'];
    expect([ofApi, ofWorker]).toEqual([expected, expected]);
  });
});

describe('a stopping API', () => {
  it('a stopping API runs the shutdown hooks of its modules once, after the last response, when it no longer listens', async () => {
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
    const creating = service.api.callOnce('create', validInput(), { Prefer: 'wait=5' });
    await eventually(async () => {
      expect(await service.metrics()).toContain('item_listing_jobs{state="waiting"} 1');
    });
    await service.stop();
    expect((await creating).status).toBe(504);
    expect(states).toEqual(['closed']);
  });
});
