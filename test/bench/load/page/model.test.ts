/** The model of a load run is consistent with the result and limited in size, in every view. */
import fc from 'fast-check';
import { type LoadState, LoadView } from '../../../../dist/api/contract/load.js';
import { describeLoad, type LoadModel, toLoadState } from '../../../../dist/bench/load/model.js';
import { loadReport } from '../../../../dist/bench/load/report.js';
import type { LoadResult, Operation, Second } from '../../../../dist/bench/load/result.js';
import { secondText } from '../../../../dist/cli/commands/load/progress.js';
import { loadSummary } from '../../../../dist/cli/commands/load/summary.js';
import { Value } from '../../../../dist/engine/protocol/bundled/typebox.js';
import { formatValue } from '../../../../dist/report/shared/format.js';
import { loadResult, noise, outage, saturation } from '../fixture.js';

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const most = (numbers: readonly (number | null)[]) =>
  Math.max(...numbers.map((one) => one ?? Number.NEGATIVE_INFINITY));

const modelOf = (result: LoadResult) => describeLoad(result, result);
const rowsOf = ({ tables }: LoadModel | LoadState, wanted: string) =>
  tables.find(({ id }) => id === wanted)?.rows ?? [];
const factOf = ({ facts }: LoadModel, wanted: string) =>
  facts.flatMap(({ rows }) => rows).find(({ name }) => name === wanted);
const lineOf = ({ series }: LoadModel, wanted: string) =>
  series!.charts.flatMap(({ lines }) => lines).find(({ name }) => name === wanted)!.values;

function secondsOf(count: number, seed = 1): Second[] {
  const chance = noise(seed);
  const ms = () => (chance() < 0.1 ? null : Math.round(chance() * 1e6) / 1e3);
  return Array.from({ length: count }, (_, second) => ({
    ...{ second, intended: Math.floor(chance() * 1_000), sent: 0 },
    ...{ accepted: Math.floor(chance() * 1_000), failed: Math.floor(chance() * 10) },
    finalized_transactions: Math.floor(chance() * 100),
    ...{ response_p50: ms(), response_p95: ms(), response_p99: ms(), lag_max: ms() },
  }));
}

test('series: at most a few hundred points keep all counts and maxima', () => {
  const base = loadResult();
  for (const count of [1, 399, 400, 401, 3_600, 86_400]) {
    const all = secondsOf(count);
    const model = modelOf({ ...base, seconds: all, measured_s: count });
    const { width, charts } = model.series!;
    const points = Math.ceil(count / width);
    const lengths = charts.flatMap(({ lines }) => lines.map(({ values }) => values.length));
    expect([count, ...new Set(lengths)]).toEqual([count, points]);
    expect(points).toBeLessThanOrEqual(400);
    const last = count - width * (points - 1);
    const counted = lineOf(model, 'accepted').map((mean, index) =>
      Math.round(mean! * (index === points - 1 ? last : width)),
    );
    expect(sum(counted)).toBe(sum(all.map(({ accepted }) => accepted)));
    expect(most(lineOf(model, 'p99'))).toBe(most(all.map(({ response_p99 }) => response_p99)));
    expect(most(lineOf(model, 'generator lag'))).toBe(most(all.map(({ lag_max }) => lag_max)));
  }
});

const shape = fc.record({
  seed: fc.nat(1_000),
  workload: fc.constantFrom('votes', 'transactions', 'mixed', 'reads', 'subscribers'),
  operations: fc.subarray(['vote', 'propose', 'read', 'vote (beside)']),
  ...{ rate: fc.integer({ min: 1, max: 300 }), seconds: fc.integer({ min: 1, max: 20 }) },
  ...{ failing: fc.constantFrom(0, 0.1, 1), stall: fc.boolean() },
} as const);

