import { setTimeout as delay } from 'node:timers/promises';
import { Worker, type Job, type JobJson, type WorkerOptions } from 'bullmq';

/**
 * What became of each job, in the order of the jobs: undefined when it is done, or the error that kept it from being
 * done. BullMQ's `WaitingError` and `DelayedError` say that the job has been put back.
 */
export type BatchOutcomes = readonly (Error | undefined)[];

/** After an error that BullMQ has not waited for by itself. */
const PAUSE_AFTER_ERROR_MS = 300;

/**
 * A worker of BullMQ that takes all jobs that wait, up to its concurrency, works on them together, and ends them
 * together, each end taking a next job along. BullMQ's own loop takes jobs one by one: what comes in at once is then
 * begun with a single job, and costs two scripts a job instead of one.
 */
export class BatchWorker extends Worker {
  private taken = 0;

  /** @param countWaiting asks Redis how many jobs could be taken */
  constructor(
    queue: string,
    private readonly work: (jobs: readonly Job[]) => Promise<BatchOutcomes>,
    private readonly countWaiting: () => Promise<number>,
    options: WorkerOptions,
  ) {
    super(queue, null, { ...options, autorun: false });
  }

  /** Takes jobs until the worker is paused or closed; errors come as `error` events. */
  override async run(): Promise<void> {
    if (this.running) throw new Error('Worker is already running.');
    this.running = true;
    await this.startStalledCheckTimer();
    this.lockManager.start();
    this.mainLoopRunning = this.takeOnAndOn();
    await this.mainLoopRunning;
  }

  override async resume(): Promise<void> {
    await super.resume();
    // BullMQ starts only workers again that it gave a processor to.
    if (!this.running && !this.isPaused() && this.closing === undefined) void this.run();
  }

  /**
   * Data that is not JSON becomes a job whose data is that text, for the processor to refuse. BullMQ would throw before
   * there is a job, which would then be taken and lost again and again.
   */
  protected override createJob(json: JobJson, jobId: string): Job {
    return super.createJob(isJson(json.data) ? json : { ...json, data: JSON.stringify(json.data) }, jobId);
  }

  private async takeOnAndOn(): Promise<void> {
    let next: Job[] = [];
    while ((this.closing === undefined && !this.isPaused()) || next.length > 0) {
      const jobs = await this.fill(next);
      next = jobs.length > 0 ? await this.workOn(jobs) : [];
    }
    // Not later: whoever resumes this worker has to know.
    this.running = false;
  }

  /** The jobs at hand and those that wait; with none at hand, waits for one to come. */
  private async fill(atHand: Job[]): Promise<Job[]> {
    const jobs = atHand.length > 0 ? atHand : await this.take(1, { block: true });
    if (jobs.length === 0 || jobs.length >= this.concurrency) return jobs;
    const waiting = await this.countWaiting().catch(() => 0);
    return [...jobs, ...(await this.take(Math.min(waiting, this.concurrency - jobs.length), { block: false }))];
  }

  private async take(count: number, options: { block: boolean }): Promise<Job[]> {
    const fetched = Array.from({ length: count }, () => this.getNextJob(`${this.id}:${String(this.taken++)}`, options));
    const outcomes = await Promise.allSettled(fetched);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    if (refused !== undefined) await this.report(refused.reason);
    const jobs = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
    return jobs.filter((job: Job | undefined) => job !== undefined);
  }

  /** Answers the jobs that were taken along. */
  private async workOn(jobs: readonly Job[]): Promise<Job[]> {
    for (const { id = '', token = '', processedOn = 0 } of jobs) this.lockManager.trackJob(id, token, processedOn);
    const outcomes = await this.work(jobs).catch((error: unknown) => jobs.map(() => error as Error));
    const ends = jobs.map((job, index) =>
      this.end(job, outcomes[index]).finally(() => {
        this.lockManager.untrackJob(job.id ?? '');
      }),
    );
    return (await Promise.all(ends)).filter((job) => job !== undefined);
  }

  /** Tries until BullMQ has said what it makes of it: a job whose end is lost would be done once more. */
  private async end(job: Job, error: Error | undefined): Promise<Job | undefined> {
    const { token = '' } = job;
    try {
      return await (error === undefined
        ? this.handleCompleted(null, job, token)
        : this.handleFailed(error, job, token));
    } catch (refusal) {
      await this.report(refusal);
      // Of BullMQ's own scripts: by now the job is another worker's.
      if (this.closing !== undefined || hasCode(refusal)) return undefined;
      return this.end(job, error);
    }
  }

  private async report(error: unknown): Promise<void> {
    if (this.closing !== undefined) return;
    this.emit('error', error as Error);
    await delay(PAUSE_AFTER_ERROR_MS);
  }
}

function hasCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
