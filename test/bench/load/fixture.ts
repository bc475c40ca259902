/** Generated results of any size. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { stringify } from 'yaml';
import type {
  LoadResult,
  Operation,
  Percentiles,
  Probe,
  Second,
} from '../../../dist/bench/load/result.js';
import { temporaryFolder } from '../../support/fixture.js';

/** Serves HTTP on a free port until the end of the test, and returns the URL. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Writes files into a new folder, objects as YAML, and returns the path of the first. */
export function written(files: Record<string, string | object>): string {
  const folder = temporaryFolder();
  for (const [name, file] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof file === 'string' ? file : stringify(file));
  }
  return join(folder, Object.keys(files)[0]!);
}

/** Generates pseudo-random numbers from a seed. */
export function noise(seed = 1): () => number {
  let state = seed + 12_345;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

export interface Shape {
  seed?: number;
  workload?: LoadResult['asked']['workload'];
  operations?: readonly string[];
  rate?: number;
  seconds?: number;
  /** Median service time, in milliseconds. */
  medianMs?: number;
  /** Fraction of requests that fail. */
  failing?: number;
  /** True to send no responses for one second in the middle of the run. */
  stall?: boolean;
}

export function loadResult(shape: Shape = {}, changes: Partial<LoadResult> = {}): LoadResult {
  const { workload = 'votes', operations = ['vote'], rate = 1_000, seconds = 10 } = shape;
  const { failing = 0.01, seed = 1 } = shape;
  const chance = noise(seed);
  const intended = rate * seconds;
  const shares = operations.map((_, index) => (index === 0 ? operations.length + 1 : 1));
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const made = operations.map((name, index) =>
    operationOf(name, Math.round((intended * shares[index]!) / whole), shape, chance),
  );
  const accepted = Math.round(intended * (1 - failing));
  const blocks = workload === 'transactions' || workload === 'mixed';
  const proposed = blocks ? intended : 0;
  return {
    format: 'folkmoot-load-1',
    started: '2025-11-21T20:50:54.120Z',
    machine: '2 x Some Processor at 2.5 GHz',
    node: 'v20.20.0',
    commit: '0123456789abcdef0123456789abcdef01234567',
    seed: `seed-${seed}`,
    r: 12_400,
    server: {
      ...{ url: 'http://127.0.0.1:8080', version: '0.1.0', limits_profile: 'bench' },
      ...{ durable: true, network_id: 'devnet', epoch: 'b6f2c1d0e9a84b57' },
    },
    asked: {
      ...{ workload, loop: 'open', rate, concurrency: null, agents: 1_000 },
      ...{ batch: blocks ? 100 : 0, duration_s: seconds, warmup_s: 2, timeout_ms: 5_000 },
      ...{ finality_timeout_ms: 30_000, connections: 128 },
    },
    verdict: 'VALID',
    reasons: [],
    ended: 'complete',
    measured_s: seconds,
    arrivals: {
      intended,
      accepted,
      accepted_per_s: accepted / seconds,
      of_target: accepted / intended,
      halves: [
        { accepted: Math.ceil(accepted / 2), response_p50: 4.1 },
        { accepted: Math.floor(accepted / 2), response_p50: 4.2 },
      ],
    },
    transactions: {
      ...{ proposed, accepted: proposed, finalized: Math.floor(proposed * 0.99) },
      timed_out: Math.floor(proposed * 0.004),
      unfinished: proposed - Math.floor(proposed * 0.99) - Math.floor(proposed * 0.004),
      tps: Math.floor(proposed * 0.99) / seconds,
    },
    finality: blocks ? { ...latencies(proposed, 180, chance), ...independent(100) } : nothing(),
    delivery:
      workload === 'subscribers'
        ? {
            ...{ subscribers: 100, expected: 10_000, delivered: 9_998, holes: 2, disconnects: 0 },
            deliveries_per_s: 9_998 / seconds,
            latency: { ...latencies(9_998, 6, chance), ...independent(100) },
          }
        : {
            ...{ subscribers: 0, expected: 0, delivered: 0, holes: 0, disconnects: 0 },
            ...{ deliveries_per_s: 0, latency: nothing() },
          },
    operations: made,
    generator: {
      ...{ lag: latencies(intended, 0.4, chance), utilization: 0.46, prepared_ahead: 1 },
      ...{ keys: 1_000, messages: intended },
    },
    seconds: Array.from({ length: seconds }, (_, second) => secondOf(second, shape, chance)),
    saturation: null,
    tiers: [],
    ...changes,
  };
}

function operationOf(name: string, sent: number, shape: Shape, chance: () => number): Operation {
  const { failing = 0.01, medianMs = 4, rate = 1_000, stall = false } = shape;
  const failed = Math.round(sent * failing);
  const parts = [0.5, 0.2, 0.15, 0.1].map((share) => Math.floor(failed * share));
  const [conflicts = 0, limited = 0, late = 0, broken = 0] = parts;
  const refused = [
    { status: 409, code: 'CONSENSUS_ERROR', reason: 'block_closed', count: conflicts },
    { status: 429, code: 'RATE_LIMIT_EXCEEDED', reason: '-', count: limited },
  ].filter(({ count }) => count > 0);
  const service = samples(sent - late - broken, medianMs, chance);
  // Requests that arrive during a stall wait until it ends.
  const waiting = stall ? Math.min(service.length, rate) : 0;
  const response = service.map((ms, index) =>
    index < waiting ? ms + (1_000 * index) / waiting : ms + 0.3 * chance(),
  );
  return {
    ...{ operation: name, sent },
    ...{ accepted: sent - conflicts - limited - late - broken - (failed > 0 ? 1 : 0), refused },
    ...{ lies: failed > 0 ? 1 : 0, timed_out: late, broken, unfinished: 0 },
    ...{ response: percentilesOf(response), service: percentilesOf(service) },
  };
}

function secondOf(second: number, shape: Shape, chance: () => number): Second {
  const { rate = 1_000, failing = 0.01, seconds = 10, medianMs = 4 } = shape;
  const stalled = (shape.stall ?? false) && second === Math.floor(seconds / 2);
  const failed = Math.min(rate, Math.round(rate * failing * 2 * chance()));
  return {
    ...{ second, intended: rate, sent: rate },
    ...{ accepted: stalled ? Math.round(rate * 0.1) : rate - failed, failed },
    finalized_transactions: Math.round(rate * (0.9 + 0.2 * chance())),
    response_p50: medianMs * (0.9 + 0.2 * chance()),
    response_p95: stalled ? 900 : medianMs * (2 + chance()),
    ...{ response_p99: stalled ? 990 : medianMs * (3 + chance()), lag_max: 1 + 3 * chance() },
  };
}

/** Draws samples mostly near the median, with a long tail. */
function samples(count: number, medianMs: number, chance: () => number): number[] {
  return Array.from({ length: count }, () => {
    const spread = chance() + chance() + chance() - 1.5;
    const tail = chance() < 0.01 ? 4 + 30 * chance() ** 4 : 1;
    return medianMs * Math.exp(0.9 * spread) * tail;
  });
}

const latencies = (count: number, medianMs: number, chance: () => number): Percentiles =>
  percentilesOf(samples(count, medianMs, chance));

export function percentilesOf(times: readonly number[]): Percentiles {
  if (times.length === 0) return nothing();
  const histogram = build({ lowestDiscernibleValue: 1, numberOfSignificantValueDigits: 3 });
  for (const ms of times) histogram.recordValue(Math.round(ms * 1_000));
  const at = (percentile: number) => histogram.getValueAtPercentile(percentile) / 1_000;
  return {
    ...{ count: times.length, min: histogram.minNonZeroValue / 1_000 },
    ...{ mean: histogram.mean / 1_000, p50: at(50), p90: at(90), p95: at(95), p99: at(99) },
    ...{ p999: times.length < 1_000 ? null : at(99.9), max: at(100) },
    histogram: encodeIntoCompressedBase64(histogram),
  };
}

/** Members of times of which only this many samples are independent. */
const independent = (count: number) => ({
  independent: count,
  ...(count < 1_000 ? { p999: null } : {}),
});

export const nothing = (): Percentiles => ({
  ...{ count: 0, min: null, mean: null, p50: null, p90: null, p95: null, p99: null, p999: null },
  ...{ max: null, histogram: null },
});

/** An outage of two seconds, with fewer or more members. */
export const outage = (
  change: Partial<NonNullable<LoadResult['outages']>[number]> = {},
): NonNullable<LoadResult['outages']>[number] => ({
  ...{ start_ms: 3_000, end_ms: 5_000, duration_ms: 2_000, rate_before: 100, recovery_ms: 400 },
  failed: [{ operation: 'vote', count: 120 }],
  ...change,
});

/** Returns three brackets, as `--saturate` does. */
export function saturation(): NonNullable<LoadResult['saturation']> {
  const probe = (rate: number, holds: boolean, r: number): Probe => ({
    ...{ rate, accepted_per_s: holds ? rate * 0.998 : rate * 0.81 },
    ...{ p99: holds ? 12 + rate / 150 : 800, holds, verdict: holds ? 'VALID' : 'INVALID' },
    reasons: holds ? [] : ['81 of 100 arrivals/s accepted, 81 % (expected at least 99 %)'],
    ...{ r_before: r, r_after: r * 0.99 },
  });
  const brackets = [
    [5_600, 6_100, 12_400],
    [5_300, 5_900, 12_200],
    [5_800, 6_300, 12_500],
  ].map(([holds = 0, fails = 0, r = 0]) => {
    const rates = [1_000, 2_000, 4_000, 8_000, holds, fails];
    const probes = rates.map((rate) => probe(rate, rate !== 8_000 && rate !== fails, r));
    return { holds, fails, unstable: false, probes };
  });
  return { slo: ['p99<=200ms'], brackets, overlap: true };
}
