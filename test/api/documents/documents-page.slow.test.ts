/** The reference page in a browser: it shows the operations and asks nobody else for anything. */
import { existsSync } from 'node:fs';
import { startServer } from 'folkmoot/api';
import { chromium } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { testNetwork } from '../../support/fixture.js';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const missing = existsSync(executablePath) ? '' : ` (skipped: no ${executablePath})`;

test.skipIf(missing).each(['light', 'dark'] as const)(
  `docs: the page shows the interface in %s${missing}`,
  async (colorScheme) => {
    const { network } = await testNetwork();
    const server = await startServer({ network, version: '0', limits: 'off' });
    onTestFinished(() => server.close());
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } });
    const wrong: string[] = [];
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('requestfailed', (request) => wrong.push(`failed: ${request.url()}`));
    page.on('response', (response) => {
      if (response.status() >= 400) wrong.push(`${response.status()}: ${response.url()}`);
    });
    page.on('pageerror', (error) => wrong.push(`thrown: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') wrong.push(`console: ${message.text()}`);
    });
    await page.goto(`${server.url}/docs`);
    // Shadow roots are open: text selectors look into them.
    await page.getByText('Vote on a block proposal').first().waitFor();
    await page.getByText('What the server would have verified').first().waitFor();
    await page.waitForLoadState('networkidle');

    expect(wrong).toEqual([]);
    const elsewhere = asked.filter((url) => !url.startsWith(server.url) && !/^data:/.test(url));
    expect(elsewhere).toEqual([]);
    expect(asked).toContain(`${server.url}/openapi.json`);
    const theme = await page.locator('rapi-doc').getAttribute('theme');
    expect(theme).toBe(colorScheme);
    const folder = process.env.FOLKMOOT_SCREENSHOTS;
    if (folder) await page.screenshot({ path: `${folder}/docs-${colorScheme}.png` });
  },
);
