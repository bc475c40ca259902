/// <reference lib="dom" />
/** The reference pages in a browser show the operations and load only from the server. */
import { commandRoutes } from '../../../dist/api/contract/commands.js';
import { routes } from '../../../dist/api/contract/routes.js';
import { serverRoutes } from '../../../dist/api/contract/server.js';
import { asyncapiDocument } from '../../../dist/api/documents/documents.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { world } from '../../support/service/server.js';
import { accessFaults, modes, open } from '../../ui/browser.js';

useBrowser();

browserTest.each(['light', 'dark'] as const)(
  'docs: shows the interface in %s',
  async (colorScheme) => {
    const { url } = await world();
    const { tab, complaints } = await open(`${url}/docs`, modes[colorScheme]);
    // Shadow roots are open, so text selectors search them.
    const viewer = tab.locator('rapi-doc');
    await viewer.getByText(commandRoutes.vote.summary).first().waitFor();
    await viewer.getByText(serverRoutes.debug_verify.summary).first().waitFor();
    await tab.waitForLoadState('networkidle');
    expect(complaints).toEqual([]);
    expect(await viewer.getAttribute('theme')).toBe(colorScheme);
    const folder = process.env.FOLKMOOT_SCREENSHOTS;
    if (folder) await tab.screenshot({ path: `${folder}/docs-${colorScheme}.png` });
  },
);

browserTest('docs: reaches every operation from the contents on a phone', async () => {
  const { url } = await world();
  const { tab } = await open(`${url}/docs`, modes.narrow);
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
    .evaluate((at, ids) => ids.filter((id) => at.shadowRoot!.getElementById(id) === null), places);
  expect(shown).toEqual([]);
  await list.getByText(commandRoutes.vote.summary).click();
  await expect.poll(() => list.isVisible()).toBe(false);
  await expect
    .poll(() => tab.getByRole('heading', { name: commandRoutes.vote.summary }).isVisible())
    .toBe(true);
});

browserTest('docs: shows the whole AsyncAPI document on the WebSocket page', async () => {
  const { url } = await world();
  const { components } = asyncapiDocument() as { components: { messages: object } };
  for (const mode of Object.values(modes)) {
    const { tab, complaints } = await open(`${url}/docs/socket`, mode);
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
});
