/** Sweep reports: titles, warnings, links and banners. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measures as dictionary, writeSweepReport } from 'folkmoot/sim';
import { temporaryFolder } from '../support/fixture.js';
import { keptSweep, type SweepOptions } from './fixture.js';

async function sweepIn(folder: string, options: SweepOptions): Promise<string> {
  keptSweep(folder, options);
  await writeSweepReport(folder);
  return readFileSync(join(folder, 'report.html'), 'utf8');
}

const factors = [{ path: 'links.loss', name: 'loss', values: [0, 0.1, 0.2] }];

test('sweep: uses titles of measures, never their raw names', async () => {
  const responses = Object.keys(dictionary).filter((name) => name.includes('_'));
  const page = await sweepIn(temporaryFolder(), { factors, responses });
  const said = [...page.matchAll(/<(h3|th|text)[^>]*>([^<]*)</g)].map(([, , text]) => text!);
  expect(said.filter((text) => responses.some((name) => text.includes(name)))).toEqual([]);
  expect(said).toContain('Median time to finality, by loss');
});

test('sweep: warns of fewer than five runs per cell', async () => {
  const folder = temporaryFolder();
  expect(await sweepIn(folder, { factors })).not.toContain('runs per cell.');
  const path = join(folder, 'sweep.json');
  const head = JSON.parse(readFileSync(path, 'utf8'));
  const said = async (replicates: number) => {
    head.scenario.sweep.replicates = replicates;
    writeFileSync(path, JSON.stringify(head));
    await writeSweepReport(folder);
    return readFileSync(join(folder, 'report.html'), 'utf8').replace(/\s+/g, ' ');
  };
  expect(await said(4)).toContain('4 runs per cell.');
  expect(await said(1)).toContain('1 run per cell.');
  expect(await said(1)).toContain('there are no intervals');
});

test('sweep: links no raw file, and its commands name its scenario', async () => {
  const page = await sweepIn(temporaryFolder(), { factors });
  for (const part of ['<a href', 'SCENARIO']) expect(page).not.toContain(part);
  expect(page).toContain('npx folkmoot sweep scenario.json --seed');
});

test('sweep: shows a green banner only if every run ended as expected', async () => {
  const banner = async (verdict: string) => {
    const options = { factors, verdict: (run: number) => (run === 3 ? verdict : 'pass') };
    return /<div class="verdict([^"]*)">/.exec(await sweepIn(temporaryFolder(), options))?.[1];
  };
  expect([await banner('pass'), await banner('no_progress')]).toEqual(['', ' mixed']);
  expect(await banner('safety')).toBe(' bad');
});

test('sweep: shortens an error text of ten megabytes', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'runs'));
  const error = { kind: 'crash', message: `<b>\u202E${'x'.repeat(10_000_000)}` };
  writeFileSync(join(folder, 'runs/3.json'), JSON.stringify({ error }));
  const page = await sweepIn(folder, { factors, verdict: (run) => (run === 3 ? 'error' : 'pass') });
  expect(page.length).toBeLessThan(300_000);
  expect(page).toContain('&lt;b&gt;[U+202E]xxx');
});
