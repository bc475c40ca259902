/**
 * Progress of a load run in flight shows the result as if the run ended now, and does not affect
 * the run.
 */
import type { LoadResult } from '../../../../bench/load/result.js';
import type { LoadProgress } from '../../../../dist/bench/load/run.js';
import { load, longEnough, onSchedule } from '../generator.js';
import { type Behaviour, reads } from '../known/behaviour.js';
import { knownServer } from '../known/known-server.js';

/** Returns snapshots from every second. */
async function looked(behaviours: readonly Behaviour[], rate: number, durationMs: number) {
  const looks: { phase: LoadProgress['phase']; soFar: LoadResult }[] = [];
  const server = await knownServer({ behaviours: [...behaviours] });
  const result = await load(
    server,
    { rate, durationMs, warmupMs: 0 },
    { onSecond: ({ phase, soFar }) => void looks.push({ phase, soFar: soFar() }) },
  );
  return { looks, result };
}

test.concurrent('so far: has the figures up to then, and does not affect the result', async () => {
  const { looks, result } = await looked([], 100, 4_500);
  const found = [...looks.map(({ soFar }) => soFar), result];
  const of = (figure: (one: LoadResult) => number) => {
    const all = found.map(figure);
    expect(all).toEqual([...all].sort((a, b) => a - b));
  };
  of(({ arrivals }) => arrivals.intended);
  of(({ arrivals }) => arrivals.accepted);
  of(({ measured_s }) => measured_s);
  of(({ operations }) => operations[0]?.response.count ?? 0);
  for (const { soFar } of looks) {
    const { operations, seconds, arrivals, finality } = soFar;
    for (const { sent, accepted, response } of operations) {
      expect(accepted).toBeLessThanOrEqual(sent);
      expect([response.count, response.histogram, response.mean]).toEqual([accepted, null, null]);
    }
    expect([arrivals.halves, finality.count]).toEqual([[], 0]);
    // A finished second does not change, because a snapshot consumes nothing.
    for (const { second, response_p50, accepted } of seconds.slice(0, -1)) {
      expect(response_p50 !== null).toBe(accepted > 0);
      expect(result.seconds[second]!.response_p50).toBe(response_p50);
    }
  }
  for (const { accepted, response_p50, response_p95, response_p99 } of result.seconds) {
    if (accepted === 0) continue;
    const rising = [response_p50!, response_p95!, response_p99!];
    expect(rising).toEqual([...rising].sort((a, b) => a - b));
  }
});

test.concurrent('so far: slow responses are pending and do not affect the verdict', async () => {
  const behaviours = [{ on: reads, does: 'delay', fromMs: 1_200, toMs: 1_300 }] as const;
  const { looks } = await onSchedule(() => looked(behaviours, 20, 4_000));
  const known = looks.filter(({ soFar }) => soFar.measured_s >= 1);
  expect(known.length).toBeGreaterThan(0);
  for (const { soFar } of known) {
    expect(['VALID', 'CLIENT_BOUND']).toContain(soFar.verdict);
    expect(soFar.arrivals.accepted).toBeLessThan(soFar.arrivals.intended);
  }
});

test.concurrent('so far: reports a server that refuses or lags in time', async () => {
  const refusing = {
    ...{ on: reads, every: 4, does: 'refuse', status: 503 },
    code: 'A',
    reason: 'B',
  };
  const behind = { on: reads, does: 'queue', eachMs: 100 };
  for (const behaviour of [refusing, behind] as Behaviour[]) {
    const { looks } = await longEnough(
      (durationMs) => looked([behaviour], 200, durationMs),
      ({ looks: all }) => all.some(isTold),
      4_000,
    );
    const told = looks.find(isTold)!;
    expect(told.soFar.reasons.join()).toMatch(/arrivals\/s accepted/);
    expect(told.soFar.ended).toBe('complete');
  }
});

const isTold = ({ phase, soFar }: { phase: LoadProgress['phase']; soFar: LoadResult }) =>
  phase === 'measured' && soFar.measured_s >= 1 && soFar.verdict === 'INVALID';
