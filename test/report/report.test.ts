/** What reports say, and what they are made of: the same bytes each time, and never too many. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measures as dictionary, writeRunReport, writeSweepReport } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { START_MS } from '../support/citizens.js';
import { counts, heavy } from '../support/counts.js';
import { temporaryFolder } from '../support/fixture.js';
import { keptRun, keptSweep, type RunOptions, type SweepOptions } from './fixture.js';

const reportIn = (folder: string): string => readFileSync(join(folder, 'report.html'), 'utf8');

async function runIn(folder: string, options: RunOptions = {}) {
  const result = await keptRun(folder, { blocks: 15, ...options });
  await writeRunReport(folder);
  return { result, page: reportIn(folder) };
}

async function sweepPage(options: SweepOptions): Promise<string> {
  const folder = temporaryFolder();
  keptSweep(folder, options);
  await writeSweepReport(folder);
  return reportIn(folder);
}

/** The page as text, without markup. */
const words = (page: string): string =>
  page
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<wbr>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ');

const headings = (page: string): string[] =>
  [...page.matchAll(/<h[23]>([^<]*)<\/h[23]>/g)].map(([, text]) => text!);

test('run: question, verdict, digest, charts, measures with their meanings, commands', async () => {
  const folder = temporaryFolder();
  const { result, page } = await runIn(folder);
  const text = words(page);
  expect(text).toContain('Does a quarter of contrarians keep a town from deciding?');
  expect(text).toContain('Verdict: pass. The network decided blocks');
  expect(text).toContain(result.digest);
  expect(headings(page)).toEqual([
    'Charts',
    'Time to finality',
    'How blocks ended',
    'Reputation by group',
    'Votes by group',
    'When votes arrive',
    'Groups',
    'Measures',
    'Configuration',
    'Do it again',
  ]);
  for (const [name, meaning] of Object.entries(dictionary)) {
    // What deciders cost is shown where there are some.
    const shown = !name.startsWith('decider_');
    expect(text.includes(`${name} `), name).toBe(shown);
    if (shown) expect(text, name).toContain(meaning);
  }
  expect(text).toContain('npx folkmoot sim scenario.json --seed 1');
  expect(text).not.toContain('folkmoot replay');
});

test('run: a command checks the log where it is kept, with its signatures', async () => {
  const folder = temporaryFolder();
  await keptRun(folder, { blocks: 2 });
  writeFileSync(join(folder, 'network'), '');
  await writeRunReport(folder);
  expect(words(reportIn(folder))).toContain('npx folkmoot replay network --signatures');
  const other = temporaryFolder();
  await keptRun(other, { blocks: 2, scenario: { signatures: 'none' } });
  writeFileSync(join(other, 'network'), '');
  await writeRunReport(other);
  expect(words(reportIn(other))).toMatch(/npx folkmoot replay network (?!--)/);
});

test('run: leads into the page where the log is kept, to moments if it was exported', async () => {
  const folder = temporaryFolder();
  const interventions = [
    { what: 'silence <b>', when: 'at 1 s', at_ms: 1_000, entry: 41, did: 1 },
    { what: 'drop block 9', when: 'at 9 h', at_ms: null, entry: null, did: 0 },
  ];
  const { page } = await runIn(folder, { blocks: 2, result: { interventions } });
  expect(page).not.toContain('folkmoot explore');
  writeFileSync(join(folder, 'network'), '');
  await writeRunReport(folder);
  expect(words(reportIn(folder))).toContain('npx folkmoot explore .');
  expect(reportIn(folder)).not.toContain('run.html');
  writeFileSync(join(folder, 'run.html'), '');
  await writeRunReport(folder);
  const { entries } = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8'));
  const links = [...reportIn(folder).matchAll(/<a href="([^"]*)">([^<]*)</g)];
  expect(links.map(([, href, text]) => [href, text])).toEqual([
    [
      expect.stringMatching(/^run\.html\?view=block&amp;item=[0-9a-f]{64}$/),
      expect.stringMatching(/^the slowest, block \d+, [\d.]+ s$/),
    ],
    ['run.html?at=0', 'its beginning'],
    ['run.html?at=41', 'silence &lt;b&gt;, after entry 41'],
    [`run.html?at=${entries - 1}`, expect.stringContaining('its end, entry')],
  ]);
});

test('run: configuration shows what differs from the defaults, and then everything', async () => {
  const { page } = await runIn(temporaryFolder());
  const [differs = '', whole = ''] = page.split('The whole scenario, with all defaults');
  const shown = differs.slice(differs.indexOf('What differs'));
  expect(shown).toContain('capabilities: [validator, producer]');
  expect(shown).toContain('kind: contrarian');
  expect(shown).toContain('away_ms: 5000');
  for (const usual of ['stay_ms', 'every_ms', 'topology', 'kind: personality', 'patience']) {
    expect(shown, usual).not.toContain(usual);
    expect(whole, usual).toContain(usual);
  }
});

