import { NO_REPLICA_SET, type Database } from '@app/database';
import { CHECK_TIMEOUT_MS, OK, type Readiness, type ReadinessCheck } from '@app/runtime';
import type { CreateItemConsumer } from './items/create-item.consumer.js';

/** Reports the worker as ready while it processes jobs, or would if there were any. */
export class WorkerReadiness implements ReadinessCheck {
  constructor(
    private readonly database: Database,
    private readonly consumer: CreateItemConsumer,
  ) {}

  async check(): Promise<Readiness> {
    const [hasMongodb, hasRedis] = await Promise.all([
      this.database.responds(CHECK_TIMEOUT_MS),
      this.consumer.redisResponds(CHECK_TIMEOUT_MS),
    ]);
    const parts = {
      mongodb: hasMongodb ? OK : this.database.isReplicaSetMissing ? NO_REPLICA_SET : 'unavailable',
      redis: hasRedis ? OK : 'unavailable',
      consumer: hasRedis ? (this.consumer.idleReason ?? OK) : 'Redis is unavailable',
    };
    return { status: Object.values(parts).every((part) => part === OK) ? 'ready' : 'not ready', parts };
  }
}
