/** Load files: checks, and imports from k6 and Artillery. */
import { parse, stringify } from 'yaml';
import { importLoad } from '../../../../dist/bench/load/import.js';
import { readLoadFile } from '../../../../dist/bench/load/load-file.js';
import { loadFileJsonSchema } from '../../../../dist/bench/load/load-schema.js';
import { runCommand } from '../../../support/command.js';
import { written } from '../fixture.js';

const plan = (file: object, others: Record<string, string> = {}) =>
  readLoadFile(written({ 'load.yaml': file, ...others }));

const steady = { executor: 'constant-arrival-rate', rate: 10, duration: '10s' };
const users = { executor: 'constant-vus', vus: 2, duration: '1s' };

test('load file: scenarios become plans, and the run lasts until the last one ends', () => {
  const { options, thresholds } = plan({
    ...{ warmup: '2s', payload: [64, 512], timeout: '1s', seed: 'x' },
    scenarios: {
      steady: { ...steady, timeUnit: '100ms', startTime: '5s', arrivals: 'poisson' },
      users: { ...users, think: { from: '1s', to: '2s' }, mix: { vote: 70, read: 25, meme: 5 } },
    },
    thresholds: ['p99<200ms', { threshold: 'errors<=1%', abortOnFail: true }],
  });
  expect(options).toMatchObject({ warmupMs: 2_000, durationMs: 13_000, agents: 1_000, seed: 'x' });
  expect(options.scenarios).toMatchObject([
    { plan: { of: 'arrivals', segments: [{ ms: 10_000, from: 100, to: 100 }] }, startMs: 5_000 },
    { plan: { of: 'users' }, think: { fromMs: 1_000, toMs: 2_000 }, mix: { vote: 70 } },
  ]);
  expect(options.rate).toBeCloseTo(1_000 / 15);
  // A threshold states what must hold, and its condition what must not.
  expect(thresholds).toMatchObject([
    { condition: { operator: '>=', bound: 200 }, abortOnFail: false },
    { condition: { operator: '>', bound: 0.01 }, abortOnFail: true },
  ]);
});

test.each<[string, object, RegExp]>([
  ['an unknown executor', { a: { executor: 'ramping-users' } }, /a\.executor.*constant-vus/],
  ['no executor', { a: { rate: 1 } }, /a\.executor/],
  ['an unknown key', { a: { ...steady, ratee: 1 } }, /a\.ratee.*timeUnit/],
  ['a key of another executor', { a: { ...steady, vus: 1 } }, /a\.vus/],
  ['a missing key', { a: { executor: 'constant-arrival-rate', rate: 1 } }, /a\.duration/],
  ['a wrong duration', { a: { ...steady, duration: 'ten' } }, /a\.duration.*30s/],
  ['a negative rate', { a: { ...steady, rate: -1 } }, /a\.rate/],
  ['two kinds of requests', { a: { ...steady, exec: 'votes', mix: { vote: 1 } } }, /a .*exec, mix/],
  ['an unknown request', { a: { ...steady, mix: { votes: 1 } } }, /a\.mix\.votes/],
  ['weights of zero', { a: { ...steady, mix: { vote: 0 } } }, /a\.mix/],
  ['arrivals of users', { a: { ...users, arrivals: 'poisson' } }, /a\.arrivals/],
  ['think time of arrivals', { a: { ...steady, think: '1s' } }, /a\.think/],
  ['data without a module', { a: { ...steady, data: 'x.csv' } }, /a\.data/],
  ['a file outside', { a: { ...steady, module: '../m.js' } }, /a\.module/],
  ['a missing file', { a: { ...steady, module: 'm.js' } }, /a\.module.*not found/],
  ['no time', { a: { ...steady, duration: '0s' } }, /scenarios\.a/],
  ['no scenario', {}, /scenarios/],
  ['a wrong name', { '../a': steady }, /\.\.\/a/],
])('load file: refuses %s with file, line and path', async (_, scenarios, text) => {
  const path = written({ 'load.yaml': `seed: x\n${stringify({ scenarios })}` });
  const { code, stderr } = await runCommand(['load', path, '--url', 'http://127.0.0.1:1']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/load\.yaml:\d+: /);
  expect(stderr).toMatch(text);
});

test('load file: refuses all problems of a file at once, each with its line', async () => {
  const scenarios = { a: { ...steady, exec: 'read' }, b: { executor: 'vus' }, c: { vus: 1 } };
  const path = written({ 'load.yaml': { title: 't', scenarios, thresholds: 'p99' } });
  const { code, stderr } = await runCommand(['load', path, '--url', 'http://127.0.0.1:1']);
  const found = [...stderr.matchAll(/load\.yaml:(\d+): (\S+) is/g)].map(([, ...one]) => one);
  expect([code, found]).toEqual([
    2,
    [
      ['1', 'title'],
      ['7', 'scenarios.a.exec'],
      ['9', 'scenarios.b.executor'],
      ['10', 'scenarios.c.executor'],
      ['12', 'thresholds'],
    ],
  ]);
});

