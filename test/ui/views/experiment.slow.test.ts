/** The Experiment view: a changed parameter, a paired run, a figure; a page without the token. */
import { readFileSync } from 'node:fs';
import { pageOf } from '../../cli/watch/page.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { begin } from '../../support/running-command.js';
import { accessFaults, modes, open, overflow } from '../browser.js';

useBrowser();

const size = ['healthy-town', '--blocks', '2', '--set', 'agents.town.count=20'];

browserTest('experiment: changes a value, runs, compares and saves the figure', async () => {
  const begun = begin(['sim', ...size, '--watch=paused', '--json']);
  const { url, token } = await pageOf(begun);
  const { tab, complaints } = await open(`${url}/ui/experiment#token=${token}`, modes.light);
  const run = tab.getByRole('button', { name: 'Run', exact: true });
  await tab.getByLabel('length blocks', { exact: true }).fill('3');
  expect(await tab.locator('.field.changed').count()).toBe(1);
  // A number is incomplete while it is typed.
  const loss = tab.getByLabel('links loss', { exact: true });
  await loss.fill('');
  await loss.pressSequentially('0.25');
  expect(await loss.inputValue()).toBe('0.25');
  await loss.fill('20');
  const slider = tab.getByLabel('links.loss, slider');
  const invalid = await loss.evaluate((input) => input.matches(':invalid'));
  expect([invalid, await slider.getAttribute('max')]).toEqual([true, '1']);
  await loss.fill('0');
  expect(await tab.locator('.field.changed').count()).toBe(1);
  await run.click();
  await tab.getByRole('table').waitFor();
  await run.waitFor();
  const name = tab.getByRole('button', { name: 'Blocks proposed', exact: true });
  const proposed = tab.getByRole('row').filter({ has: name });
  await tab.getByRole('button', { name: /^Show all/ }).click();
  expect(await proposed.innerText()).toMatch(/\+/);
  await name.click();
  const [saved] = await Promise.all([
    tab.waitForEvent('download'),
    tab.getByRole('button', { name: 'Save SVG' }).click(),
  ]);
  expect(readFileSync(await saved.path(), 'utf8')).toMatch(/^<svg .*Blocks proposed/s);
  expect([await accessFaults(tab), complaints]).toEqual([[], []]);
  await tab.setViewportSize({ width: 390, height: 844 });
  expect(await overflow(tab)).toBeLessThanOrEqual(0);

  // Without the token, the panel only reads.
  const stranger = await open(`${url}/ui/experiment`, modes['narrow and dark']);
  await stranger.tab.getByText('#token=').first().waitFor();
  const off = await stranger.tab.getByRole('button', { name: 'Run', exact: true }).isDisabled();
  expect([off, await accessFaults(stranger.tab)]).toEqual([true, []]);
});
