/**
 * The known server's behaviours as data, with the requests that each behaviour affects. Choices are
 * made by counting, never at random, so that a test can compare exact numbers.
 */

export type Route =
  | 'meta'
  | 'state'
  | 'agents'
  | 'reputation'
  | 'register'
  | 'status'
  | 'vote'
  | 'propose'
  | 'meme';

export const reads: readonly Route[] = ['state', 'agents', 'reputation'];

/** Selects requests. The rule's clock starts with the first selected request. */
interface Hits {
  on: readonly Route[];
  /** Requests to leave alone before the count and the clock start. */
  after?: number;
  /** Interval: 1 selects every request, and 100 every hundredth request. */
  every?: number;
  startMs?: number;
  endMs?: number;
}

export type Behaviour = Hits &
  (
    | { does: 'delay'; fromMs: number; toMs: number }
    /** Responses due between `startMs` and `endMs` are sent at `endMs`. */
    | { does: 'stall' }
    /** Handles one request at a time, and responds after this time. */
    | { does: 'queue'; eachMs: number }
    /** Responds with 503 above this rate, after a burst of a fifth of a second. */
    | { does: 'limit'; perSecond: number }
    | { does: 'refuse'; status: number; code: string; reason: string }
    /** Responds with 200 without data, and does nothing. */
    | { does: 'lie' }
    /** Closes the connection, and does nothing. */
    | { does: 'drop' }
    /** Executes the request, then closes the connection in the middle of the response. */
    | { does: 'cut' }
    /** Never responds, and does nothing. */
    | { does: 'keepSilent' }
    /** Sends an endless response, at about 6 MB/s. */
    | { does: 'pour' }
    /** Affects the whole server once, at `startMs`. */
    | { does: 'closeSockets' | 'newEpoch' | 'die' }
  );

export interface Refusal {
  status: number;
  code: string;
  reason: string;
}

export type Treatment = 'answer' | 'refuse' | 'lie' | 'drop' | 'cut' | 'keepSilent' | 'pour';

/** Treatment of one request. */
export interface Plan {
  treatment: Treatment;
  dueMs: number;
  refusal: Refusal | null;
  /** Number of earlier requests that received this treatment. */
  ordinal: number;
}

/** Decides on requests in order of arrival. */
export function planner(
  behaviours: readonly Behaviour[],
  atOnce: (does: 'closeSockets' | 'newEpoch' | 'die', afterMs: number) => void,
): (route: Route, nowMs: number) => Plan {
  const rules = behaviours.map(rule);
  const done = new Map<Treatment, number>();
  return (route, nowMs) => {
    const plan: Plan = { treatment: 'answer', dueMs: nowMs, refusal: null, ordinal: 0 };
    for (const one of rules) {
      const hit = one.look(route, nowMs);
      if (hit === 'first' && isWhole(one.behaviour)) {
        atOnce(one.behaviour.does, one.behaviour.startMs ?? 0);
      } else if (hit) one.change(plan, nowMs);
    }
    plan.ordinal = done.get(plan.treatment) ?? 0;
    done.set(plan.treatment, plan.ordinal + 1);
    return plan;
  };
}

type Whole = Behaviour & { does: 'closeSockets' | 'newEpoch' | 'die' };

const isWhole = (behaviour: Behaviour): behaviour is Whole =>
  ['closeSockets', 'newEpoch', 'die'].includes(behaviour.does);

const tooFast: Refusal = { status: 503, code: 'NETWORK_ERROR', reason: 'QUEUE_FULL' };

const BURST_MS = 200;

/** Builds a rule for a behaviour, with a separate count and clock. */
function rule(behaviour: Behaviour) {
  const { on, after = 0, every = 1, startMs = 0, endMs = Number.POSITIVE_INFINITY } = behaviour;
  let seen = -after;
  let originMs = 0;
  let hits = 0;
  let freeMs = 0;
  let spentMs = 0;
  return {
    behaviour,
    look(route: Route, nowMs: number): 'first' | 'hit' | null {
      if (!on.includes(route)) return null;
      seen += 1;
      if (seen < 1) return null;
      if (seen === 1) originMs = nowMs;
      if (isWhole(behaviour)) return seen === 1 ? 'first' : null;
      if (behaviour.does === 'stall') return 'hit';
      const sinceMs = nowMs - originMs;
      return sinceMs >= startMs && sinceMs < endMs && seen % every === 0 ? 'hit' : null;
    },
    change(plan: Plan, nowMs: number): void {
      hits += 1;
      switch (behaviour.does) {
        case 'delay':
          plan.dueMs += behaviour.fromMs + (behaviour.toMs - behaviour.fromMs) * spread(hits);
          break;
        case 'stall':
          if (plan.dueMs >= originMs + startMs) plan.dueMs = Math.max(plan.dueMs, originMs + endMs);
          break;
        case 'queue':
          freeMs = Math.max(freeMs, nowMs) + behaviour.eachMs;
          plan.dueMs = freeMs;
          break;
        case 'limit':
          // Each accepted request uses its share of a second. Up to 200 ms can accumulate.
          spentMs = Math.max(spentMs, nowMs - BURST_MS);
          if (spentMs + 1_000 / behaviour.perSecond > nowMs) refuse(plan, tooFast);
          else spentMs += 1_000 / behaviour.perSecond;
          break;
        case 'refuse':
          refuse(plan, behaviour);
          break;
        case 'closeSockets':
        case 'newEpoch':
        case 'die':
          break;
        default:
          if (plan.treatment === 'answer') plan.treatment = behaviour.does;
      }
    },
  };
}

function refuse(plan: Plan, { status, code, reason }: Refusal): void {
  if (plan.treatment !== 'answer') return;
  plan.treatment = 'refuse';
  plan.refusal = { status, code, reason };
}

/** Spreads any number of requests evenly between 0 and 1, by multiples of the golden ratio. */
const spread = (ordinal: number) => (ordinal * 0.618_033_988_749_895) % 1;