test('run: a broken rule is told with what the auditor found', async () => {
  const broken = {
    at: START_MS + 42,
    rule: 'one vote each',
    actor: 'agent_1',
    expected: '1',
    found: '2',
  };
  const { page } = await runIn(temporaryFolder(), { result: { verdict: 'safety', broken } });
  expect(words(page)).toContain('Verdict: safety. The network broke one of its own rules');
  expect(words(page)).toContain('2025-01-01T00:00:00.042Z');
  expect(words(page)).toContain('actor agent_1 expected 1 found 2');
});

test('run: a rule that was broken ended it, and so its means are of a shorter run', async () => {
  const result = {
    verdict: 'safety',
    ended_by: 'safety',
    censored: ['3 blocks in voting'],
  } as const;
  const { page } = await runIn(temporaryFolder(), {
    result: { ...result, censored: [...result.censored] },
  });
  expect(words(page)).toContain('Ended by safety : a rule was broken.');
  expect(words(page)).toContain('What the end cut short: 3 blocks in voting');
  expect(words(page)).toContain('The run was cut (safety)');
});

test('run: what scripts measured, of the run and of each group', async () => {
  const reported = { run: { mood: 3 }, groups: { town: { mood: null, '<b>': 0.25 } } };
  const { page } = await runIn(temporaryFolder(), { result: { reported } });
  expect(headings(page)).toContain('Reported');
  expect(words(page)).toContain('the run mood 3 town mood –');
  expect(page).not.toContain('<b>');
});

test('run: no progress is what a scenario may expect', async () => {
  const { page } = await runIn(temporaryFolder(), {
    scenario: { expect: 'no_progress' },
    result: { verdict: 'no_progress' },
  });
  expect(words(page)).toContain('This is what the scenario expects.');
  expect(page).not.toContain('verdict bad');
});

test('run: without any block, votes or question there is still a report', async () => {
  const folder = temporaryFolder();
  const { page } = await runIn(folder, {
    blocks: 0,
    scenario: { question: '', measure: { every_ms: 5_000, votes: false, decisions: false } },
  });
  expect(headings(page)).toContain('Reputation by group');
  expect(headings(page)).not.toContain('Time to finality');
  expect(headings(page)).not.toContain('When votes arrive');
});

test('bytes: the same folder gives the same report, also from another path', async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  const { page } = await runIn(folder);
  await writeRunReport(folder);
  expect(reportIn(folder)).toBe(page);
  expect((await runIn(other)).page).toBe(page);
  const options = { factors: [{ path: 'links.loss', values: [0, 1, 2] }] };
  expect(await sweepPage(options)).toBe(await sweepPage(options));
});

test('size: a long run of many groups stays small, and says what is left out', heavy, async () => {
  const folder = temporaryFolder();
  const groups = Array.from({ length: 15 }, (_, index) => `group_${index}`);
  await keptRun(folder, { blocks: 4, groups });
  const [header, first] = readFileSync(join(folder, 'blocks.csv'), 'utf8').split('\n');
  const cells = first!.split(',');
  const blocks = Array.from({ length: 20_000 }, (_, index) => {
    const row = [...cells];
    row.splice(-3, 3, String(index * 10), String(index * 10 + 5), String((index * 37) % 900));
    return row.join(',');
  });
  writeFileSync(join(folder, 'blocks.csv'), `${[header, ...blocks].join('\n')}\n`);
  const measured = ['finalized', 'rejected', 'expired', 'orphaned'].map((name) => [name, '']);
  const curves = [...measured, ...groups.map((group) => ['reputation_mean', group])];
  const rows = Array.from({ length: 5_000 }, (_, index) =>
    curves.map(([name, group]) => `${index * 100},${name},${group},${index % 60}`),
  ).flat();
  writeFileSync(join(folder, 'series.csv'), `t_ms,measure,group,value\n${rows.join('\n')}\n`);
  await writeRunReport(folder);
  expect(statSync(join(folder, 'report.html')).size).toBeLessThan(1_000_000);
  const text = words(reportIn(folder));
  expect(text).toContain('Drawn are 1500 of 20000 blocks, evenly spaced.');
  expect(text).toContain('Drawn are 400 of 5000 instants, evenly spaced.');
  expect(text).toContain('other groups');
});

