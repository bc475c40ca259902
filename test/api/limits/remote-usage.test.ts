/** What is spent at other servers, against what one server alone would have counted. */
import fc from 'fast-check';
import type { Outcome } from 'folkmoot';
import { expect, test } from 'vitest';
import { resolveLimits } from '../../../dist/api/contract/limit-table.js';
import { BlockShare } from '../../../dist/api/limits/block-share.js';
import { type Cost, computeCost } from '../../../dist/api/limits/cost.js';
import { Limits } from '../../../dist/api/limits/limits.js';
import { countRemoteUsage } from '../../../dist/api/limits/quota-refusals.js';
import { ChargedSignatures } from '../../../dist/api/limits/signature-quota.js';
import { refuse } from '../../../dist/engine/protocol/schema/reason.js';

const MINUTE_MS = 60_000;
const QUOTA = 3;
const key = 'a'.repeat(64);
const subject = `agent:${key}`;
const address = 'address:192.0.2.1';
const signatureOf = (number: number) => number.toString(16).padStart(128, '0');

const done = { result: 'accepted', data: {} } as Outcome;
const repeat = { result: 'duplicate', data: {} } as Outcome;
const refused: Outcome = { result: 'refused', refusal: refuse('BLOCK_UNKNOWN', { id: 'x' }) };

const vote = (number: number) =>
  ({ kind: 'vote', publicKey: key, signature: signatureOf(number), bytes: 200 }) as const;

/** A server's own counters, in the time that all have. */
function door(now: () => number) {
  const figures = resolveLimits('spec', { vote: QUOTA });
  const limits = new Limits('spec', figures, now);
  const charged = new ChargedSignatures(now);
  const blocks = new BlockShare(10, now);
  const count = countRemoteUsage({ limits, charged, blocks });
  const cost = (number: number) =>
    computeCost(limits, charged, vote(number), limits.account(address));
  const left = () => limits.account(subject).quota('vote')!.remaining;
  return { limits, blocks, count, cost, left };
}

type Door = ReturnType<typeof door>;

/** Something that was let in and stands in no order yet. */
interface UnderWay {
  at: Door;
  number: number;
  cost: Cost;
}

type Step = { do: 'ask'; door: number } | { do: 'order' } | { do: 'wait'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), door: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('order' as const) }) },
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 25_000 }) }),
);

test('quotas of three servers: each knows all that stands, and what it let in itself', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      let time = 1_000_000;
      const doors = [0, 1, 2].map(() => door(() => time));
      const underWay: UnderWay[] = [];
      let taken: number[] = [];
      const order = ({ at, number, cost }: UnderWay) => {
        taken.push(time);
        for (const each of doors) {
          if (each === at) cost.conclude(done);
          else each.count({ ...vote(number), spender: address, outcome: done, ageMs: 0 });
        }
      };
      const ask = (at: Door, number: number) => {
        const cost = at.cost(number);
        const own = underWay.filter((one) => one.at === at).length;
        expect(cost.exceeded() !== null).toBe(taken.length + own >= QUOTA);
        if (cost.exceeded()) return;
        cost.charge();
        underWay.push({ at, number, cost });
      };
      for (const [number, one] of steps.entries()) {
        if (one.do === 'ask') ask(doors[one.door]!, number);
        else if (one.do === 'order') for (const first of underWay.splice(0, 1)) order(first);
        else {
          for (const each of underWay.splice(0)) order(each);
          const left = Math.max(0, QUOTA - taken.length);
          expect(doors.map((each) => each.left())).toEqual([left, left, left]);
          time += one.ms;
          taken = taken.filter((then) => then > time - MINUTE_MS);
        }
      }
    }),
  );
});

test('spent elsewhere: counts what was done and refused, and no repeat', () => {
  const { count, left, limits } = door(() => 0);
  const of = (number: number, outcome: Outcome) =>
    count({ ...vote(number), spender: address, outcome, ageMs: 0 });
  of(1, done);
  expect(left()).toBe(QUOTA - 1);
  of(1, repeat);
  expect(left()).toBe(QUOTA - 1);
  of(2, refused);
  expect(left()).toBe(QUOTA - 2);
  // Somebody has captured it, and sends it on by another server.
  of(2, refused);
  expect(left()).toBe(QUOTA - 2);
  // Bytes are those of what is in the log only, of the agent and of its address.
  const { bytes, address_bytes } = limits.figures!;
  expect(limits.account(subject).quota('bytes')!.remaining).toBe(bytes - 712);
  expect(limits.account(address).quota('address_bytes')!.remaining).toBe(address_bytes - 712);
});

test('spent elsewhere: the same under way here is counted once, whichever was first', () => {
  const { count, left, cost } = door(() => 0);
  const own = cost(7);
  own.charge();
  count({ ...vote(7), spender: address, outcome: done, ageMs: 0 });
  own.conclude(repeat);
  expect(left()).toBe(QUOTA - 1);
  expect(cost(7).again).toBe(true);
});

test('spent elsewhere: as old as it is', () => {
  let time = 0;
  const { count, left } = door(() => time);
  const of = (number: number, ageMs: number) =>
    count({ ...vote(number), spender: address, outcome: done, ageMs });
  of(1, MINUTE_MS);
  expect(left()).toBe(QUOTA);
  of(2, 50_000);
  expect(left()).toBe(QUOTA - 1);
  time = 9_999;
  expect(left()).toBe(QUOTA - 1);
  time = 10_000;
  expect(left()).toBe(QUOTA);
});

test('spent elsewhere: a block that was opened there is one of those of a minute', () => {
  const { count, blocks } = door(() => 0);
  for (let number = 0; number < 5; number += 1) {
    const block = { ...vote(number), kind: 'propose' as const, publicKey: `p${number}` };
    count({ ...block, spender: address, outcome: done, ageMs: 0 });
  }
  expect(blocks.take('p9', 50)).toBe(30_000);
});
