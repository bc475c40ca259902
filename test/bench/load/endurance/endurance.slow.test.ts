/**
 * A server under long load at 70 % of its capacity. The server loses no event, its log replays, its
 * disk usage grows only by the size of the votes, and nothing else grows. The test prints the
 * measurements.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadResult } from '../../../../bench/load/result.js';
import { folkmoot } from '../../../support/cli.js';
import { counts } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { type Host, host, openFiles, stop } from '../../../support/host.js';
import { load } from '../generator.js';
import { Listener } from './listener.js';
import { hasProc, nodeArgs, type Trend, trendOf, type Vitals, vitalsOf } from './vitals.js';

const SHARE = 0.7;
const CONNECTIONS = 128;
const votes = {
  workload: 'votes',
  agents: 100,
  keepAgents: true,
  connections: CONNECTIONS,
  // A busy machine may stall a server for seconds. This test does not check for such stalls.
  timeoutMs: 30_000,
} as const;

/**
 * Warm-up until buffers are full. The feed's ring holds 16,384 events. Reputations start at 50, are
 * reported when they change by a tenth of a point, and settle after about 60 votes per agent. Until
 * then each vote causes two events, and later hardly more than one.
 */
const WARM_VOTES = 10_000;

/**
 * Allowed growth between the first and the last third of a run. The heap is reachable memory, and
 * varies by half a mebibyte. The other limit includes memory that allocators retain, which is more
 * on a faster machine.
 */
const MEBIBYTE = 1024 * 1024;
const mostHeapBytes = (from: number) => 1.05 * from + MEBIBYTE;
const mostAnonymousBytes = (from: number) => 1.1 * from + 8 * MEBIBYTE;
const MOST_BYTES_PER_VOTE = 1_200;

const { enduranceSeconds, saturationSeconds } = counts;

const title = `endurance: ${enduranceSeconds} s at 70 % of saturation: nothing grows or is lost`;

test(title, async () => {
  const data = temporaryFolder();
  const server = await host({ data, nodeArgs });
  const listener = await Listener.open(server.url);
  const most = await saturated(server, listener);
  const before = { disk: diskBytes(data), votes: listener.votes, files: filesOf(server) };

  const { result, samples } = await loaded(server, SHARE * most.arrivals.accepted_per_s);
  await listener.caughtUp();
  const perVote = (diskBytes(data) - before.disk) / (listener.votes - before.votes);
  const trends = trendsOf(samples);
  print(result, perVote, trends);
  expectAllAccepted(result);
  await expectAllHeard(listener, before.votes + result.arrivals.accepted);
  expectSteady(trends);
  expect(perVote).toBeLessThan(MOST_BYTES_PER_VOTE);
  // The load's connections close when the load ends.
  await expect.poll(() => filesOf(server)).toBeLessThanOrEqual(before.files);

  await stop(server);
  const replayed = await folkmoot(['replay', data, '--signatures']);
  expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0);
});

/** Measures a warm server's capacity with a closed loop. */
async function saturated(server: Host, listener: Listener): Promise<LoadResult> {
  const durationMs = 1_000 * saturationSeconds;
  for (;;) {
    const result = await load(server, {
      ...votes,
      rate: null,
      concurrency: CONNECTIONS,
      durationMs,
    });
    expectAllAccepted(result);
    await listener.caughtUp();
    if (listener.votes >= WARM_VOTES) return result;
  }
}

/** Executes the run under test, and samples the server during the run. */
async function loaded(server: Host, ratePerS: number) {
  const everySecond = Math.ceil(enduranceSeconds / 120);
  const taken: Promise<Vitals>[] = [];
  let seconds = 0;
  const result = await load(
    server,
    { ...votes, rate: Math.round(ratePerS), warmupMs: 1_000, durationMs: 1_000 * enduranceSeconds },
    {
      onSecond({ phase }) {
        if (phase !== 'measured') return;
        seconds += 1;
        if (seconds % everySecond === 0) taken.push(vitalsOf(server));
      },
    },
  );
  return { result, samples: await Promise.all(taken) };
}

const diskBytes = (data: string) => statSync(join(data, 'data.mdb')).size;

const filesOf = ({ pid }: Host) => (hasProc ? openFiles(pid) : 0);

type Trends = Record<keyof Vitals, Trend | null>;

function trendsOf(samples: readonly Vitals[]): Trends {
  return {
    heapBytes: trendOf(samples.map(({ heapBytes }) => heapBytes)),
    anonymousBytes: trendOf(samples.map(({ anonymousBytes }) => anonymousBytes)),
    openFiles: trendOf(samples.map((one) => one.openFiles)),
  };
}

function expectSteady({ heapBytes, anonymousBytes, openFiles: files }: Trends): void {
  expect(heapBytes!.to).toBeLessThan(mostHeapBytes(heapBytes!.from));
  if (!anonymousBytes || !files) return;
  expect(anonymousBytes.to).toBeLessThan(mostAnonymousBytes(anonymousBytes.from));
  // Connections are opened on demand.
  expect(files.to).toBeLessThanOrEqual(files.from + CONNECTIONS);
}

/** Expects that nothing was refused or lost, on any machine. */
function expectAllAccepted({ ended, arrivals, operations }: LoadResult): void {
  expect(ended).toBe('complete');
  expect(arrivals.accepted).toBeGreaterThan(0);
  for (const { operation, sent, accepted, refused } of operations) {
    expect({ operation, refused, accepted }).toEqual({ operation, refused: [], accepted: sent });
  }
}

/** Expects that every event arrived in order, including every vote on the server. */
async function expectAllHeard(listener: Listener, least: number): Promise<void> {
  expect(listener.holes).toBe(0);
  expect(listener.votes).toBe(await listener.heldVotes());
  // A run does not count votes in its first second, or votes that end its last block.
  expect(listener.votes).toBeGreaterThanOrEqual(least);
}

function print({ arrivals, asked, operations }: LoadResult, perVote: number, trends: Trends): void {
  const shown = ({ from, to }: Trend, unit: number, digits: number) =>
    `${(from / unit).toFixed(digits)} -> ${(to / unit).toFixed(digits)}`;
  const { heapBytes, anonymousBytes, openFiles: files } = trends;
  const p99 = operations.find(({ operation }) => operation === 'vote')?.response.p99;
  const parts = [
    `${Math.round(arrivals.accepted_per_s)} of ${asked.rate} votes a second`,
    `p99 ${Math.round(p99 ?? 0)} ms`,
    ...(heapBytes ? [`heap ${shown(heapBytes, MEBIBYTE, 1)} MiB`] : []),
    ...(anonymousBytes ? [`RssAnon ${shown(anonymousBytes, MEBIBYTE, 1)} MiB`] : []),
    ...(files ? [`files ${shown(files, 1, 0)}`] : []),
    `disk ${Math.round(perVote)} bytes a vote`,
  ];
  process.stdout.write(`endurance: ${parts.join(', ')}\n`);
}
