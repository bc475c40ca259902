/**
 * Whether a run's figures can be trusted, and why not. The rule is this file:
 *
 * - INVALID: the server failed, nothing was accepted, or less than 99 % of what was asked for.
 * - CLIENT_BOUND: it was the generator that fell short. A generator is late when a hundredth of all
 *   arrivals was taken up more than 10 ms after they were due, and busy when its event loop was in
 *   use for more than 95 % of the time. Late or busy, it is blamed for a rate that was not reached;
 *   late, also for latencies of which its lag is more than a tenth; busy, also for whatever rate
 *   the closed loop gave. Waiting for a free connection is no lag: that is the server's slowness.
 * - UNSTABLE: the halves of the run disagree: in the rate accepted by more than a tenth, or in the
 *   median response time by more than a factor of two and more than 2 ms.
 * - VALID: none of these.
 */
import type { LoadResult } from './result.js';

export interface Half {
  accepted: number;
  p50: number | null;
}

export interface Evidence {
  ended: LoadResult['ended'];
  /** Arrivals a second that were asked for; null in the closed loop. */
  targetPerS: number | null;
  acceptedPerS: number;
  lagP99: number | null;
  responseP99: number | null;
  /** Of the event loop, 0 to 1. */
  utilization: number;
  /** Null where the run ended early. */
  halves: readonly [Half, Half] | null;
}

export type Verdict = Pick<LoadResult, 'verdict' | 'reasons'>;

const LEAST_SHARE = 0.99;
const LATE_MS = 10;
const BUSY = 0.95;
const DIFFERENCE = 0.1;

export function verdictOf(evidence: Evidence): Verdict {
  const { ended, acceptedPerS } = evidence;
  if (ended === 'failed') return { verdict: 'INVALID', reasons: [] };
  const bound = boundBy(evidence);
  if (bound) return { verdict: 'CLIENT_BOUND', reasons: [bound] };
  if (acceptedPerS === 0) return { verdict: 'INVALID', reasons: ['nothing was accepted'] };
  const short = shortBy(evidence);
  if (short) return { verdict: 'INVALID', reasons: [short] };
  const differences = differencesOf(evidence);
  return { verdict: differences.length > 0 ? 'UNSTABLE' : 'VALID', reasons: differences };
}

/** Why the generator is to blame, or null. */
function boundBy(evidence: Evidence): string | null {
  const { lagP99, responseP99, utilization, targetPerS } = evidence;
  const lag = lagP99 ?? 0;
  const late = lag > LATE_MS;
  const busy = utilization > BUSY;
  const short = shortBy(evidence);
  const material = late && lag > DIFFERENCE * (responseP99 ?? 0);
  if (!((short && (late || busy)) || material || (busy && targetPerS === null))) return null;
  const facts = [
    ...(late ? [`its lag is ${figure(lag)} ms at the 99th percentile`] : []),
    ...(busy ? [`its event loop was busy ${figure(100 * utilization)} % of the time`] : []),
  ];
  const what = short ? `: ${short}` : '';
  return `the generator did not keep its schedule (${facts.join(', ')})${what}`;
}

function shortBy({ targetPerS, acceptedPerS }: Evidence): string | null {
  if (targetPerS === null || acceptedPerS >= LEAST_SHARE * targetPerS) return null;
  const share = (100 * acceptedPerS) / targetPerS;
  return (
    `${figure(acceptedPerS)} of ${figure(targetPerS)} arrivals a second were accepted, ` +
    `${figure(share)} %; expected at least ${100 * LEAST_SHARE} %`
  );
}

function differencesOf({ halves }: Evidence): string[] {
  if (!halves) return [];
  const [first, second] = halves;
  const most = Math.max(first.accepted, second.accepted);
  const least = Math.min(first.accepted, second.accepted);
  const times = [first.p50 ?? 0, second.p50 ?? 0].sort((a, b) => a - b) as [number, number];
  const slower = times[1] > 2 * times[0] && times[1] - times[0] > 2;
  return [
    ...(most - least > DIFFERENCE * most
      ? [`the halves of the run accepted ${first.accepted} and ${second.accepted} arrivals`]
      : []),
    ...(slower
      ? [`the halves' medians are ${figure(first.p50 ?? 0)} and ${figure(second.p50 ?? 0)} ms`]
      : []),
  ];
}

const figure = (value: number) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });
