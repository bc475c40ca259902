/** The widget of the Python package shows an exported page in a frame that cannot read its host. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { executablePath, hasBrowser, launch } from '../support/browser.js';
import { folkmoot } from '../support/cli.js';
import { root } from '../support/paths.js';
import { suiteFolder } from '../support/runs.js';

const folder = suiteFolder();
const needs = `(needs ${executablePath})`;
const widget = readFileSync(join(root, 'python/src/folkmoot/widget.js'), 'utf8');

interface Widget {
  render(given: { model: object; el: HTMLElement }): () => void;
}

/** Renders the widget with a model as anywidget does. Returns the page that contains it. */
async function rendered(html: string) {
  const browser = await launch();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto('about:blank');
  const content = widget.replace('export default', 'globalThis.widget =');
  await page.addScriptTag({ type: 'module', content });
  await page.waitForFunction('globalThis.widget !== undefined');
  await page.evaluate(
    ([text]) => {
      const values: Record<string, unknown> = { html: text, height: 700 };
      const model = { get: (name: string) => values[name], on() {}, off() {} };
      const { widget: module } = globalThis as unknown as { widget: Widget };
      Object.assign(globalThis, { leave: module.render({ model, el: document.body }) });
    },
    [html],
  );
  return page;
}

test.skipIf(!hasBrowser)(`widget: shows the page of a run ${needs}`, async () => {
  const run = join(folder, 'run');
  expect((await folkmoot(['sim', '--agents', '12', '--blocks', '2', '--out', run])).code).toBe(0);
  expect((await folkmoot(['explore', run, '--export'])).code).toBe(0);
  const page = await rendered(readFileSync(join(run, 'run.html'), 'utf8'));
  const frame = page.frameLocator('iframe');
  await frame.getByRole('main').waitFor();
  await expect.poll(() => frame.getByRole('main').innerText()).toMatch(/finalized/i);
  expect(await page.locator('iframe').evaluate((one) => one.clientHeight)).toBe(700);
  await page.evaluate(() => (globalThis as unknown as { leave(): void }).leave());
  expect(await page.locator('iframe').count()).toBe(0);
});

test.skipIf(!hasBrowser)(`widget: a hostile page cannot read its host ${needs}`, async () => {
  const attack = `<p></p><script>
    try { document.querySelector('p').textContent = parent.document.title }
    catch (error) { document.querySelector('p').textContent = error.name }</script>`;
  const page = await rendered(attack);
  const text = page.frameLocator('iframe').locator('p');
  await expect.poll(() => text.innerText()).toBe('SecurityError');
});
