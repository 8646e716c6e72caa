import { parseArgs } from 'node:util';
import { connectRedis, FailedJobs, type FailedJob, type ChangeOutcome } from '@app/queue';
import { loadQueueConfig, throttle } from '@app/runtime';
import { CommandError, printResult, report, retryFor, runCommand, type Result } from './command.js';

const USAGE = `usage: jobs list [--page N] [--json]
       jobs show ID [--json]
       jobs retry ID|--all [--json]
       jobs discard ID|--all [--json]`;
const REDIS_RESPONDS_WITHIN_MS = 10_000;
const PAGE_SIZE = 20;
const NOT_DONE = 1;
const NOT_FINISHED = 2;
const OPTIONS = {
  all: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  page: { type: 'string' },
} as const;

type Command = (jobs: FailedJobs) => Promise<Result>;

/** Lists, shows, retries and discards failed jobs. Exits with 1 if a job was not shown, retried or discarded. */
runCommand(USAGE, async (print) => {
  const { positionals, values } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const command = commandOf(positionals, values);
  const { redisUrl, queuePrefix } = loadQueueConfig();
  const redis = connectRedis(redisUrl, 'producer', throttle(report));
  const jobs = new FailedJobs(redis, queuePrefix);
  try {
    await retryFor(
      REDIS_RESPONDS_WITHIN_MS,
      'Redis',
      () => undefined,
      async () => {
        await redis.ping();
      },
    );
    printResult(print, await command(jobs), values.json);
  } finally {
    await jobs.close();
  }
});

function commandOf([name, ...ids]: string[], { all, page }: { all: boolean; page?: string }): Command {
  const [id] = ids;
  const listed = page ?? '1';
  if (name === 'list' && id === undefined && !all && /^[1-9]\d{0,5}$/.test(listed))
    return (jobs) => list(jobs, Number(listed));
  if (page !== undefined) throw new CommandError(USAGE);
  if (name === 'show' && id !== undefined && ids.length === 1 && !all) return (jobs) => show(jobs, id);
  if (ids.length === (all ? 0 : 1)) {
    if (name === 'retry') return (jobs) => change(jobs, id, 'retried', (each) => jobs.retry(each));
    if (name === 'discard') return (jobs) => change(jobs, id, 'discarded', (each) => jobs.discard(each));
  }
  throw new CommandError(USAGE);
}

async function list(jobs: FailedJobs, page: number): Promise<Result> {
  const ids = await jobs.findIds();
  const pages = Math.max(1, Math.ceil(ids.length / PAGE_SIZE));
  const found = await Promise.all(ids.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE).map((id) => jobs.findById(id)));
  const listed = found.filter((job) => job !== undefined);
  const total = `${String(ids.length)} failed ${ids.length === 1 ? 'job' : 'jobs'}`;
  return {
    lines: [...listed.map(lineOf), pages === 1 ? total : `${total}, page ${String(page)} of ${String(pages)}`],
    json: {
      total: ids.length,
      page,
      pages,
      jobs: listed.map(({ id, failedAt, attempts, reason }) => ({ id, failedAt, attempts, reason })),
    },
  };
}

async function show(jobs: FailedJobs, id: string): Promise<Result> {
  const job = await jobs.findById(id);
  if (job === undefined) return { lines: [`${id} not failed`], json: null, exitCode: NOT_DONE };
  const { stacks, data } = job;
  return { lines: [lineOf(job), ...stacks, JSON.stringify(data, null, 2)], json: job };
}

/** Retries or discards one job or, without an id, all that have failed so far. */
async function change(
  jobs: FailedJobs,
  id: string | undefined,
  done: 'retried' | 'discarded',
  act: (id: string) => Promise<ChangeOutcome>,
): Promise<Result> {
  const results: { id: string; outcome: string }[] = [];
  const ids = id === undefined ? await jobs.findIds() : [id];
  for (const each of ids) {
    try {
      const outcome = await act(each);
      results.push({ id: each, outcome: outcome === 'done' ? done : outcome });
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      results.push({ id: each, outcome: 'unknown' });
      // Redis does not respond, and the other jobs would each wait for it.
      break;
    }
  }
  const isEach = (...outcomes: string[]): boolean => results.every(({ outcome }) => outcomes.includes(outcome));
  return {
    lines: ids.length === 0 ? ['no failed jobs'] : results.map((result) => `${result.id} ${result.outcome}`),
    json: results,
    exitCode: isEach(done) ? 0 : isEach(done, 'not failed', 'unreadable') ? NOT_DONE : NOT_FINISHED,
  };
}

function lineOf({ id, failedAt, attempts, reason }: FailedJob): string {
  const tried = attempts === null ? '' : `after ${String(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}: `;
  return `${id}  ${failedAt.toISOString()}  ${tried}${reason.split('\n')[0] ?? ''}`;
}
