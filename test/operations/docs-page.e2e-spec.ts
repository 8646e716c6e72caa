import { chromium, type Browser, type Page } from 'playwright-core';
import type { Item } from '@app/contracts';
import { createApiKey } from '../support/api-keys.js';
import { findChromium } from '../support/browser.js';
import { describeIfInstalled } from '../support/programs.js';
import { startService, type Service } from '../support/service.js';

/** Not localhost, because Swagger UI never calls its online validator for a document on localhost. */
const HOST = 'items.test';
const CREATE = '#operations-items-create';

const executablePath = findChromium();
const describeInBrowser = describeIfInstalled('Chromium', executablePath);

describeInBrowser('the docs page (skipped unless Chromium is installed: apt-get install chromium)', () => {
  let service: Service;
  let browser: Browser;
  let page: Page;
  const requests: string[] = [];
  const consoleMessages: string[] = [];

  beforeAll(async () => {
    const args = [
      `--host-resolver-rules=MAP ${HOST} 127.0.0.1, MAP localhost 127.0.0.1, MAP * ~NOTFOUND`,
      '--no-sandbox',
    ];
    [service, browser] = await Promise.all([
      startService(),
      chromium.launch({ args, ...(executablePath === undefined ? {} : { executablePath }) }),
    ]);
    page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => consoleMessages.push(`${message.type()} ${message.text()}`));
    page.on('pageerror', (error) => consoleMessages.push(error.message));
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  it('the docs page shows the operations, and creates an item with "Try it out"', async () => {
    const origin = service.api.base.replace('127.0.0.1', HOST);
    await page.goto(`${origin}/docs`);
    await page.locator(CREATE).click();
    expect(await page.locator('.opblock-summary-path').allInnerTexts()).toEqual(
      ['getAll', 'getById', 'create'].map((operation) => expect.stringContaining(operation) as string),
    );
    await page.locator(`${CREATE} .try-out__btn`).click();
    const item = await execute(page);
    expect(item.name).toBe('Crème brûlée dishes');
    expect((await service.api.call<Item>('getById', { id: item.id })).body).toEqual(item);
    await page.locator(`${CREATE} .btn-clear`).click();
    expect((await execute(page)).id).not.toBe(item.id);

    expect(requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))).toEqual([]);
    expect(requests).toContain(`${origin}/openapi.json`);
    expect(consoleMessages).toEqual([]);
  });

  it('the docs page shows the operations on the port for operators, where it cannot send requests', async () => {
    const other = await startService({ env: { DOCS: 'admin' } });
    try {
      const seen = consoleMessages.length;
      await page.goto(`${other.adminUrl.replace('127.0.0.1', 'localhost')}/docs`);
      await page.locator(CREATE).click();
      await page.locator(`${CREATE} .parameters-container, ${CREATE} .opblock-section-request-body`).first().waitFor();
      expect(await page.locator('.opblock').count()).toBe(3);
      expect(await page.locator('.try-out__btn').count()).toBe(0);
      expect(consoleMessages.slice(seen)).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it('the docs page sends the credential of "Authorize" with its requests', async () => {
    const secured = await startService({ env: { AUTH_API_KEYS: 'on' } });
    try {
      const key = await createApiKey(secured.database, 'acme');
      await page.goto(`${secured.api.base.replace('127.0.0.1', HOST)}/docs`);
      await page.locator('.btn.authorize').click();
      await page.locator('.auth-container input').fill(key);
      await page.locator('.auth-btn-wrapper .authorize').click();
      await page.locator('.auth-btn-wrapper .btn-done').click();
      await page.locator(CREATE).click();
      await page.locator(`${CREATE} .try-out__btn`).click();
      expect((await execute(page)).sellerId).toBe('key:acme');
    } finally {
      await secured.stop();
    }
  });
});

/** Executes the example of create unchanged, and returns the item that the page shows. */
async function execute(page: Page): Promise<Item> {
  await page.locator(`${CREATE} .execute`).click();
  const response = page.locator(`${CREATE} .live-responses-table .response`);
  expect(await response.locator('.response-col_status').innerText()).toContain('200');
  return JSON.parse(await response.locator('.highlight-code code').first().innerText()) as Item;
}
