import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { newMongoId } from '@app/database';
import { CREATE_JOB_OPTIONS } from '@app/queue';
import { findChromium } from '../support/browser.js';
import { describeIfInstalled } from '../support/programs.js';
import { eventually } from '../support/eventually.js';
import { createJob, openQueue, type OpenQueue } from '../support/queue.js';
import { startService, type Service } from '../support/service.js';

const TOKEN = 'the token of this test for operators';
/** Refused by a rule of the database until a test lifts it. */
const REFUSED = 'Refused';

const executablePath = findChromium();
const describeInBrowser = describeIfInstalled('Chromium', executablePath);

describeInBrowser('the queue dashboard (skipped unless Chromium is installed: apt-get install chromium)', () => {
  let service: Service;
  let jobs: OpenQueue;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const args = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', '--no-sandbox'];
    [service, browser] = await Promise.all([
      startService({ env: { ADMIN_TOKEN: TOKEN } }),
      chromium.launch({ args, ...(executablePath === undefined ? {} : { executablePath }) }),
    ]);
    jobs = openQueue(service.env);
    const context = await browser.newContext({ httpCredentials: { username: 'operator', password: TOKEN } });
    page = await context.newPage();
  });
  beforeEach(() => refuse({ name: { $ne: REFUSED } }));
  afterEach(async () => {
    await jobs.queue.obliterate({ force: true });
    await service.database.models.items.deleteMany({ name: REFUSED });
  });
  afterAll(async () => {
    await browser.close();
    await jobs.close();
    await service.stop();
  });

  const refuse = (validator: object): Promise<unknown> =>
    Promise.resolve(service.database.connection.db?.command({ collMod: 'items', validator }));
  const addFailing = async (job: { id: string }): Promise<string> => {
    await jobs.queue.add('create', job, { ...CREATE_JOB_OPTIONS, attempts: 1, jobId: job.id });
    await eventually(async () => {
      expect(await jobs.queue.getJobState(job.id)).toBe('failed');
    });
    return job.id;
  };
  /** Adds a job whose item the database refuses, and returns its id. */
  const addRefused = (): Promise<string> => {
    const job = createJob();
    job.item.name = REFUSED;
    return addFailing(job);
  };
  /** Adds a job whose data is not JSON, and returns its id. */
  const addUnreadable = async (): Promise<string> => {
    const id = await addFailing({ id: newMongoId() });
    await jobs.redis.hset(jobs.queue.toKey(id), 'data', '{');
    return id;
  };
  const openFailed = async (...ids: string[]): Promise<void> => {
    await page.goto(`${service.adminUrl}/queues/queue/item-create?status=failed`);
    for (const id of ids) await page.getByText(id).waitFor();
  };
  /** Returns the buttons of a job in the list, which have icons only. */
  const buttonsOf = (id: string): Locator =>
    page.getByText(id).locator('xpath=ancestor::*[.//button[normalize-space()="Error"]][1]').locator('button');
  const confirm = (): Promise<void> => page.getByRole('button', { name: 'Confirm' }).click();
  const stored = (id: string): Promise<number> => service.database.models.items.countDocuments({ _id: id });

  it('the queue dashboard lists failed jobs, one that cannot be read among them, and opens one with its error and its item', async () => {
    const [refused, unreadable] = [await addRefused(), await addUnreadable()];
    await openFailed(refused, unreadable);
    await page.getByText('The job cannot be read').first().waitFor();
    await page.getByText(refused).click();
    await page.waitForURL(`**/queues/queue/item-create/${refused}*`);
    const body = page.locator('body');
    await page.getByText('Document failed validation').first().waitFor();
    await page.locator('button', { hasText: 'Data' }).click();
    await eventually(async () => {
      expect(await body.innerText()).toContain(`"${REFUSED}"`);
    });
  });

  it('the queue dashboard retries a job, which stores its item once', async () => {
    const id = await addRefused();
    await openFailed(id);
    await refuse({});
    await buttonsOf(id).first().click();
    await confirm();
    await eventually(async () => {
      expect(await stored(id)).toBe(1);
    });
    expect(await jobs.queue.getFailedCount()).toBe(0);
  });

  it('the queue dashboard discards a job, and no other', async () => {
    const [kept, discarded] = [await addRefused(), await addRefused()];
    await openFailed(kept, discarded);
    await buttonsOf(discarded).nth(3).click();
    await confirm();
    await eventually(async () => {
      expect(await jobs.queue.getJobState(discarded)).toBe('unknown');
    });
    expect(await jobs.queue.getJobState(kept)).toBe('failed');
  });

  it('the queue dashboard does not discard a job that was retried in the meantime', async () => {
    const id = await addRefused();
    await openFailed(id);
    // The list is updated every few seconds, but not the dialog.
    await buttonsOf(id).nth(3).click();
    await page.getByRole('button', { name: 'Confirm' }).waitFor();
    await jobs.queue.pause();
    await jobs.queue.getJob(id).then((job) => job?.retry());
    const response = page.waitForResponse((each) => each.url().endsWith('/clean'));
    await confirm();
    expect((await response).status()).toBe(500);
    await page.getByText('it is not failed').first().waitFor();
    expect(await jobs.queue.getJobState(id)).toBe('waiting');
    await jobs.queue.resume();
  });

  it('the queue dashboard retries all failed jobs except for those that cannot be read', async () => {
    const [first, unreadable, last] = [await addRefused(), await addUnreadable(), await addRefused()];
    await openFailed(first, unreadable, last);
    await refuse({});
    const retryAll = async (): Promise<unknown> => {
      const response = page.waitForResponse((each) => each.url().endsWith('/retry/failed'));
      await page.getByRole('button', { name: 'Retry all' }).click();
      await confirm();
      return (await response).json();
    };
    expect(await retryAll()).toEqual({ retried: 2, skipped: 1 });
    await eventually(async () => {
      expect(await Promise.all([first, last].map(stored))).toEqual([1, 1]);
    });
    expect(await jobs.queue.getJobState(unreadable)).toBe('failed');
    const response = page.waitForResponse((each) => each.url().endsWith(`/${unreadable}/retry`));
    await buttonsOf(unreadable).first().click();
    await confirm();
    expect((await response).status()).toBe(500);
    await page.getByText('it is unreadable').first().waitFor();
  });

  it('the queue dashboard retries and discards all failed jobs', async () => {
    const ids = [await addRefused(), await addRefused()];
    await openFailed(...ids);
    await refuse({});
    await page.getByRole('button', { name: 'Retry all' }).click();
    await confirm();
    await eventually(async () => {
      expect(await Promise.all(ids.map(stored))).toEqual([1, 1]);
    });
    await openFailed(await addUnreadable(), await addUnreadable());
    await page.getByRole('button', { name: 'Clean all' }).click();
    await confirm();
    await eventually(async () => {
      expect(await jobs.queue.getFailedCount()).toBe(0);
    });
  });
});
