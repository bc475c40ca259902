/** Killed runs: the promised entries are durable and replay. */
import { existsSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { composeRegister } from 'folkmoot';
import { type CrashPoint, crashPoints } from 'folkmoot/testing';
import { folkmoot } from '../support/cli.js';
import type { Ended, SimJson } from '../support/command.js';
import { counts } from '../support/counts.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../support/fixture.js';
import { begin } from '../support/running-command.js';
import { logLines, replayHere } from '../support/runs.js';
import { drawnFrom, seed } from '../support/seeded.js';

const draw = drawnFrom(seed);
const size = ['--seed', '7', '--agents', '60', '--blocks', '10'];
const networkId = 'folkmoot-sim';

/** Parses the last promise on standard error: `durable to entry N digest D`. */
function lastTold(stderr: string): { seq: number; digest: string } | null {
  const told = [...stderr.matchAll(/durable to entry (\d+) digest ([0-9a-f]{64})\n/g)].at(-1);
  return told ? { seq: Number(told[1]), digest: told[2]! } : null;
}

/** Expects every promise of a killed run to hold. */
async function expectIntact(out: string, stderr: string): Promise<void> {
  const network = join(out, 'network');
  const told = lastTold(stderr);
  const replayed = await folkmoot(['replay', out, '--signatures', '--json']);
  // If the run was killed before genesis was durable, then nothing was promised and the folder is
  // empty.
  const empty = replayed.stderr.includes('no network found');
  const shown = `${replayed.stderr}${replayed.stdout}`;
  expect([replayed.code, told !== null && empty], shown).toEqual([empty ? 2 : 0, false]);
  const before = empty ? { entries: 0 } : JSON.parse(replayed.stdout);
  if (told) {
    expect(before.entries).toBeGreaterThan(told.seq);
    const line = (await logLines(out))[told.seq]!;
    expect([line.seq, line.digest]).toEqual([told.seq, told.digest]);
  }
  const { network: reopened, submit } = await testNetwork({
    path: network,
    genesis: { network_id: networkId },
  });
  const entries = reopened.read.position.seq + 1;
  expect(entries).toBe(Math.max(1, before.entries));
  const request = composeRegister(signatoryOf(1), '2025-01-01T00:00:00.000Z', {
    ...{ name: 'Latecomer', personality: 'lawful', capabilities: ['validator'] },
  });
  expect(await submit(request)).toMatchObject({ result: 'accepted' });
  await reopened.close();
  const after = await replayHere(network);
  expect(after).toMatchObject({ match: true, first_divergence: null });
  expect(after.entries).toBeGreaterThan(entries);
}

/** Number of passes through each point on a fast disk. The default is 1. */
const passes: Partial<Record<CrashPoint, number>> = {
  'commit.before': 30,
  'commit.after': 30,
  'publish.after': 30,
};

/** Runs until this pass, or until an earlier pass if a slow disk needs fewer commits. */
async function killedAt(point: CrashPoint, pass: number): Promise<{ out: string; ended: Ended }> {
  const out = join(temporaryFolder(), 'run');
  const env = { FOLKMOOT_CRASH_AT: `${point}:${pass}` };
  const ended = await folkmoot(['sim', ...size, '--out', out], { env });
  if (ended.code !== 0 || pass === 1) return { out, ended };
  const { commits } = JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8')) as SimJson;
  // Genesis is a separate commit without a publication.
  expect(commits - (point === 'publish.after' ? 1 : 0)).toBeLessThan(pass);
  return killedAt(point, Math.ceil(commits / 2));
}

describe(`kill: at each named point, seed ${seed}`, () => {
  // Other tests cover the crash points in `folkmoot archive` and in snapshots.
  const passed = crashPoints.filter((point) => !/^(archive|compact|snapshot)\./.test(point));
  const plans = passed.flatMap((point) => {
    const most = passes[point] ?? 1;
    if (most === 1) return [{ point, pass: 1 }];
    const drawn = Array.from({ length: counts.killsAtPoints }, () => 2 + draw(most - 1));
    return [1, ...drawn].map((pass) => ({ point, pass }));
  });

  test.each(plans)('kill: at pass $pass of $point, promised entries are intact', async ({
    point,
    pass,
  }) => {
    const { out, ended } = await killedAt(point, pass);
    expect([ended.signal, ended.stdout]).toEqual(['SIGKILL', '']);
    expect(existsSync(join(out, 'summary.json'))).toBe(false);
    await expectIntact(out, ended.stderr);
  });
});

/**
 * Kills a run after a number of changes to its folder, counted from a given tenth of the run. The
 * run pauses at that tenth until the folder is watched. A run that ends earlier sees fewer changes.
 */
async function killedRun(tenth: number, changes: number): Promise<{ out: string; stderr: string }> {
  const out = join(temporaryFolder(), 'run');
  const there = new RegExp(`^[${tenth}-9]0 %`, 'm');
  const run = begin(['sim', ...size, '--out', out], there);
  await run.printed(there);
  let left = changes;
  const watcher = watch(out, { recursive: true }, () => {
    left -= 1;
    if (left <= 0) run.child.kill('SIGKILL');
  });
  onTestFinished(() => watcher.close());
  if (changes > 0) run.goOn();
  const { signal } = await (changes > 0 ? run.ended : run.stop('SIGKILL'));
  watcher.close();
  if (signal === null && changes > 0) return killedRun(tenth, Math.floor(changes / 2));
  expect(signal).toBe('SIGKILL');
  return { out, stderr: run.stderr() };
}

describe(`kill: at random, seed ${seed}`, () => {
  const moments = Array.from({ length: counts.killsAtRandom }, () => {
    return { tenth: 1 + draw(8), changes: 1 + draw(8) };
  });

  test.each(moments)('kill: $changes writes after tenth $tenth, entries are intact', async ({
    tenth,
    changes,
  }) => {
    const { out, stderr } = await killedRun(tenth, changes);
    await expectIntact(out, stderr);
  });
});
