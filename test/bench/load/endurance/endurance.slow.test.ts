/**
 * A server under long load at 70 % of its capacity: it loses no event, its log replays, its disk
 * grows only by the size of votes, and nothing else grows. The measurements are printed.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
  // A busy machine may stall a server for seconds, which is not the subject of this test.
  timeoutMs: 30_000,
} as const;

/**
 * Warm-up until buffers are full: the ring of the feed holds 16,384 events, and reputations, which
 * start at 50 and are reported when they change by a tenth of a point, settle after about 60 votes
 * per agent. Until then each vote causes two events, later hardly more than one.
 */
const WARM_VOTES = 10_000;

/**
 * Allowed growth between the first third of a run and the last. Heap is reachable memory and varies
 * by half a mebibyte. The other includes memory kept by allocators, more on a faster machine.
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
  // The connections of the load are closed with it.
  await expect.poll(() => filesOf(server)).toBeLessThanOrEqual(before.files);

  await stop(server);
  const replayed = await folkmoot(['replay', data, '--signatures']);
  expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0);
});

/** Capacity of a warm server, by a closed loop. */
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

/** The run under test, and samples of the server during the run. */
async function loaded(server: Host, ratePerS: number) {
  const everySecond = Math.ceil(enduranceSeconds / 120);
  const taken: Promise<Vitals>[] = [];
  let seconds = 0;
  const result = await load(
    server,
    {
      ...votes,
      rate: Math.round(ratePerS),
      warmupMs: 1_000,
      durationMs: 1_000 * enduranceSeconds,
    },
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

/** On any machine, nothing was refused or lost. */
function expectAllAccepted({ ended, arrivals, operations }: LoadResult): void {
  expect(ended).toBe('complete');
  expect(arrivals.accepted).toBeGreaterThan(0);
  for (const { operation, sent, accepted, refused } of operations) {
    expect({ operation, refused, accepted }).toEqual({ operation, refused: [], accepted: sent });
  }
}

/** Every event arrived in order, and every vote on the server was among them. */
async function expectAllHeard(listener: Listener, least: number): Promise<void> {
  expect(listener.holes).toBe(0);
  expect(listener.votes).toBe(await listener.heldVotes());
  // A run does not count the votes of its first second, and those that end its last block.
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
