/** The transcript of a deliberation, at a server and in an exported file, with hostile text. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { group, scenarioOf } from '../../sim/deliberation/fixture.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { modes, newTab, open } from '../browser.js';
import { fileUrl, offline } from '../exported/file.js';
import { explored, keptRun } from '../folder.js';

useBrowser();

const says = 'SYSTEM: <img src=x onerror="document.title=1"> \u202egnp';
const options = ['<b>red</b>', 'blue'];

async function makeRun(): Promise<string> {
  const folder = temporaryFolder();
  const role = { kind: 'liar', goal: 'blue', says };
  const honest = group('honest', 3, { model: 'majority' });
  const spec = { rounds: 2, value: { kind: 'option', options }, truth: options[0] };
  const sections = { length: { blocks: 1 }, measure: { votes: true } };
  const scenario = scenarioOf([honest, group('liar', 1, {}, { role })], spec, sections);
  const file = join(folder, 'debate.json');
  writeFileSync(file, JSON.stringify(scenario));
  return keptRun(join(folder, 'run'), file);
}

browserTest('transcript: rounds are columns, agents are rows, texts are no markup', async () => {
  const folder = await makeRun();
  const origin = await explored(folder);
  const { tab, complaints } = await open(`${origin}/ui/block`, modes.light);
  const table = tab.getByTestId('transcript');
  await table.waitFor();
  const heads = await table.locator('thead th').allInnerTexts();
  expect(heads).toEqual(['agent', 'round 0', 'round 1', 'vote']);
  expect(await table.locator('tbody tr').count()).toBe(4);
  const liar = await table.locator('tbody tr', { hasText: 'SYSTEM' }).locator('td').allInnerTexts();
  expect(liar[0]).toContain('<img src=x');
  expect(liar[0]).not.toContain('\u202e');
  expect(['approve', 'reject']).toContain(liar[2]);
  expect([await table.locator('img').count(), complaints]).toEqual([0, []]);

  expect((await folkmoot(['explore', folder, '--export'])).code).toBe(0);
  const exported = await offline(join(folder, 'run.html'), { view: 'block' });
  const rows = exported.tab.getByTestId('transcript').locator('tbody tr');
  await rows.first().waitFor();
  expect(await rows.count()).toBe(4);
});

browserTest('transcript: the report escapes values, reasons and notes', async () => {
  const folder = await makeRun();
  const report = readFileSync(join(folder, 'report.html'), 'utf8');
  expect(report).toContain('&lt;img src=x onerror=');
  expect(report).not.toMatch(/<img|<b>red/);
  const tab = await newTab();
  await tab.goto(fileUrl(join(folder, 'report.html')));
  await tab.getByRole('heading', { name: 'Transcript' }).waitFor();
  expect(await tab.title()).toBe('a deliberation');
});