test('model: follows its schema, with the figures of the result', () => {
  fc.assert(
    fc.property(shape, fc.boolean(), (drawn, sought) => {
      const result = loadResult(drawn, sought ? { saturation: saturation() } : {});
      const load = toLoadState(result);
      expect([...Value.Errors(LoadView, { version: 1, load })]).toEqual([]);
      expect(load.verdict).toEqual({
        ...{ verdict: result.verdict, reasons: result.reasons, ended: result.ended },
      });
      expect(factOf(load, 'arrivals')!.value).toBe(result.arrivals.accepted_per_s);
      expect(lineOf(load, 'accepted')).toEqual(result.seconds.map(({ accepted }) => accepted));
      const failures = rowsOf(load, 'failures');
      for (const [index, { operation, sent, accepted, response }] of result.operations.entries()) {
        expect(rowsOf(load, 'requests')[index]!.slice(0, 3)).toEqual([operation, sent, accepted]);
        const ofThis = failures.filter(([name]) => name === operation);
        expect(sum(ofThis.map((row) => Number(row[5])))).toBe(sent - accepted);
        const times = rowsOf(load, 'latencies').find(([name]) => name === `${operation}, response`);
        expect(times?.[6] ?? null).toBe(response.p99);
      }
      expect(rowsOf(load, 'probes').length).toBe(
        sum((result.saturation?.brackets ?? []).map(({ probes }) => probes.length)),
      );
    }),
    { numRuns: 60 },
  );
});

const counts = { sent: 1_500, accepted: 1_400, failed: 100, down_ms: 2_000 };
const open = outage({ start_ms: 9_000, end_ms: null, duration_ms: 1_000, recovery_ms: null });
const whole = (): LoadResult =>
  loadResult(
    { workload: 'mixed', operations: ['vote', 'propose'] },
    {
      ...{ outages: [outage(), open], nodes: [{ url: 'http://a:1', ...counts }] },
      ...{ saturation: saturation(), reasons: ['halves differ'] },
    },
  );