test('size: a hypercube of many factors and responses stays small', heavy, async () => {
  const { factors: many, responses: asked } = counts.largeHypercube;
  const factors = Array.from({ length: many }, (_, index) => ({ path: `f${index}`, values: [] }));
  const cells = Array.from({ length: 500 }, (_, row) =>
    factors.map((_, column) => ((row * (column + 3)) % 500) / 500),
  );
  const responses = Object.keys(dictionary).slice(0, asked);
  const page = await sweepPage({ design: 'lhs', factors, cells, responses });
  const charts = many * asked;
  expect(page.length).toBeLessThan(2_000_000);
  expect([...page.matchAll(/<figure>/g)]).toHaveLength(charts);
  const dots = Math.min(500, Math.floor(4_800 / charts));
  if (dots < 500) expect(words(page)).toContain(`Drawn are ${dots} of 500 cells, evenly spaced.`);
  expect(words(page)).toContain('200 more cells are in summary.csv');
});

test('run: a few slow blocks and late votes do not hide all others', async () => {
  const folder = temporaryFolder();
  await keptRun(folder, { blocks: 40 });
  const replaced = (name: string, change: (cells: string[]) => void) => {
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    const cells = lines.at(-1)!.split(',');
    change(cells);
    writeFileSync(join(folder, name), `${[...lines.slice(0, -1), cells.join(',')].join('\n')}\n`);
  };
  replaced('blocks.csv', (cells) => void cells.splice(-2, 1, '29000'));
  replaced('votes.csv', (cells) => void cells.splice(6, 1, '29000'));
  await writeRunReport(folder);
  const text = words(reportIn(folder));
  expect(text).toMatch(/Triangles at the top: 1 that took longer than [\d.]+ s, up to 29 s\./);
  expect(text).toContain('the last one came after 29 s. 1 that came later than the last bar');
});

test('sweep: design, curves, fields with numbers, cells with intervals, failed runs', async () => {
  const folder = temporaryFolder();
  keptSweep(folder, {
    factors: [
      { path: 'links.loss', name: 'loss', values: [0, 0.2, 0.1] },
      { path: 'consensus.policy', values: ['bft', 'majority'] },
    ],
    verdict: (run) => ({ 3: 'safety', 4: 'error', 7: 'no_progress' })[run] ?? 'pass',
    measure: ([loss, policy]) => (policy === 'bft' ? 1 : 0.5) - Number(loss),
  });
  await writeSweepReport(folder);
  const page = reportIn(folder);
  const text = words(page);
  expect(text).toContain('30 of 30 planned runs finished , in 6 cells: 27 pass, 1 safety, 1 error');
  expect(text).toContain('loss links.loss 3 0, 0.1, 0.2');
  expect(headings(page).slice(1, 6)).toEqual([
    'Cells with runs that did not pass',
    'Responses',
    'Share of blocks finalized by loss',
    'Share of blocks finalized by loss and consensus.policy',
    'Cells',
  ]);
  expect(text).toContain('mean of the runs of a cell, with its 95 % interval, a line for each');
  expect(text).toMatch(/Lowest: 0\.\d+ \(loss 0\.2, consensus\.policy majority\)/);
  expect(text).toMatch(/1 0 bft (?:0\.9|1\.0)\d* \[[\d.]+, [\d.]+\]/);
  expect(text).toContain("'links.loss=0'".replaceAll("'", ''));
  expect(headings(page)).toContain('Failed runs');
  expect(text).toContain('3 1 safety –');
  expect(text).toContain('npx folkmoot sim scenario.json --seed 1/3 --set links.loss=0');
  // Of each cell, the command that shows one of its runs.
  const watched = [...page.matchAll(/--seed 1\/1 (--set \S+ --set \S+) --watch=paused/g)];
  expect(new Set(watched.map(([, levels]) => levels)).size).toBe(6);
});

test('sweep: one that was not finished says how many runs are missing', async () => {
  const folder = temporaryFolder();
  keptSweep(folder, { factors: [{ path: 'links.loss', values: [0, 1] }] });
  const head = JSON.parse(readFileSync(join(folder, 'sweep.json'), 'utf8'));
  writeFileSync(join(folder, 'sweep.json'), JSON.stringify({ ...head, runs: 25 }));
  await writeSweepReport(folder);
  expect(words(reportIn(folder))).toContain('15 runs are missing');
});

test('errors: a folder without a finished run or sweep, and a torn table, are told', async () => {
  const folder = temporaryFolder();
  const unreadable = {
    code: 'UNREADABLE',
    problem: 'RESULT_UNREADABLE',
  };
  await expect(writeRunReport(folder)).rejects.toMatchObject(unreadable);
  await expect(writeSweepReport(folder)).rejects.toMatchObject(unreadable);
  await keptRun(folder, { blocks: 2 });
  writeFileSync(join(folder, 'blocks.csv'), 'a,b\n1\n');
  await expect(writeRunReport(folder)).rejects.toMatchObject({ code: 'UNREADABLE' });
  rmSync(join(folder, 'blocks.csv'));
  await expect(writeRunReport(folder)).rejects.toThrow('blocks.csv');
});
