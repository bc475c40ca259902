/** Usage on other nodes, compared with a single server's counts. */
import type { Outcome } from 'folkmoot';
import { resolveLimits } from '../../../dist/api/contract/limit-table.js';
import { BlockShare } from '../../../dist/api/limits/block-share.js';
import { Cost, countRemoteUsage } from '../../../dist/api/limits/cost.js';
import { Limits } from '../../../dist/api/limits/limits.js';
import { ChargedSignatures } from '../../../dist/api/limits/signature-quota.js';
import { refuse } from '../../../dist/engine/protocol/schema/reason.js';
import { fc, forAll } from '../../support/property.js';

const MINUTE_MS = 60_000;
const QUOTA = 3;
const key = 'a'.repeat(64);
const address = 'address:192.0.2.1';
const signatureOf = (number: number) => number.toString(16).padStart(128, '0');

const done = { result: 'accepted', data: {} } as Outcome;
const repeat = { result: 'duplicate', data: {} } as Outcome;
const refused: Outcome = { result: 'refused', refusal: refuse('BLOCK_UNKNOWN', { id: 'x' }) };

const vote = (number: number) =>
  ({ kind: 'vote', publicKey: key, signature: signatureOf(number), bytes: 200 }) as const;

/** Creates one server's counters. */
function door(now: () => number) {
  const limits = new Limits('spec', resolveLimits('spec', { vote: QUOTA }), now);
  const charged = new ChargedSignatures(now());
  const blocks = new BlockShare(10, now);
  const count = countRemoteUsage({ limits, charged, blocks });
  const cost = (number: number) => new Cost(limits, charged, vote(number), limits.address(address));
  const left = () => limits.agent(key, now()).quota('vote')!.remaining;
  return { limits, blocks, count, cost, left };
}

type Door = ReturnType<typeof door>;

/** A request that one server has admitted but that is not yet in the order. */
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

test('remote usage: each of three servers counts the order and its own admissions', () => {
  forAll([fc.array(step, { maxLength: 120 })], (steps) => {
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
  });
});

test('remote usage: counts accepted and refused requests, and no repeats', () => {
  const { count, left, limits } = door(() => 0);
  const of = (number: number, outcome: Outcome) =>
    count({ ...vote(number), spender: address, outcome, ageMs: 0 });
  of(1, done);
  expect(left()).toBe(QUOTA - 1);
  of(1, repeat);
  expect(left()).toBe(QUOTA - 1);
  of(2, refused);
  expect(left()).toBe(QUOTA - 2);
  // A captured request, replayed on a different server.
  of(2, refused);
  expect(left()).toBe(QUOTA - 2);
  // Bytes count only for logged entries, against both agent and address.
  const { bytes, address_bytes } = limits.figures!;
  expect(limits.agent(key, limits.now()).quota('bytes')!.remaining).toBe(bytes - 712);
  expect(limits.address(address).quota('address_bytes')!.remaining).toBe(address_bytes - 712);
});

test('remote usage: counts a request in flight here once, in either order', () => {
  const { count, left, cost } = door(() => 0);
  const own = cost(7);
  own.charge();
  count({ ...vote(7), spender: address, outcome: done, ageMs: 0 });
  own.conclude(repeat);
  expect(left()).toBe(QUOTA - 1);
  expect(cost(7).again).toBe(true);
});

test('remote usage: counts a use with its age', () => {
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

test('remote usage: counts blocks of other servers in the rate of blocks', () => {
  const { count, blocks } = door(() => 0);
  for (let number = 0; number < 5; number += 1) {
    const block = { ...vote(number), kind: 'propose' as const, publicKey: `p${number}` };
    count({ ...block, spender: address, outcome: done, ageMs: 0 });
  }
  expect(blocks.take('p9', 50)).toBe(30_000);
});
