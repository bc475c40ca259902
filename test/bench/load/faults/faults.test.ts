/** Faults of a load file: their checks, what the record of a run says of them, and scores. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare } from '../../../../dist/bench/load/compare.js';
import { FaultRecord } from '../../../../dist/bench/load/faults.js';
import { readLoadFile } from '../../../../dist/bench/load/load-file.js';
import type { FaultPlan } from '../../../../dist/bench/load/options.js';
import type { Second } from '../../../../dist/bench/load/result.js';
import { runCommand } from '../../../support/command.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { loadResult, noise, written } from '../fixture.js';

const fileOf = (file: object): string => written({ 'load.yaml': file });

const scenarios = { a: { executor: 'constant-arrival-rate', rate: 10, duration: '9s' } };
const servers = { main: { command: ['node', '-e', ''] } };
const kill = { at: '1s', action: 'kill', server: 'main', duration: '500ms' };

test('faults: become plans of a run that keeps going', () => {
  const doing = { action: 'run', command: ['true', ''], undo: ['true'] };
  const run = { at: '5s', ...doing };
  const { options, ...rest } = readLoadFile(
    fileOf({ scenarios, servers, faults: { f: kill, run } }),
  );
  expect(rest.servers).toEqual({ main: { ...servers.main, autostart: true, ready: null } });
  expect(options).toMatchObject({
    keepGoing: true,
    faults: [
      { name: 'f', action: 'kill', server: 'main', atMs: 1_000, durationMs: 500 },
      { name: 'run', server: null, atMs: 5_000, durationMs: 0, ...doing },
    ],
  });
});

test.each([
  ['faults.f.server', { ...kill, server: 'other' }],
  ['faults.f.action', { ...kill, action: 'explode' }],
  ['faults.f.at', { ...kill, at: '9s' }],
  ['faults.f.duration', { ...kill, action: 'pause', duration: '0s' }],
  ['faults.f.signal', { ...kill, action: 'signal' }],
  ['faults.f.command', { at: '1s', action: 'run' }],
  ['faults.f.shell', { ...kill, shell: true }],
])('faults: a problem with %s names it', (path, f) => {
  const file = fileOf({ scenarios, servers, faults: { f } });
  expect(() => readLoadFile(file)).toThrow(
    new RegExp(`load.yaml:\\d+: ${path.replaceAll('.', '\\.')} `),
  );
});

test('faults: commands of a file run only with --allow-commands', async () => {
  const marked = join(temporaryFolder(), 'mark');
  const command = ['node', '-e', `require('fs').writeFileSync(${JSON.stringify(marked)}, '')`];
  const path = fileOf({ scenarios, servers: { main: { command } }, faults: { f: kill } });
  const { code, stderr } = await runCommand(['load', path]);
  expect([code, stderr.includes('--allow-commands')]).toEqual([2, true]);
  expect(() => writeFileSync(marked, '', { flag: 'wx' })).not.toThrow();
});

/** Response time of an arrival that is due at this time; null if it fails. */
type Server = (dueMs: number) => number | null;

const plan = (change: Partial<FaultPlan> = {}): FaultPlan => {
  return { name: 'f', action: 'kill', server: 'main', atMs: 20_000, durationMs: 2_000, ...change };
};