/** Returns the text of a report. */
const readable = (page: string): string =>
  page
    .replace(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'");

test('views: text, report and page show the same facts and tables', () => {
  const result = whole();
  const model = modelOf(result);
  const load = toLoadState(result);
  expect(load).toMatchObject({ facts: model.facts, tables: model.tables, series: model.series });
  const text = loadSummary(result);
  const page = readable(loadReport(result));
  for (const { name, value, unit, note } of model.facts.flatMap(({ rows }) => rows)) {
    const shown = `${formatValue(value, unit)}${note === '' ? '' : ` (${note})`}`;
    expect(text).toContainEqual(expect.stringMatching(new RegExp(`^${name} `)));
    expect(text.join('\n')).toContain(shown);
    expect(page).toContain(shown);
  }
  const ids = model.tables.map(({ id }) => id);
  expect(ids).toEqual([
    ...['brackets', 'probes', 'latencies', 'requests', 'failures', 'outages', 'nodes'],
  ]);
  for (const { id, title, columns, rows } of model.tables) {
    const cells = rows.flat().map((cell, index) => {
      return formatValue(cell, columns[index % columns.length]!.unit);
    });
    if (id !== 'probes') for (const cell of cells) expect(text.join('\n')).toContain(cell);
    for (const cell of [title, ...cells]) expect(page).toContain(cell);
  }
});

test.each<[string, Partial<LoadResult>, RegExp]>([
  ['an early end', { ended: 'interrupted', verdict: 'INCOMPLETE', measured_s: 3.1234 }, /3\.1 of/],
  ['a reason', { verdict: 'UNSTABLE', reasons: ['halves differ'] }, /^verdict +UNSTABLE\n +halves/],
  ['outages', { outages: [outage(), open] }, /^ +9 s +– +1 s +vote 120 +100\/s +–$/m],
  ['the requests of a server', { nodes: [{ url: 'http://a:1', ...counts }] }, /a:1 +1,500 +1,4/],
])('text: shows %s', (_, change, expected) => {
  expect(loadSummary(loadResult({}, change)).join('\n')).toMatch(expected);
});

test('search: a bracket in which no rate held, and an unknown R', () => {
  const [first] = saturation().brackets;
  const probe = { ...first!.probes[3]!, r_before: null, r_after: null };
  const bracket = { ...first!, holds: 0, fails: 1, probes: [probe] };
  const found = { slo: [], brackets: [bracket], overlap: true };
  const model = modelOf(loadResult({}, { r: null, saturation: found }));
  expect(rowsOf(model, 'brackets')).toEqual([[1, 0, 1, null, null, null, 'yes']]);
  expect(factOf(model, 'sustained rates')!.value).toBe('0/s');
});

test('latencies: too few samples have no p99.9, with a note', () => {
  const noteOf = (result: LoadResult) =>
    modelOf(result).tables.find(({ id }) => id === 'latencies')!.note;
  const few = loadResult({ rate: 1, seconds: 15 });
  expect(rowsOf(modelOf(few), 'latencies')[0]![7]).toBe(null);
  expect([noteOf(few), noteOf(loadResult())]).toEqual([expect.stringContaining('1,000'), '']);
});

test('progress: a second without a response has no p99', () => {
  const [second] = loadResult().seconds;
  expect(secondText({ ...second!, response_p99: 12.34 })).toMatch(/, p99 12\.3 ms$/);
  expect(secondText({ ...second!, accepted: 0, response_p99: null })).not.toMatch(/p99|NaN/);
});

test('model: pairs the times of the slowest operation at each percentile', () => {
  const [vote, propose] = loadResult({ operations: ['vote', 'propose'] }).operations;
  const timed = (one: Operation, response: number, service: number): Operation => ({
    ...one,
    response: { ...one.response, p99: response },
    service: { ...one.service, p99: service },
  });
  const operations = [timed(vote!, 315, 90), timed(propose!, 270, 266)];
  const base = loadResult({}, { operations });
  const generator = { ...base.generator, attributed: ['propose.p99'] };
  const p99 = (result: LoadResult) => factOf(modelOf(result), 'p99 response');
  expect(p99(base)).toMatchObject({ value: 315, unit: 'ms', note: 'vote, service 90 ms' });
  expect(p99({ ...base, generator })!.note).toContain('not attributed');
});

/** Returns a result as from an untrusted file, valid by the schema. */
function hostile(): LoadResult {
  const text = `<img src=x onerror=alert(1)>\u202e${'\u{1f600}x'.repeat(5_000)}`;
  const base = loadResult({ workload: 'transactions', operations: ['propose'] });
  const refused = Array.from({ length: 300 }, (_, count) => ({
    ...{ status: 500, code: text, reason: text, count },
  }));
  const operation: Operation = { ...base.operations[0]!, operation: text, refused };
  const found = saturation();
  const probes = found.brackets.flatMap((bracket) => bracket.probes);
  const bracket = {
    ...found.brackets[0]!,
    probes: Array.from({ length: 500 }, () => probes).flat(),
  };
  return {
    ...base,
    reasons: Array.from({ length: 500 }, () => text),
    operations: Array.from({ length: 100 }, () => operation),
    server: { ...base.server, url: text, version: text, network_id: text, limits_profile: text },
    seconds: secondsOf(86_400),
    measured_s: 86_400,
    saturation: { ...found, brackets: Array.from({ length: 20 }, () => bracket) },
  };
}

test('model: limits a day of seconds, long texts and long lists', () => {
  const load = toLoadState(hostile());
  expect([...Value.Errors(LoadView, { version: 1, load })]).toEqual([]);
  const texts: string[] = [];
  const text = JSON.stringify(load, (_, value) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  expect(text.length).toBeLessThan(500_000);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(800);
  // No character was split.
  expect(texts.filter((one) => /\p{Surrogate}/u.test(one))).toEqual([]);
  for (const { id, rows, note } of load.tables) {
    expect([id, rows.length]).toEqual([id, expect.toSatisfy((length: number) => length <= 300)]);
    if (['failures', 'probes', 'latencies'].includes(id)) expect(note).toMatch(/\d/);
  }
});
