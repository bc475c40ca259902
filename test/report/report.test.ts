/** Report contents, reproducible bytes, and bounded sizes. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { measures as dictionary, writeRunReport, writeSweepReport } from 'folkmoot/sim';
import { tableRows } from '../../dist/report/folder.js';
import { CsvFile } from '../../dist/report/tables.js';
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

/** Returns a page's text without markup. */
const words = (page: string): string =>
  page
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<wbr>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ');

const headings = (page: string): string[] =>
  [...page.matchAll(/<h[23]>([^<]*)<\/h[23]>/g)].map(([, text]) => text!);

test('run: shows question, verdict, digest, charts, measures and commands', async () => {
  const folder = temporaryFolder();
  const { result, page } = await runIn(folder);
  const text = words(page);
  expect(text).toContain('Does a quarter of contrarians keep a town from deciding?');
  for (const part of ['Verdict: pass.', result.digest]) expect(text).toContain(part);
  expect(headings(page)).toEqual([
    ...['Charts', 'Time to finality', 'Block outcomes', 'Mean reputation by group'],
    ...['Votes by group', 'Vote latency', 'Groups', 'Measures', 'Configuration', 'Reproduce'],
  ]);
  for (const [name, meaning] of Object.entries(dictionary)) {
    const shown = !name.startsWith('decider_') && !name.startsWith('slot');
    expect(text.includes(`${name} `), name).toBe(shown);
    if (shown) expect(text, name).toContain(meaning);
  }
  expect(text).toContain('npx folkmoot sim scenario.json --seed 1');
  expect(text).not.toContain('folkmoot replay');
});

test('run: gives a command that checks a saved log with its signatures', async () => {
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

test('run: links to the UI if the log is saved, and to exported moments', async () => {
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
      expect.stringMatching(/block: \d+, [\d.]+ s$/),
    ],
    ['run.html?at=0', expect.any(String)],
    ['run.html?at=41', 'silence &lt;b&gt;, after entry 41'],
    [`run.html?at=${entries - 1}`, expect.stringContaining('entry')],
  ]);
});

test('run: shows values that differ from the defaults, then the complete scenario', async () => {
  const { page } = await runIn(temporaryFolder());
  const [differs = '', whole = ''] = page.split('<summary>Complete scenario');
  const shown = differs.slice(differs.lastIndexOf('<pre'));
  expect(shown).toContain('capabilities: [validator, producer]');
  for (const part of ['kind: contrarian', 'away_ms: 5000']) expect(shown).toContain(part);
  for (const usual of ['stay_ms', 'every_ms', 'topology', 'kind: personality', 'patience']) {
    expect(shown, usual).not.toContain(usual);
    expect(whole, usual).toContain(usual);
  }
});

test('run: shows the finding of a violated rule', async () => {
  const broken = {
    ...{ at: START_MS + 42, rule: 'one vote each', actor: 'agent_1', expected: '1', found: '2' },
  };
  const { page } = await runIn(temporaryFolder(), { result: { verdict: 'safety', broken } });
  expect(words(page)).toContain('Verdict: safety.');
  expect(words(page)).toContain('2025-01-01T00:00:00.042Z');
  expect(words(page)).toContain('actor agent_1 expected 1 found 2');
});

test('run: warns that a violation ended the run early', async () => {
  const result = {
    verdict: 'safety',
    ended_by: 'safety',
    censored: ['3 blocks in voting'],
  } as const;
  const { page } = await runIn(temporaryFolder(), {
    result: { ...result, censored: [...result.censored] },
  });
  expect(words(page)).toContain('Ended by safety :');
  expect(words(page)).toContain('3 blocks in voting');
  expect(words(page)).toContain('(safety)');
});

test('run: shows script measures of the run and of each group', async () => {
  const reported = { run: { mood: 3 }, groups: { town: { mood: null, '<b>': 0.25 } } };
  const { page } = await runIn(temporaryFolder(), { result: { reported } });
  expect(headings(page)).toContain('Reported');
  expect(words(page)).toContain('run mood 3 town mood –');
  expect(page).not.toContain('<b>');
});

test('run: accepts an expected no_progress', async () => {
  const { page } = await runIn(temporaryFolder(), {
    scenario: { expect: 'no_progress' },
    result: { verdict: 'no_progress' },
  });
  expect(words(page)).toContain('Verdict: no_progress.');
  expect(page).not.toContain('verdict bad');
});

test('run: writes a report without blocks, votes and question', async () => {
  const folder = temporaryFolder();
  const { page } = await runIn(folder, {
    blocks: 0,
    scenario: { question: '', measure: { every_ms: 5_000, votes: false, decisions: false } },
  });
  expect(headings(page)).toContain('Mean reputation by group');
  expect(headings(page)).not.toContain('Time to finality');
  expect(headings(page)).not.toContain('Vote latency');
});

