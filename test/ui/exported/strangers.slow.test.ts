/** Tests exported files with hostile text, and damaged files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browserTest, useBrowser } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { suiteFolder } from '../../support/runs.js';
import { newTab } from '../browser.js';
import { fileUrl } from './file.js';

const folder = suiteFolder();
useBrowser();

browserTest('exported: reports a damaged file', async () => {
  const run = join(folder, 'run');
  expect((await folkmoot(['sim', '--agents', '20', '--blocks', '2', '--out', run])).code).toBe(0);
  expect((await folkmoot(['explore', run, '--export'])).code).toBe(0);
  const text = readFileSync(join(run, 'run.html'), 'utf8');
  const place = text.indexOf('id="run">') + 2_000;
  for (const [name, damaged] of [
    ['short', text.slice(0, place)],
    ['cut', text.slice(0, text.indexOf('id="run"'))],
    ['other', `${text.slice(0, place)}${text[place] === 'A' ? 'B' : 'A'}${text.slice(place + 1)}`],
  ] as const) {
    const path = join(folder, `${name}.html`);
    writeFileSync(path, damaged);
    const tab = await newTab();
    await tab.goto(fileUrl(path));
    await tab.getByRole('alert').waitFor();
  }
});