/** Records a run of one minute with an arrival every 10 ms, and returns its faults. */
function recorded(plans: readonly FaultPlan[], server: Server) {
  const record = new FaultRecord(plans, 0, { startMs: 0, endMs: 60_000 });
  const seconds = new Map<number, number>();
  const answers = Array.from({ length: 6_000 }, (_, index) => {
    const dueMs = 10 * index;
    const ms = server(dueMs);
    return { dueMs, ms, atMs: dueMs + (ms ?? 1) };
  }).sort((a, b) => a.atMs - b.atMs);
  for (const { dueMs, ms, atMs } of answers) {
    record.completed(ms !== null, dueMs, atMs);
    const second = Math.floor(atMs / 1_000);
    if (ms !== null) seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  const rows = Array.from({ length: 60 }, (_, second): Second => {
    const accepted = seconds.get(second) ?? 0;
    const times = { response_p50: 5, response_p95: 9, response_p99: 10, lag_max: 0 };
    return {
      ...{ second, intended: 100, sent: 100, accepted, failed: 100 - accepted },
      ...{ finalized_transactions: 0, ...times },
    };
  });
  return record.result(rows, 60_000).faults!;
}

interface Expected {
  errors: number;
  downtime_ms: number;
  recovery_ms: number;
  /** Mean added response time, in milliseconds. */
  area: number;
}

const usual = (dueMs: number) => 1 + ((dueMs / 10) % 10);
const during = (fromMs: number, toMs: number, other: Server): Server => {
  return (dueMs) => (dueMs >= fromMs && dueMs < toMs ? other(dueMs) : usual(dueMs));
};

test.each<[string, Server, Expected]>([
  ['nothing', usual, { errors: 0, downtime_ms: 0, recovery_ms: 0, area: 0 }],
  [
    'a crash with a slow start',
    during(20_000, 25_000, () => null),
    { errors: 500, downtime_ms: 5_000, recovery_ms: 3_000, area: 0 },
  ],
  [
    'a pause that answers late',
    during(20_000, 22_000, (dueMs) => 22_000 - dueMs + 1),
    // The mean of the delays is 1 s, for 200 of 1,200 arrivals.
    { errors: 0, downtime_ms: 2_000, recovery_ms: 0, area: 1_000 / 6 },
  ],
  [
    'a slow server',
    during(20_000, 22_000, (dueMs) => usual(dueMs) + 60),
    { errors: 0, downtime_ms: 60, recovery_ms: 0, area: 10 },
  ],
])('record: %s', (_, server, { area, downtime_ms, ...rest }) => {
  const [fault] = recorded([plan()], server);
  expect(fault).toMatchObject({ start_ms: 20_000, end_ms: 22_000, until_ms: 32_000 });
  expect(fault).toMatchObject({ arrivals: 1_200, errors: rest.errors });
  expect(Math.abs(fault!.downtime_ms - downtime_ms)).toBeLessThanOrEqual(20);
  expect(Math.abs(fault!.recovery_ms! - rest.recovery_ms)).toBeLessThanOrEqual(100);
  const { ms, low_ms, high_ms } = fault!.sensitivity!;
  expect(Math.abs(ms - area)).toBeLessThanOrEqual(0.02 * area + 0.2);
  expect([low_ms <= ms, ms <= high_ms, low_ms > 0]).toEqual([true, true, area > 1]);
});

test('record: the effect of a fault ends at the next one, and a server may stay away', () => {
  const plans = [plan(), plan({ name: 'g', atMs: 25_000, durationMs: 0 })];
  const [first, second] = recorded(
    plans,
    during(25_000, 60_000, () => null),
  );
  expect([first!.until_ms, second!.until_ms]).toEqual([25_000, 35_000]);
  expect(second).toMatchObject({ errors: 1_000, recovery_ms: null, sensitivity: null });
  expect(second!.downtime_ms).toBeGreaterThan(8_900);
});

test('simulation: a partition has a row like that of a server, in simulated time', async () => {
  const folder = temporaryFolder();
  const [cut, quiet, load] = ['cut', 'quiet', 'load.json'].map((name) => join(folder, name));
  const town = {
    ...{ title: 'town', question: 'q', population: 12, length: { virtual_ms: 120_000 } },
    agents: [{ group: 'town', producers: 3, traits: { care: 1, abstains: 0 } }],
    consensus: { voting_period_ms: 5_000, dormant_after: 0 },
  };
  const whom = [{ share: 0.5 }];
  const faults = [{ kind: 'partition', start_ms: 50_000, length_ms: 20_000, whom }];
  for (const [out, scenario] of [
    [cut!, { ...town, faults }],
    [quiet!, town],
  ] as const) {
    const { code } = await runCommand(['sim', fileOf(scenario), '--out', out]);
    expect(code).toBe(0);
  }
  const [server] = recorded([plan()], usual);
  writeFileSync(load!, JSON.stringify(loadResult({ seed: 1 }, { faults: [server!] })));
  const listed = async (...args: string[]) => {
    const { code, stdout } = await runCommand(['load', 'faults', ...args]);
    return [code, stdout] as const;
  };
  const [code, table] = await listed(cut!, load!, quiet!);
  expect([code, table.split('\n').slice(1, 3)]).toEqual([
    0,
    [expect.stringMatching(/partition +50 % of all/), expect.stringMatching(/kill +main/)],
  ]);
  const [, json] = await listed(cut!, '--base', quiet!, '--json');
  const [found] = (JSON.parse(json) as Record<string, ReturnType<typeof recorded>>)[cut!]!;
  expect(found).toMatchObject({ start_ms: 50_000, end_ms: 70_000, until_ms: 80_000 });
  expect(found!.errors).toBeGreaterThan(0);
  expect(found!.downtime_ms).toBeGreaterThanOrEqual(20_000);
  expect(found!.downtime_ms).toBeLessThan(30_000);
  expect(found!.recovery_ms).toBeLessThan(10_000);
  expect((await listed(quiet!))[1]).toBe('no faults\n');
});

test('score: is 0 within its interval for equal runs, and not for a slower one', () => {
  const run = (seed: number, medianMs = 4) =>
    loadResult({ seed, medianMs, seconds: 40, rate: 100 }, { outages: [] });
  const chance = noise(3);
  const scores = Array.from({ length: 10 }, () => {
    const [a, b] = [1, 2].map(() => run(Math.floor(1e6 * chance())));
    return compare(a!, b!).sensitivity[0]!.interval!;
  });
  expect(scores.filter(({ low_ms }) => low_ms === 0).length).toBeGreaterThanOrEqual(9);
  expect(compare(run(1), run(2, 8)).sensitivity[0]!.interval!.low_ms).toBeGreaterThan(1);
});
