import type { BeforeHook, JobCleanStatus, JobStatus } from '@bull-board/api/typings/app';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { Router, type RequestHandler } from 'express';
import { CREATE_QUEUE, type FailedJobs } from '@app/queue';

/** The only changes that bull-board may make. Others could lose creates. */
const CHANGES = [
  '/api/queues/:queueName/:jobId/retry',
  '/api/queues/:queueName/:jobId/clean',
  '/api/queues/:queueName/clean/:queueStatus',
];

/** Jobs may be large, and bull-board reads as many as a request asks for. */
const MAX_JOBS = 100;

/** The create queue in bull-board, where failed jobs can be retried and discarded as with `npm run jobs`. */
class CreateQueueAdapter extends BullMQAdapter {
  constructor(private readonly jobs: FailedJobs) {
    super(jobs.queue);
  }

  override getJob(id: string): ReturnType<FailedJobs['findJob']> {
    return this.jobs.findJob(id);
  }

  override async getJobs(states: JobStatus[], start = 0, end = Infinity) {
    // BullMQ 6 and later have no paused jobs.
    const ranges = states.filter((state) => state !== 'paused');
    const ids = await this.jobs.queue.getRanges(ranges, start, Math.min(end, start + MAX_JOBS - 1));
    const jobs = await Promise.all(ids.map((id) => this.jobs.findJob(id)));
    return jobs.filter((job) => job !== undefined);
  }

  override async clean(state: JobCleanStatus): Promise<void> {
    if (state !== 'failed') throw new Error('Only failed jobs can be discarded');
    for (const id of await this.jobs.findIds()) await this.jobs.discard(id);
  }
}

/** Returns the handler of the dashboard, which is served at the path `basePath`. */
export function queueDashboard(jobs: FailedJobs, basePath: string): RequestHandler {
  const dashboard = new ExpressAdapter();
  dashboard.setBasePath(basePath);
  createBullBoard({
    queues: [new CreateQueueAdapter(jobs)],
    serverAdapter: dashboard,
    options: { uiConfig: { boardTitle: 'Item Listing Service', hideDocsLink: true }, handlerHooks: { before: allow } },
  });
  const retryAllPath = `/api/queues/${CREATE_QUEUE}/retry/failed`;
  return Router()
    .put(retryAllPath, retryAll(jobs))
    .use(dashboard.getRouter() as RequestHandler);
}

/** Retries all failed jobs that can be read. bull-board itself would stop at one that cannot. */
function retryAll(jobs: FailedJobs): RequestHandler {
  return async (_request, response) => {
    const counts = { done: 0, 'not failed': 0, unreadable: 0 };
    for (const id of await jobs.findIds()) counts[await jobs.retry(id)] += 1;
    response.json({ retried: counts.done, skipped: counts.unreadable });
  };
}

const allow: BeforeHook = ({ method, route, request }) => {
  // Those that name no status are of a single job, which must have failed too.
  const { queueStatus = 'failed' } = request.params as { queueStatus?: string };
  if (method === 'get' || (CHANGES.includes(route) && queueStatus === 'failed')) return { allow: true };
  return { allow: false, status: 403, message: 'This page retries and discards failed jobs, and nothing else' };
};
