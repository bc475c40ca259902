/** A load run's folder is complete, consistent with the result, and readable by other tools. */
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { HistogramLogReader, listTags } from 'hdr-histogram-js';
import { prepareLoad, readLoad, writeLoad } from '../../../../dist/bench/load/files.js';
import { Second } from '../../../../dist/bench/load/result.js';
import { heavy } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { loadResult, nothing, percentilesOf, saturation } from '../fixture.js';

const rows = (folder: string, name: string): Record<string, string>[] =>
  parse(readFileSync(join(folder, name)), { columns: true, record_delimiter: '\n' });

const mixed = () =>
  loadResult(
    { workload: 'mixed', operations: ['vote', 'propose', 'vote (beside)'], seconds: 3 },
    { saturation: saturation() },
  );

test('files: writes all, and reads the result from file and folder', async () => {
  const folder = join(temporaryFolder(), 'new', 'run');
  const result = mixed();
  await writeLoad(result, folder);
  expect(readdirSync(folder).sort()).toEqual([
    ...['errors.csv', 'histograms.hlog', 'latencies.csv', 'report.html', 'result.json'],
    'seconds.csv',
  ]);
  expect([readLoad(folder), readLoad(join(folder, 'result.json'))]).toEqual([result, result]);
});

test('files: any result is read back unchanged, with a row for each figure', heavy, async () => {
  const shape = fc.record({
    seed: fc.nat(1_000),
    workload: fc.constantFrom('votes', 'transactions', 'mixed', 'reads', 'subscribers'),
    operations: fc.subarray(['vote', 'propose', 'read', 'meme', 'status', 'register']),
    ...{ rate: fc.integer({ min: 1, max: 300 }), seconds: fc.integer({ min: 1, max: 4 }) },
    ...{ medianMs: fc.constantFrom(0.002, 1, 50, 20_000), failing: fc.constantFrom(0, 0.1, 1) },
    stall: fc.boolean(),
  });
  const free = fc.record({
    seed: fc.string({ unit: 'grapheme' }),
    machine: fc.string({ unit: 'binary' }),
    reasons: fc.array(fc.string()),
  });
  await fc.assert(
    fc.asyncProperty(shape, free, async (drawn, changes) => {
      const folder = temporaryFolder();
      const result = loadResult(drawn, changes);
      await writeLoad(result, folder);
      expect(readLoad(folder)).toEqual(JSON.parse(JSON.stringify(result)));
      expect(rows(folder, 'seconds.csv')).toHaveLength(result.seconds.length);
      for (const { operation, sent, accepted } of result.operations) {
        const counted = rows(folder, 'errors.csv')
          .filter((row) => row.operation === operation)
          .reduce((sum, { count }) => sum + Number(count), 0);
        expect(counted, operation).toBe(sent - accepted);
      }
    }),
    { numRuns: 15 },
  );
});

test('seconds.csv: has the seconds of the result, empty without responses', async () => {
  const folder = temporaryFolder();
  const [first, ...rest] = loadResult({ seconds: 3 }).seconds;
  const seconds = [{ ...first!, response_p50: null, response_p99: null }, ...rest];
  await writeLoad(loadResult({}, { seconds }), folder);
  const table = rows(folder, 'seconds.csv');
  expect(Object.keys(table[0]!)).toEqual(Object.keys(Second.properties));
  expect(table.map((row) => Number(row.accepted))).toEqual(seconds.map(({ accepted }) => accepted));
  expect(table[0]).toMatchObject({ second: '0', response_p50: '', response_p99: '' });
});

test('latencies.csv: has rows for each histogram that match the percentiles', async () => {
  const folder = temporaryFolder();
  const result = mixed();
  await writeLoad(result, folder);
  const table = rows(folder, 'latencies.csv');
  const kinds = new Set(table.map(({ operation, time }) => `${operation} ${time}`));
  expect([...kinds]).toEqual([
    ...['vote response', 'vote service', 'propose response', 'propose service'],
    ...['vote (beside) response', 'vote (beside) service', ' finality', ' lag'],
  ]);
  const at = (time: string, percentile: string) =>
    Number(table.find((r) => !r.operation && r.time === time && r.percentile === percentile)!.ms);
  expect([at('finality', '50'), at('finality', '99'), at('finality', '100')]).toEqual([
    ...[result.finality.p50, result.finality.p99, result.finality.max],
  ]);
  const steps = table.filter(({ time }) => time === 'lag').map(({ ms }) => Number(ms));
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
});

