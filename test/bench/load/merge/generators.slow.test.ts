/** Several generators on one machine against one server, merged into one result. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newHistogram, percentiles } from '../../../../dist/bench/load/percentiles.js';
import type { LoadResult, Percentiles } from '../../../../dist/bench/load/result.js';
import { folkmoot } from '../../../support/cli.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { host } from '../../../support/host.js';
import { main } from '../../../support/paths.js';
import { countFinalized, sum } from '../generator.js';

interface Generators {
  folders: string[];
  /** Folders with the raw samples of each generator. */
  samples: string[];
  codes: (number | null)[];
  errors: string[];
}

const sampling = new URL('./samples.mjs', import.meta.url);

/** Starts all generators, which begin at the same time, and waits until they have ended. */
async function generate(
  options: readonly string[],
  { count, leadS }: { count: number; leadS: number },
  onStarted: (children: readonly ChildProcess[]) => void = () => {},
): Promise<Generators> {
  const folder = temporaryFolder();
  const startAt = new Date(Math.ceil(Date.now() / 1_000 + leadS) * 1_000).toISOString();
  const folders = Array.from({ length: count }, (_, index) => join(folder, `part-${index + 1}`));
  const samples = folders.map(() => temporaryFolder());
  const children = folders.map((out, index) => {
    const shard = ['--shard', `${index + 1}/${count}`, '--start-at', startAt, '--seed', 'common'];
    const hook = ['--import', `${sampling}?to=${encodeURIComponent(samples[index]!)}`];
    return spawn(process.execPath, [...hook, main, 'load', ...options, ...shard, '--out', out]);
  });
  const errors = children.map(() => '');
  children.forEach((child, index) => {
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors[index] += text;
    });
  });
  const ended = children.map((child) => new Promise<number | null>((r) => child.once('close', r)));
  onStarted(children);
  return { folders, samples, codes: await Promise.all(ended), errors };
}

/** Repeats with a new server and more time to prepare until all generators started together. */
async function generateInTime(
  options: readonly string[],
  count: number,
  leadS = 20,
): Promise<Generators & { url: string }> {
  const { url } = await host();
  const found = await generate(['--url', url, ...options], { count, leadS });
  const isDone = (folder: string) => existsSync(join(folder, 'result.json'));
  if (found.folders.every(isDone)) return { ...found, url };
  expect(found.errors.join('')).toContain('--start-at');
  expect(leadS).toBeLessThan(100);
  return generateInTime(options, count, 2 * leadS);
}

/** Returns the raw samples of a generator's histogram, in microseconds. */
function samplesOf(folder: string, { histogram }: Percentiles): number[] {
  const lists = readdirSync(folder).flatMap(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as number[][],
  );
  const found = lists.find((values) => {
    const rebuilt = newHistogram();
    for (const value of values) rebuilt.recordValue(value);
    return percentiles(rebuilt).histogram === histogram;
  });
  expect(found).toBeDefined();
  return found!;
}

/** Expects the quantiles of a merged histogram to be those of all samples, to three digits. */
function expectQuantiles(merged: Percentiles, samples: readonly number[]): void {
  const union = [...samples].sort((a, b) => a - b);
  expect(merged.count).toBe(union.length);
  const names = { p50: 50, p90: 90, p95: 95, p99: 99, max: 100 } as const;
  for (const [name, percent] of Object.entries(names)) {
    const exact = union[Math.max(0, Math.ceil((percent / 100) * union.length) - 1)]! / 1_000;
    const found = merged[name as keyof typeof names]!;
    expect(Math.abs(found - exact), `${name}: ${found}, exact ${exact}`).toBeLessThanOrEqual(
      exact / 1_000 + 0.001,
    );
  }
}

const patient = ['--timeout', '60s', '--finality-timeout', '60s', '--warmup', '0s'];

test('three generators: merged counts equal the finalized transactions of the log', async () => {
  const what = ['--workload', 'transactions', '--batch', '10', '--rate', '90'];
  const all = [...what, '--duration', '4s', ...patient];
  const { folders, samples, url } = await generateInTime(all, 3);
  const results = folders.map(
    (folder) => JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8')) as LoadResult,
  );
  const ended = await folkmoot(['load', 'merge', ...folders, '--json', '--clock-bound', '10s']);
  const merged = JSON.parse(ended.stdout) as LoadResult;
  expect(merged.transactions.finalized).toBe(await countFinalized(url));
  expect(merged.transactions.finalized).toBe(sum(results.map((r) => r.transactions.finalized)));
  expect(merged.finality.count).toBe(merged.transactions.finalized);
  const timesOf = (result: LoadResult) =>
    result.operations
      .flatMap(({ response, service }) => [response, service])
      .concat(result.finality);
  for (const [at, time] of timesOf(merged).entries()) {
    const each = results.map((result, part) => samplesOf(samples[part]!, timesOf(result)[at]!));
    expectQuantiles(time, each.flat());
  }
  expect(results.map(({ shard }) => shard!.number)).toEqual([1, 2, 3]);
  // Each generator proposed: a block of its own became final.
  for (const { transactions } of results) expect(transactions.finalized).toBeGreaterThan(0);
  // The arrivals of all parts are those of one schedule.
  expect(merged.arrivals.intended).toBe(9 * 4);
  expect([0, 14]).toContain(ended.code);
  // On a busy machine a generator may be late. The merged run is then invalid, and names it.
  const bound = results.find(({ verdict }) => verdict === 'CLIENT_BOUND');
  if (!bound) return;
  expect(merged.verdict).toBe('INVALID');
  expect(merged.reasons.join()).toContain(`generator ${bound.shard!.number}`);
});

test('a killed generator makes the merged run INVALID, and is named', async () => {
  const { url } = await host();
  const what = ['--url', url, '--workload', 'reads', '--rate', '40', '--duration', '2s'];
  const { folders } = await generate([...what, ...patient], { count: 2, leadS: 40 }, ([, two]) => {
    two!.stderr!.on('data', (text: string) => {
      if (text.includes('ready')) two!.kill('SIGKILL');
    });
  });
  const ended = await folkmoot(['load', 'merge', ...folders]);
  expect(ended.code).toBe(14);
  expect(ended.stdout).toMatch(/^verdict +INVALID\n +generator 2 \(.*part-2\)/);
});

test('load --shard: refuses a start time in the past, and refuses --workload votes', async () => {
  const { url } = await host();
  const out = join(temporaryFolder(), 'out');
  mkdirSync(out);
  const shard = ['--shard', '1/2', '--seed', 's', '--start-at', '2020-01-01T00:00:00Z'];
  const late = await folkmoot(['load', '--url', url, '--workload', 'reads', ...shard]);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('--start-at')]);
  const votes = await folkmoot(['load', '--url', url, ...shard, '--workload', 'votes']);
  expect([votes.code, votes.stderr]).toEqual([2, expect.stringContaining('--shard requires')]);
  const parts = await folkmoot(['load', 'merge', out]);
  expect(parts.code).toBe(2);
});
