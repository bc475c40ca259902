/** Uplinks are first in, first out for any windows: checked against a simple model. */
import fc from 'fast-check';
import type { Scenario } from 'folkmoot/sim';
import { Outbox } from '../../../dist/sim/world/due-queue.js';
import { Faults } from '../../../dist/sim/world/faults.js';
import { computeDeparture, Uplinks, waitMs } from '../../../dist/sim/world/links.js';

/** Observes nothing. */
const silent = {
  ...{ event() {}, refused() {}, published() {}, traffic() {} },
  ...{ waited() {}, asked() {}, decided() {}, ignored() {} },
};
const AGENTS = 3;

interface Message {
  from: number;
  at: number;
  bytes: number;
  copies: number;
}

const messages = fc.array(
  fc.record({
    ...{ from: fc.nat(AGENTS - 1), at: fc.nat(400), bytes: fc.oneof(fc.nat(40), fc.nat(2_000)) },
    copies: fc.nat(5),
  }),
  { maxLength: 60 },
);
const rates = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(10_000_000)), {
  minLength: AGENTS,
  maxLength: AGENTS,
});
const crashes = fc.array(fc.record({ from: fc.nat(AGENTS - 1), at: fc.nat(400) }), {
  maxLength: 3,
});
type Crash = { from: number; at: number };

function faultsOf(struck: readonly Crash[]): Faults {
  const agents = Array.from({ length: AGENTS }, (_, at) => ({ group: `g${at}`, count: 1 }));
  const faults = struck.map(({ from, at }) => {
    return { kind: 'crash', start_ms: at, length_ms: 1, whom: [{ group: `g${from}` }] };
  });
  return new Faults({ faults, agents, population: AGENTS } as unknown as Scenario, '1', 0);
}

/** Departure of each copy, in fractions of a millisecond; depends on the uplink's whole past. */
function plain(sent: readonly Message[], kbps: readonly number[], struck: readonly Crash[]) {
  return kbps.flatMap((rate, agent) => {
    const per = BigInt(rate);
    const crashed = struck.filter(({ from }) => from === agent).map(({ at }) => at);
    let free = 0n;
    let before = 0;
    return sent
      .filter(({ from }) => from === agent)
      .map(({ at, bytes, copies }) => {
        const instant = BigInt(at) * per;
        // A crash discards all copies under way.
        const emptied = crashed.some((one) => before < one && one <= at);
        if (emptied || free < instant) free = instant;
        before = at;
        return Array.from({ length: copies }, () => {
          free += 8n * BigInt(bytes);
          const left = (free + per - 1n) / per;
          const lost = crashed.some((one) => at < one && BigInt(one) < left);
          return lost ? Number.POSITIVE_INFINITY : Number(left);
        });
      });
  });
}

/** The same with an outbox that is flushed at the end of each window. */
function windowed(sent: readonly Message[], kbps: number[], struck: Crash[], windowMs: number) {
  const left = new Map<Message, number[]>();
  const waited: number[] = [];
  const observer = {
    ...silent,
    waited: (count: number, ms: number) => waited.push(count, ms),
  };
  const outbox = new Outbox(new Uplinks(Uint32Array.from(kbps), faultsOf(struck)), observer);
  for (let end = windowMs; end <= 400 + windowMs; end += windowMs) {
    const now = sent.filter(({ at }) => end - windowMs <= at && at < end);
    // As in a world: calls send first, then agents pass on what arrived.
    const late = now.filter((_, index) => index % 2 === 1);
    for (const one of [...now.filter((each) => !late.includes(each)), ...late]) {
      outbox.put({
        ...one,
        leaves: (departure) => {
          const copies = Array.from({ length: one.copies }, (_, copy) => copy);
          left.set(
            one,
            copies.map((copy) => computeDeparture(departure, copy)),
          );
          for (const copy of copies) expect(waitMs(departure, copy)).toBeGreaterThanOrEqual(0);
        },
      });
    }
    outbox.empty();
  }
  const copies = sent.flatMap((one) => left.get(one)!);
  const lost = copies.filter((at) => at === Number.POSITIVE_INFINITY).length;
  const counted = waited.filter((_, index) => index % 2 === 0).reduce((sum, one) => sum + one, 0);
  expect(counted).toBe(copies.length - lost);
  return kbps.flatMap((_, agent) =>
    sent.filter(({ from }) => from === agent).map((one) => left.get(one)!),
  );
}

test('uplinks: each message leaves after all earlier ones, for any windows', () => {
  const property = fc.property(
    messages,
    rates,
    crashes,
    fc.integer({ min: 1, max: 60 }),
    (...drawn) => {
      const [unordered, kbps, struck, windowMs] = drawn;
      // At one instant, calls precede passed-on messages: no two messages of one sender share it.
      const taken = new Set<string>();
      const sent = unordered
        .filter(({ from, at }) => !taken.has(`${from} ${at}`) && taken.add(`${from} ${at}`))
        .sort((a, b) => a.at - b.at);
      expect(windowed(sent, kbps, struck, windowMs)).toEqual(plain(sent, kbps, struck));
    },
  );
  fc.assert(property, { numRuns: 500 });
});

test('uplinks: messages of one instant leave in the order in which they were sent', () => {
  const sent = Array.from({ length: 5 }, (_, at) => ({ from: 0, at: 7, bytes: at, copies: 2 }));
  const found = windowedInOrder(sent);
  expect(found).toEqual([...found].sort((a, b) => a - b));
  expect(found.at(-1)).toBe(7 + Math.ceil((2 * 8 * 10) / 3));
});

function windowedInOrder(sent: readonly Message[]): number[] {
  const outbox = new Outbox(new Uplinks(Uint32Array.of(3), faultsOf([])), silent);
  const left: number[] = [];
  const leaves = (departure: Parameters<typeof computeDeparture>[0]) =>
    left.push(computeDeparture(departure, 0), computeDeparture(departure, 1));
  for (const one of sent) outbox.put({ ...one, leaves });
  outbox.empty();
  return left;
}
