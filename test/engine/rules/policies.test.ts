/** The policies `bft`, `majority` and `veto` against the formulas that decided blocks earlier. */
import seedrandom from 'seedrandom';
import { expect, test } from 'vitest';
import { ruleOf } from '../../../dist/engine/rules/network-rule.js';
import { createElectors, PollCounter } from '../../../dist/engine/rules/poll-counter.js';

interface Tally {
  approve: number;
  reject: number;
  total: number;
  voted: number;
  electors: number;
  vetoed: boolean;
}

/** The former decision, as formulas over a tally. */
function formerDecision(policy: string, turnout: number, tally: Tally, atDeadline: boolean) {
  const { approve, reject, total } = tally;
  if (policy === 'majority') {
    if (!atDeadline && tally.voted < tally.electors) return null;
    if ((approve + reject) * 10_000 < turnout * total) return 'expired';
    return approve > reject ? 'finalized' : 'rejected';
  }
  if (3 * approve > 2 * total) return 'finalized';
  if (3 * reject >= total) return 'rejected';
  if (policy === 'veto' && tally.vetoed) return 'rejected';
  return atDeadline ? 'expired' : null;
}

function formerNeeded(policy: string, turnout: number, { reject, total }: Tally): number {
  if (policy !== 'majority') return Math.floor((2 * total) / 3) + 1;
  return Math.max(reject + 1, Math.ceil((turnout * total) / 10_000) - reject);
}

function formerVotesUntilClose(policy: string, turnout: number, tally: Tally, largest: number) {
  const { approve, reject, total, electors, voted } = tally;
  if (policy === 'majority') return Math.max(1, electors - voted);
  const toFinalize = (formerNeeded(policy, turnout, tally) - approve) / largest;
  const toReject = (Math.ceil(total / 3) - reject) / largest;
  return Math.max(1, Math.ceil(Math.min(toFinalize, toReject)));
}

const policies = ['bft', 'majority', 'veto'];

test('policies: decide 500,000 random states as the earlier formulas did', () => {
  const random = seedrandom('policies');
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  let differences = 0;
  for (let state = 0; state < 500_000; state += 1) {
    const electors = 1 + upTo(200);
    const total = electors * (1 + upTo(state % 2 ? 3 : 600_000));
    // Half of the states lie near a threshold.
    const near = Math.floor((total * [1, 2][state % 2]!) / 3) - 1 + upTo(3);
    const approve = state % 4 < 2 ? Math.min(total, Math.max(0, near)) : upTo(total);
    const reject = upTo(total - approve);
    const voted = random() < 0.3 ? electors : upTo(electors);
    const tally = { approve, reject, total, voted, electors, vetoed: random() < 0.5 };
    const participation_bps = upTo(10_000);
    const atDeadline = random() < 0.5;
    const rule = ruleOf({ policy: policies[state % 3]!, participation_bps });
    const counts = { ...tally, vetoes: tally.vetoed ? 1 : 0 };
    const over = atDeadline || voted === electors;
    const expected = formerDecision(rule.name, participation_bps, tally, atDeadline);
    // A block whose electors have all voted is over: `bft` then cannot wait for the deadline.
    const ended = expected ?? (over ? 'expired' : null);
    if (rule.decide(counts, over) !== ended) differences += 1;
    const needed = formerNeeded(rule.name, participation_bps, tally);
    if (rule.needed(counts) !== needed) differences += 1;
  }
  expect(differences).toBe(0);
});

test('policies: bound the number of votes until a block closes', () => {
  const random = seedrandom('bounds');
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  for (let poll = 0; poll < 600; poll += 1) {
    const policy = policies[poll % 3]!;
    const size = 2 + upTo(40);
    const equal = poll % 2 === 0;
    const electors = Array.from({ length: size }, (_, agent) => ({
      agent,
      weight: equal ? 1 : 1 + upTo(9),
      // Two members cannot veto, so only the weights count.
      personality: `group${Math.floor(agent / 2)}`,
    }));
    const rule = ruleOf({ policy, participation_bps: 5_000 });
    const group = createElectors(electors);
    const counter = new PollCounter(rule, { hash: '', height: 1, options: [] }, group);
    const chance = random();
    for (const [elector, { personality }] of electors.entries()) {
      if (counter.verdict(false).status !== null) break;
      const tally = { ...counter.counts, vetoed: false };
      const former = formerVotesUntilClose(policy, 5_000, tally, group.largestWeight);
      const bound = counter.votesUntilClose();
      expect(bound).toBeGreaterThanOrEqual(1);
      expect(bound).toBeLessThanOrEqual(Math.max(1, former));
      // The bound is at most halved between two computations.
      expect(2 * bound).toBeGreaterThanOrEqual(Math.min(former, size - tally.voted) - 1);
      const decision = random() < chance ? 'approve' : 'reject';
      counter.add({ elector, agent_id: `${elector}`, decision, personality, ms: 0 });
    }
  }
});

test('policies: need the known number of approvals to close a block of equal weights', () => {
  const needed = (policy: string, electors: number) =>
    ruleOf({ policy }).approvalsToClose(electors);
  for (let electors = 1; electors <= 1_000; electors += 1) {
    expect(needed('bft', electors)).toBe(Math.floor((2 * electors) / 3) + 1);
    expect(needed('veto', electors)).toBe(Math.floor((2 * electors) / 3) + 1);
    // The policy `majority` waits for all votes.
    expect(needed('majority', electors)).toBe(electors);
  }
});

test('lines: the needed weight does not depend on earlier counts, so a restart keeps it', () => {
  // With r rejections, an approving weight of 3 to 4 + r, or of 7 and more, finalizes.
  const lines = [
    // biome-ignore lint/suspicious/noThenProperty: part of the published format
    { if: { approve: 1, one: -6 }, then: 'finalized' as const },
    // biome-ignore lint/suspicious/noThenProperty: part of the published format
    { if: { approve: 1, reject: -1, one: -4 }, then: 'expired' as const },
    // biome-ignore lint/suspicious/noThenProperty: part of the published format
    { if: { approve: 1, one: -2 }, then: 'finalized' as const },
  ];
  const genesis = { policy: 'lines', rule: { lines } };
  const asked = ruleOf(genesis);
  const needed: number[] = [];
  for (const reject of [0, 1, 2, 3, 2, 0]) {
    const counts = { reject, total: 10, electors: 10 };
    // A new object has a new rule, as after a restart.
    expect(asked.needed(counts)).toBe(ruleOf({ ...genesis }).needed(counts));
    needed.push(asked.needed(counts));
  }
  expect(needed).toEqual([7, 3, 3, 3, 3, 7]);
  expect(asked.needed({ reject: 0, total: 4, electors: 4 })).toBe(3);
  expect(asked.needed({ reject: 0, total: 10, electors: 10 })).toBe(7);
});