test('histograms.hlog: is readable by the library, with tags without spaces', async () => {
  const folder = temporaryFolder();
  const finality = percentilesOf([1, 2, 3, 500]);
  const result = { ...mixed(), finality };
  await writeLoad(result, folder);
  const text = readFileSync(join(folder, 'histograms.hlog'), 'utf8');
  const tags = ['vote.response', 'vote.service', 'propose.response', 'propose.service'];
  const beside = ['vote.beside.response', 'vote.beside.service'];
  expect(listTags(text)).toEqual([...tags, ...beside, 'finality', 'lag']);
  const reader = new HistogramLogReader(text);
  const found = new Map<string, { count: number; longest: number; span: number[] }>();
  for (let one = reader.nextIntervalHistogram(); one; one = reader.nextIntervalHistogram()) {
    const { tag, totalCount: count, startTimeStampMsec: from, endTimeStampMsec: to } = one;
    found.set(tag, { count, longest: one.getValueAtPercentile(100), span: [from, to] });
  }
  const started = Date.parse(result.started);
  expect(found.get('finality')).toEqual({
    ...{ count: 4, longest: finality.max! * 1_000, span: [started, started + 3_000] },
  });
  expect(found.get('vote.response')!.count).toBe(result.operations[0]!.response.count);
  const lines = text.trimEnd().split('\n');
  expect(lines.slice(0, 3)).toEqual([
    expect.stringContaining('#[Histogram log format version 1.3]'),
    '#[StartTime: 1763758254.120 (seconds since epoch), 2025-11-21T20:50:54.120Z]',
    '#[Values are microseconds, interval maxima milliseconds]',
  ]);
  expect(lines.every((line) => /^#\[|^"StartTimestamp"|^Tag=[\w.]+,[^ ]+$/.test(line))).toBe(true);
});

test('files: refuses a folder that holds a run, before and after the run', async () => {
  const folder = temporaryFolder();
  const first = loadResult({ seed: 1 });
  await writeLoad(first, folder);
  const refusal = { code: 'OTHER_NETWORK', problem: 'OUTPUT_HAS_RUN' };
  await expect(prepareLoad(folder)).rejects.toMatchObject(refusal);
  await expect(writeLoad(loadResult({ seed: 2 }), folder)).rejects.toMatchObject(refusal);
  expect(readLoad(folder)).toEqual(first);
  const other = temporaryFolder();
  writeFileSync(join(other, 'notes.txt'), 'mine');
  await prepareLoad(other);
  expect(readdirSync(other)).toEqual(['notes.txt']);
});

test('files: refuses a file in place of the folder', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await expect(prepareLoad(file)).rejects.toMatchObject({ code: 'UNREADABLE' });
});

test('files: writes nothing for a result that violates its schema', async () => {
  const folder = temporaryFolder();
  const wrong = loadResult({}, { measured_s: Number.NaN });
  await expect(writeLoad(wrong, folder)).rejects.toThrow('schema: /measured_s must be');
  expect(readdirSync(folder)).toEqual([]);
});

test('read: refuses other files and names the expected one', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'result.json');
  const holding = (text: string) => {
    writeFileSync(file, text);
    return () => readLoad(file);
  };
  const whole = JSON.stringify(loadResult());
  const refusal = (message: string) =>
    expect.objectContaining({ code: 'MISSING', message: expect.stringContaining(message) });
  expect(() => readLoad(join(folder, 'none'))).toThrow(
    expect.objectContaining({ code: 'MISSING', problem: 'LOAD_RESULT_NOT_FOUND' }),
  );
  expect(() => readLoad(folder)).toThrow(refusal('ENOENT'));
  expect(holding('')).toThrow(refusal('JSON'));
  expect(holding(whole.slice(0, -9))).toThrow(refusal('JSON'));
  for (const text of ['null', '7', '[]', '{}']) {
    expect(holding(text)).toThrow(refusal('it names no format; expected folkmoot-load-1'));
  }
  expect(holding('{"format":"folkmoot-load-2"}')).toThrow(
    refusal('its format is "folkmoot-load-2"; expected folkmoot-load-1'),
  );
  const change = (changes: object) => JSON.stringify({ ...loadResult(), ...changes });
  expect(holding(change({ verdict: 'FINE' }))).toThrow(refusal('/verdict must be one of'));
  expect(holding(change({ extra: 1 }))).toThrow(refusal('/extra '));
  expect(holding(change({ r: '12' }))).toThrow(refusal('/r must be'));
  expect(holding(change({ finality: { ...nothing(), count: -1 } }))).toThrow(
    refusal('/finality/count must be at least 0'),
  );
  expect(holding(change({ tiers: undefined }))).toThrow(refusal('/tiers '));
});

test('read: refuses a folder in place of the file, and an oversized file', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'result.json'));
  expect(() => readLoad(folder)).toThrow('EISDIR');
  const large = join(folder, 'large.json');
  writeFileSync(large, '');
  truncateSync(large, 65 * 2 ** 20);
  expect(() => readLoad(large)).toThrow('it is larger than 64 MiB');
});
