/** Short load runs in this process, for tests, with checks that apply to any result. */
import { type LoadOptions, loadDefaults, workloadOf } from '../../../dist/bench/load/options.js';
import { LoadResult } from '../../../dist/bench/load/result.js';
import { type LoadHooks, runLoad } from '../../../dist/bench/load/run.js';
import { Value } from '../../../dist/engine/protocol/bundled/typebox.js';

export type Operation = LoadResult['operations'][number];
export type { LoadResult };

const DURATION_MS = 1_500;

/**
 * Repeats an attempt until enough has happened. On a busy machine less happens per second, so each
 * attempt is twice as long as the preceding attempt. Each attempt starts with a new server.
 */
export async function longEnough<Found>(
  attempt: (durationMs: number) => Promise<Found>,
  isEnough: (found: Found) => boolean,
  durationMs = DURATION_MS,
): Promise<Found> {
  const found = await attempt(durationMs);
  if (isEnough(found) || durationMs > 60_000) return found;
  return longEnough(attempt, isEnough, 2 * durationMs);
}

/** Repeats an attempt until it is as wanted, at most 20 times. */
export async function until<Found>(
  attempt: () => Promise<Found>,
  isWanted: (found: Found) => boolean,
): Promise<Found> {
  for (let left = 20; ; left -= 1) {
    const found = await attempt();
    if (left === 0 || isWanted(found)) return found;
  }
}

/** True if every scheduled arrival was sent. A late generator drops those that are left. */
export const isWhole = ({ arrivals, operations }: LoadResult): boolean =>
  sum(scheduled(operations).map(({ sent }) => sent)) >= arrivals.intended;

/**
 * Repeats an attempt until the generator has kept its schedule and sent everything in time. A late
 * generator's figures describe the generator, not the server.
 */
export const onSchedule = <Found extends { result: LoadResult }>(attempt: () => Promise<Found>) =>
  until(attempt, ({ result }) => isWhole(result) && result.generator.lag.p99! < MOST_LAG_MS);

/** Maximum generator lag, small compared with the differences that the tests check. */
const MOST_LAG_MS = 100;

const scheduled = (operations: readonly Operation[]) =>
  operations.filter(({ operation }) => !operation.includes('beside'));

/** Runs a load without a warm-up, so that all scheduled requests are measured. */
export async function load(
  { url }: { url: string },
  asked: Partial<LoadOptions>,
  hooks: LoadHooks = {},
): Promise<LoadResult> {
  const workload = asked.workload ?? 'reads';
  const result = await runLoad(
    {
      ...loadDefaults,
      ...workloadOf(workload),
      ...{ url, workload, concurrency: null, seed: 'known', keepAgents: false },
      ...{ warmupMs: 0, durationMs: DURATION_MS },
      // The timeouts are long enough for a busy machine, so that only requests that never return
      // are late.
      ...{ timeoutMs: 60_000, finalityTimeoutMs: 60_000 },
      ...asked,
    },
    hooks,
  );
  expectSound(result);
  return result;
}

/** Checks that a result's sums add up, and that every sample has a request. */
export function expectSound(result: LoadResult): void {
  expect([...Value.Errors(LoadResult, result)]).toEqual([]);
  const { arrivals, operations, transactions, finality, delivery, seconds } = result;
  for (const one of operations) {
    const failed = one.lies + one.timed_out + one.broken + one.unfinished;
    expect(one.accepted + refusedBy(one) + failed, one.operation).toBe(one.sent);
    expect([one.response.count, one.service.count]).toEqual([one.accepted, one.accepted]);
  }
  const all = scheduled(operations);
  expect(sum(all.map(({ accepted }) => accepted))).toBe(arrivals.accepted);
  expect(sum(all.map(({ sent }) => sent))).toBeLessThanOrEqual(arrivals.intended);
  const { finalized, timed_out, unfinished, proposed, accepted } = transactions;
  expect(finalized + timed_out + unfinished).toBe(proposed);
  expect(accepted).toBeLessThanOrEqual(proposed);
  expect(finality.count).toBe(finalized);
  expect(delivery.delivered).toBeLessThanOrEqual(delivery.expected);
  expect(delivery.latency.count).toBe(delivery.delivered);
  expect(sum(seconds.map((second) => second.intended))).toBe(arrivals.intended);
  expect(sum(seconds.map((second) => second.accepted))).toBe(arrivals.accepted);
}

export function operation(result: LoadResult, name: string): Operation {
  const found = result.operations.find((one) => one.operation === name);
  const names = result.operations.map((one) => one.operation);
  if (!found) throw new Error(`no operation ${name}, only ${names.join(', ')}`);
  return found;
}

export const refusedBy = ({ refused }: Operation) => sum(refused.map(({ count }) => count));

export const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

interface Blocks {
  blocks: { transactions: number }[];
  next_cursor: string | null;
}

/** Counts the transactions in finalized blocks by the log of the server. */
export async function countFinalized(url: string): Promise<number> {
  let [count, cursor]: [number, string | null] = [0, ''];
  while (cursor !== null) {
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const target = `${url}/api/v1/blocks?status=finalized&limit=1000${more}`;
    const { data } = (await (await fetch(target)).json()) as { data: Blocks };
    count += sum(data.blocks.map(({ transactions }) => transactions));
    cursor = data.next_cursor;
  }
  return count;
}
