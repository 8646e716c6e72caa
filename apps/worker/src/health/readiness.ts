import type { Database } from '@app/database';
import { redisAnswers, type RedisConnection } from '@app/queue';
import type { CreateItemConsumer } from '../items/create-item.consumer.js';

export interface Readiness {
  status: 'ready' | 'not ready';
  parts: Record<string, string>;
}

/** Orchestrators wait 1 s by default. */
const ANSWER_WITHIN_MS = 700;
const OK = 'ok';
const AWAY = 'away';

/** A worker is ready while it takes jobs, or would if there were any. */
export class WorkerReadiness {
  constructor(
    private readonly database: Database,
    private readonly redis: RedisConnection,
    private readonly consumer: CreateItemConsumer,
  ) {}

  async check(): Promise<Readiness> {
    const [hasMongodb, hasRedis] = await Promise.all([
      this.database.answers(ANSWER_WITHIN_MS),
      redisAnswers(this.redis, ANSWER_WITHIN_MS),
    ]);
    const parts = {
      mongodb: hasMongodb ? OK : AWAY,
      redis: hasRedis ? OK : AWAY,
      consumer: hasRedis ? ((await this.consumer.idleReason()) ?? OK) : 'Redis is away',
    };
    return { status: Object.values(parts).every((part) => part === OK) ? 'ready' : 'not ready', parts };
  }
}
