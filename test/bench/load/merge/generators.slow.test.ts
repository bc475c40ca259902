/** Several generators on one machine against one server, merged into one result. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { folkmoot } from '../../../support/cli.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { host } from '../../../support/host.js';
import { main } from '../../../support/paths.js';
import { countFinalized, sum } from '../generator.js';

interface Generators {
  folders: string[];
  errors: string[];
}

/** Starts all generators, which begin at the same time, and waits until they have ended. */
async function generate(
  options: readonly string[],
  { count, leadS }: { count: number; leadS: number },
  onStarted: (children: readonly ChildProcess[]) => void = () => {},
): Promise<Generators> {
  const folder = temporaryFolder();
  const startAt = new Date(Math.ceil(Date.now() / 1_000 + leadS) * 1_000).toISOString();
  const folders = Array.from({ length: count }, (_, index) => join(folder, `part-${index + 1}`));
  const children = folders.map((out, index) => {
    const shard = ['--shard', `${index + 1}/${count}`, '--start-at', startAt, '--seed', 'common'];
    return spawn(process.execPath, [main, 'load', ...options, ...shard, '--out', out]);
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
  await Promise.all(ended);
  return { folders, errors };
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

const patient = ['--timeout', '60s', '--finality-timeout', '60s', '--warmup', '0s'];

test('three generators: merged counts equal the finalized transactions of the log', async () => {
  const what = ['--workload', 'transactions', '--batch', '10', '--rate', '90'];
  const all = [...what, '--duration', '4s', ...patient];
  const { folders, url } = await generateInTime(all, 3);
  const results = folders.map(
    (folder) => JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8')) as LoadResult,
  );
  const ended = await folkmoot(['load', 'merge', ...folders, '--json', '--clock-bound', '10s']);
  const merged = JSON.parse(ended.stdout) as LoadResult;
  expect(merged.transactions.finalized).toBe(await countFinalized(url));
  expect(merged.transactions.finalized).toBe(sum(results.map((r) => r.transactions.finalized)));
  expect(merged.finality.count).toBe(merged.transactions.finalized);
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