test('load file: a seed may be an integer, which stands for its text', () => {
  expect(plan({ seed: 7, scenarios: { a: steady } }).options.seed).toBe('7');
});

test.each([
  ['p98<1s', 2, 'unknown figure: p98'],
  ['p99', 2, 'expected the form'],
  ['p99{scenario:b}<1s', 17, 'no scenario b (expected one of a)'],
])('load file: the threshold %s is refused with its line', async (threshold, expected, text) => {
  const scenarios = { a: { ...steady, exec: 'reads' } };
  const path = written({ 'load.yaml': { thresholds: ['p50<1s', threshold], scenarios } });
  const { code, stderr } = await runCommand(['load', path, '--url', 'http://127.0.0.1:1']);
  expect(code).toBe(expected);
  expect(stderr).toMatch(/threshold of \S+load\.yaml:3/);
  expect(stderr).toContain(text);
});

test('load file: several generators cannot share its servers and faults', async () => {
  const scenarios = { a: { ...steady, exec: 'reads' } };
  const server = { command: ['true'] };
  const faults = { down: { at: '1s', action: 'kill', server: 'one' } };
  const path = written({ 'load.yaml': { scenarios, servers: { one: server }, faults } });
  const shard = ['--shard', '1/2', '--start-at', '2999-01-01T00:00:00Z', '--seed', 'x'];
  for (const flags of [[], ['--allow-commands']]) {
    const { code, stderr } = await runCommand(['load', path, ...shard, ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be used with')]);
  }
});

test.each([
  [['--rate', '5'], 2],
  [['--saturate'], 2],
  [['--workload', 'reads'], 2],
  // The file is valid, and there is no server.
  [['--agents', '5', '--seed', 'y', '--fail-on', 'read.p99>1s'], 1],
  [['--shard', '1/2', '--start-at', '2999-01-01T00:00:00Z', '--seed', 'y'], 1],
  [['--fail-on', 'vote.p99>1s'], 17],
])('load file: with %s the command ends with %d', async (flags, expected) => {
  const path = written({ 'load.yaml': { scenarios: { a: { ...steady, exec: 'reads' } } } });
  const { code } = await runCommand(['load', path, '--url', 'http://127.0.0.1:1', ...flags]);
  expect(code).toBe(expected);
});

test('load file: refuses an address with credentials, which a result would show', () => {
  const scenarios = { a: steady };
  expect(() => plan({ url: 'http://me:secret@127.0.0.1', scenarios })).toThrow(/credentials/);
  expect(plan({ url: 'http://127.0.0.1:80/api/', scenarios }).options.url).toBe(
    'http://127.0.0.1:80/api',
  );
});

test('load file: a data file gives rows, and a trace gives times', () => {
  const module = { ...users, module: 'm.js', data: 'd.csv' };
  const { options } = plan(
    { scenarios: { module, trace: { ...steady, arrivals: { trace: 't.txt' } } } },
    { 'm.js': `({ do: 'vote' })`, 'd.csv': 'name,x\n"a, ""b""",1\n', 't.txt': '# s\n0.5\n0.25\n' },
  );
  const [scripted, traced] = options.scenarios!;
  expect(scripted!.script).toMatchObject({ rows: [{ name: 'a, "b"', x: '1' }], votes: true });
  expect(traced!.law).toEqual([250, 500]);
});

const script = `
import http from 'k6/http';
export const options = {
  // comment: scenarios
  thresholds: { http_req_duration: ['p(99)<200', { threshold: 'p(95)<100', abortOnFail: true }],
    'http_req_duration{scenario:rate}': ['med<50', { threshold: 'max<1500', abortOnFail: true }],
    "http_req_failed{ scenario: ramp-rate }": ['rate<=0.05'],
    'http_req_duration{scenario:rate,status:200}': ['p(95)<1'],
    'http_req_duration{scenario:gone}': ['p(95)<1'],
    http_req_failed: ['rate<0.01'], checks: ['rate>0.9'] },
  scenarios: {
    shared: { executor: "shared-iterations", vus: 10, iterations: 200, maxDuration: '30s', },
    per_vu: { executor: 'per-vu-iterations', vus: 10, iterations: 20, gracefulStop: '5s' },
    constant: { executor: 'constant-vus', vus: 1_0, duration: '30s', exec: 'reads' },
    ramping: { executor: 'ramping-vus', startVUs: 0, gracefulRampDown: '0s',
      stages: [ { duration: '20s', target: 10 }, { duration: '10s', target: 0 } ] },
    rate: { executor: 'constant-arrival-rate', duration: '30s', rate: 3 * 10, timeUnit: '1s',
      preAllocatedVUs: 2, maxVUs: 50, exec: 'shop', env: { A: 'b' } },
    'ramp-rate': { executor: 'ramping-arrival-rate', startRate: 300, timeUnit: '1m',
      preAllocatedVUs: 50,
      stages: [ { target: 300, duration: '1m' }, { target: 600, duration: '2m' } ] },
  },
};
export default function () { http.get('https://quickpizza.grafana.com'); }
`;

test('import: the six executors of a k6 script, without running it', async () => {
  const { file, notes } = await importLoad(script, null);
  const { options, thresholds } = plan(file);
  expect(options.scenarios!.map(({ executor }) => executor)).toEqual([
    ...['shared-iterations', 'per-vu-iterations', 'constant-vus', 'ramping-vus'],
    ...['constant-arrival-rate', 'ramping-arrival-rate'],
  ]);
  expect(options.scenarios![2]!.mix).toEqual({ read: 1 });
  expect(options.scenarios![4]!.plan).toMatchObject({ most: 50, segments: [{ from: 30 }] });
  expect(options.scenarios![5]!.plan.segments).toEqual([
    { ms: 60_000, from: 5, to: 5 },
    { ms: 120_000, from: 5, to: 10 },
  ]);
  expect(thresholds.map(({ condition }) => condition.text)).toEqual([
    'p99<200ms',
    'p95<100ms',
    'p50{scenario:rate}<50ms',
    'max{scenario:rate}<1500ms',
    'errors{scenario:ramp-rate}<=5%',
    'errors<1%',
  ]);
  expect(thresholds.flatMap(({ abortOnFail }, at) => (abortOnFail ? at : []))).toEqual([1, 3]);
  expect(notes.join()).toMatch(/gracefulRampDown.*env.*shop.*status:200.*scenario:gone.*checks/);
});

test('import: k6 options as JSON give the same load file', async () => {
  const { file } = await importLoad(script, null);
  const json = JSON.stringify({ scenarios: file.scenarios });
  expect((await importLoad(json, parse(json))).file.scenarios).toEqual(file.scenarios);
  const { code, stdout } = await runCommand(['load', 'import', written({ 'k6.js': script })]);
  expect([code, parse(stdout)]).toEqual([0, file]);
});

test('import: Artillery phases follow each other', async () => {
  const config = {
    target: 'http://127.0.0.1:9',
    phases: [
      { duration: 60, arrivalRate: 5, name: 'warm up' },
      { pause: 10 },
      { duration: '2m', arrivalRate: 5, rampTo: 50, maxVusers: 9 },
      { duration: 20, arrivalCount: 40 },
    ],
    ensure: { thresholds: [{ 'http.response_time.p99': 250 }], maxErrorRate: 1 },
    plugins: {},
  };
  const { file, notes } = await importLoad('', { config });
  const { options } = plan(file);
  expect(options.scenarios!.map(({ name, startMs }) => [name, startMs])).toEqual([
    ['warm up', 0],
    ['phase-3', 70_000],
    ['phase-4', 190_000],
  ]);
  expect(options.scenarios!.map(({ plan: { segments } }) => segments[0]!.to)).toEqual([5, 50, 2]);
  expect(file.thresholds).toEqual(['p99<=250ms', 'errors<=1%']);
  expect(notes).toEqual(['left out plugins']);
});

test('import: keeps every Artillery phase, and times in milliseconds and in words', async () => {
  const phase = { arrivalRate: '3', name: 'same' };
  const lengths = ['500ms', '2 minutes', '1.5 sec', 0.1];
  const config = { phases: lengths.map((duration) => ({ ...phase, duration })) };
  const { options } = plan((await importLoad('', { config })).file);
  expect(options.scenarios!.map(({ name, startMs }) => [name, startMs])).toEqual([
    ['same', 0],
    ['phase-2', 500],
    ['phase-3', 120_500],
    ['phase-4', 122_000],
  ]);
});

const phases = (text: string) => `config: { phases: [{ ${text} }] }`;

test.each([
  phases('duration: 60'),
  phases('duration: 60, arrivalRate: -1'),
  phases('duration: .inf, arrivalRate: 1'),
  phases('duration: 3 fortnights, arrivalRate: 1'),
  phases('duration: 60, arrivalRate: "{{ $env.RATE }}"'),
  `a: &a [x, x, x]\nb: &b [${'*a, '.repeat(60)}]\nc: [${'*b, '.repeat(60)}]`,
])('import: refuses %s in one line', async (text) => {
  const path = written({ 'artillery.yaml': text });
  const { code, stderr } = await runCommand(['load', 'import', path]);
  expect([code! > 0, stderr.trim().split('\n').length]).toEqual([true, 1]);
});

test.each([
  'export const options = { scenarios: { a: make() } };',
  'export const options = { scenarios: { a: { executor: "x" } } };',
  '{ "vus": 3 }',
  `scenarios: ${'{a:'.repeat(200)}`,
])('import: refuses %s in one line', async (text) => {
  const { code, stderr } = await runCommand(['load', 'import', written({ 'k6.js': text })]);
  expect(code).not.toBe(0);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test('schema: has every executor with its members', () => {
  const { properties } = loadFileJsonSchema() as {
    properties: { scenarios: { patternProperties: Record<string, { anyOf: object[] }> } };
  };
  const [union] = Object.values(properties.scenarios.patternProperties);
  expect(union!.anyOf).toHaveLength(6);
});