test('bytes: writes the same report from the same folder at another path', async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  const { page } = await runIn(folder);
  await writeRunReport(folder);
  expect(reportIn(folder)).toBe(page);
  expect((await runIn(other)).page).toBe(page);
  const options = { factors: [{ path: 'links.loss', values: [0, 1, 2] }] };
  expect(await sweepPage(options)).toBe(await sweepPage(options));
});

test('size: bounds the report of a long run, and states the downsampling', heavy, async () => {
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
  for (const part of ['1500 of 20000 blocks', '400 of 5000 instants']) expect(text).toContain(part);
  expect(text).toContain('other groups');
});

test('size: bounds the report of a hypercube with many factors and responses', heavy, async () => {
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
  if (dots < 500) expect(words(page)).toContain(`${dots} of 500 cells`);
  expect(words(page)).toMatch(/200 more: see summary\.csv/);
});

test('run: clips a few slow blocks and late votes', async () => {
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
  expect(text).toMatch(/: 1 block above [\d.]+ s, up to 29 s\./);
  expect(text).toMatch(/maximum 29 s\. Not drawn: 1 /);
});

test('sweep: shows design, curves, heat maps, cells with intervals, and failed runs', async () => {
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
  expect(text).toMatch(/30 of 30 .* 6 cells: 27 pass, 1 safety, 1 error/);
  expect(text).toContain('loss links.loss 3 0, 0.1, 0.2');
  expect(headings(page).slice(1, 6)).toEqual([
    ...['Cells with other verdicts', 'Responses', 'Share of blocks finalized, by loss'],
    ...['Share of blocks finalized, by loss and consensus.policy', 'Cells'],
  ]);
  expect(text).toContain('one line per consensus.policy');
  expect(text).toMatch(/Lowest: 0\.\d+ \(loss 0\.2, consensus\.policy majority\)/);
  expect(text).toMatch(/1 0 bft (?:0\.9|1\.0)\d* \[[\d.]+, [\d.]+\]/);
  expect(text).toContain("'links.loss=0'".replaceAll("'", ''));
  expect(headings(page)).toContain('Failed runs');
  expect(text).toContain('3 1 safety –');
  expect(text).toContain('npx folkmoot sim scenario.json --seed 1/3 --set links.loss=0');
  const watched = [...page.matchAll(/--seed 1\/1 (--set \S+ --set \S+) --watch=paused/g)];
  expect(new Set(watched.map(([, levels]) => levels)).size).toBe(6);
});

test('sweep: counts the missing runs of an unfinished sweep', async () => {
  const folder = temporaryFolder();
  keptSweep(folder, { factors: [{ path: 'links.loss', values: [0, 1] }] });
  const head = JSON.parse(readFileSync(join(folder, 'sweep.json'), 'utf8'));
  writeFileSync(join(folder, 'sweep.json'), JSON.stringify({ ...head, runs: 25 }));
  await writeSweepReport(folder);
  expect(words(reportIn(folder))).toContain('15 runs');
});

test('errors: refuses a folder without a finished run or sweep, and a torn table', async () => {
  const folder = temporaryFolder();
  const unreadable = { code: 'UNREADABLE', problem: 'RESULT_UNREADABLE' };
  await expect(writeRunReport(folder)).rejects.toMatchObject(unreadable);
  await expect(writeSweepReport(folder)).rejects.toMatchObject(unreadable);
  await keptRun(folder, { blocks: 2 });
  writeFileSync(join(folder, 'blocks.csv'), 'a,b\n1\n');
  await expect(writeRunReport(folder)).rejects.toMatchObject({ code: 'UNREADABLE' });
  rmSync(join(folder, 'blocks.csv'));
  await expect(writeRunReport(folder)).rejects.toThrow('blocks.csv');
});

const cells = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^'{0,3}[=+@\t\r\n\uff1d-][a-z0-9(.'", ]{0,5}$/),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);

test('tables: no text is a formula, every text can be restored, and numbers stay', async () => {
  const folder = temporaryFolder();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(cells, { minLength: 1 }), fc.boolean(), async (column, raw) => {
      count += 1;
      const name = `${count}.csv`;
      const file = new CsvFile<(string | number)[]>(folder, name, ['=cell', 'b'], raw);
      file.finishWith(column.map((cell) => [cell, 1]));
      const text = readFileSync(join(folder, name), 'utf8');
      const rowsAfterHeader: string[][] = parse(text, { from: 2, record_delimiter: '\n' });
      const written = rowsAfterHeader.map(([cell]) => cell!);
      if (raw) {
        expect(written).toEqual(column.map(String));
        return;
      }
      const formulas = written.filter((cell) => /^[=+\-@\t\r\n＋－＝＠]/.test(cell));
      for (const cell of formulas) expect(cell).toMatch(/^[+-][\d.]+(?:e[+-]?\d+)?$/i);
      for (const [at, cell] of column.entries()) {
        if (typeof cell === 'number') expect(written[at]).toBe(String(cell));
      }
      const rows: string[] = [];
      for await (const row of tableRows(folder, name)) rows.push(row['=cell']!);
      expect(rows).toEqual(column.map(String));
    }),
    { numRuns: 300 },
  );
});
