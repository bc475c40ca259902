/// <reference lib="dom" />
/** The reference pages in a browser show the operations and load only from the server. */
import { startServer } from 'folkmoot/api';
import { expect, onTestFinished, test } from 'vitest';
import { commandRoutes } from '../../../dist/api/contract/commands.js';
import { routes } from '../../../dist/api/contract/routes.js';
import { serverRoutes } from '../../../dist/api/contract/server.js';
import { asyncapiDocument } from '../../../dist/api/documents/documents.js';
import { executablePath, hasBrowser, launch } from '../../support/browser.js';
import { testNetwork } from '../../support/fixture.js';
import { accessFaults, modes, open } from '../../ui/browser.js';

const missing = hasBrowser ? '' : ` (skipped: no ${executablePath})`;

test.skipIf(missing).each(['light', 'dark'] as const)(
  `docs: shows the interface in %s${missing}`,
  async (colorScheme) => {
    const { network } = await testNetwork();
    const server = await startServer({ network, version: '0', limits: 'off' });
    onTestFinished(() => server.close());
    const browser = await launch();
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
    // Shadow roots are open, so text selectors search them.
    await page.locator('rapi-doc').getByText(commandRoutes.vote.summary).first().waitFor();
    await page.locator('rapi-doc').getByText(serverRoutes.debug_verify.summary).first().waitFor();
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

test.skipIf(missing)(
  `docs: reaches every operation from the contents on a phone${missing}`,
  async () => {
    const { network } = await testNetwork();
    const server = await startServer({ network, version: '0', limits: 'off' });
    onTestFinished(() => server.close());
    const browser = await launch();
    onTestFinished(() => browser.close());
    const { tab } = await open(browser, `${server.url}/docs`, modes.narrow);
    await tab.getByText('Contents', { exact: true }).click();
    const list = tab.getByRole('navigation', { name: 'Contents' });
    const places = await list
      .getByRole('link')
      .evaluateAll((links) =>
        links.map((link) => decodeURI((link as HTMLAnchorElement).hash.slice(1))),
      );
    expect(places.length).toBe(routes.length);
    const shown = await tab
      .locator('rapi-doc')
      .evaluate(
        (viewer, ids) => ids.filter((id) => viewer.shadowRoot!.getElementById(id) === null),
        places,
      );
    expect(shown).toEqual([]);
    await list.getByText(commandRoutes.vote.summary).click();
    await expect.poll(() => list.isVisible()).toBe(false);
    await expect
      .poll(() => tab.getByRole('heading', { name: commandRoutes.vote.summary }).isVisible())
      .toBe(true);
  },
);

test.skipIf(missing)(
  `docs: shows the whole AsyncAPI document on the WebSocket page${missing}`,
  async () => {
    const { network } = await testNetwork();
    const server = await startServer({ network, version: '0', limits: 'off' });
    onTestFinished(() => server.close());
    const browser = await launch();
    onTestFinished(() => browser.close());
    const { components } = asyncapiDocument() as { components: { messages: object } };
    for (const mode of Object.values(modes)) {
      const { tab, complaints } = await open(browser, `${server.url}/docs/socket`, mode);
      for (const name of Object.keys(components.messages)) {
        expect(await tab.locator(`h3#${name}`).count(), name).toBe(1);
      }
      expect(await tab.locator('table td').filter({ hasText: '[object' }).count()).toBe(0);
      const wide = await tab.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([wide, complaints, await accessFaults(tab)]).toEqual([0, [], []]);
      await tab.close();
    }
  },
);
