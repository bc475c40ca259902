/** Polls for tests of the decision rules. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type NetworkRule, ruleOf } from '../../../dist/engine/rules/network-rule.js';
import { createElectors, PollCounter } from '../../../dist/engine/rules/poll-counter.js';
import {
  isWeightRule,
  type PollBlock,
  type PollVote,
  type Tie,
  type Verdict,
  type VoteRule,
} from '../../../dist/engine/rules/rule.js';
import { root } from '../../support/paths.js';
import { joinTiers } from '../rankings.js';

/** A vote of a poll; by default `approve` with weight 1. */
export interface TestVote {
  decision?: 'approve' | 'reject';
  weight?: number;
  ballot?: unknown;
}

export interface TestPoll {
  options: readonly string[];
  /** One vote for each elector that votes, in this order. */
  votes: readonly TestVote[];
  /** Weights of the electors that do not vote. */
  absent?: readonly number[];
  hash?: string;
}

export const createRule = (policy: string, parameters: Record<string, number> = {}): NetworkRule =>
  ruleOf({ policy, rule: { parameters } });

export const policies = readdirSync(join(root, 'engine/rules/library'))
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();
/** Policies whose rules count ballots or single votes. */
export const ballotPolicies = policies.filter((name) => !isWeightRule(createRule(name).rule));
/** Policies whose rules choose one of a block's options. */
export const electionPolicies = policies.filter((name) => createRule(name).usesOptions);
/** Policies whose rankings may have tiers of equal options. */
export const tieredPolicies = ['borda', 'ranked_pairs', 'schulze'];

export const agentId = (agent: number): string => `agent_${agent.toString(16).padStart(32, '0')}`;

export const hashOf = (text: string | number): string =>
  createHash('sha256').update(String(text)).digest('hex');

function blockOf({ options, hash = hashOf('') }: TestPoll): PollBlock {
  return { hash, height: 1, options };
}

/** Returns the poll as a vote rule sees it. */
export function toPoll(poll: TestPoll) {
  const { votes, absent = [] } = poll;
  const weights = [...votes.map(({ weight = 1 }) => weight), ...absent];
  return {
    block: blockOf(poll),
    electors: weights.map((weight, agent) => ({ agent, weight })),
    votes: votes.map(({ decision = 'approve', ballot }, elector): PollVote => {
      const vote = { elector, agent_id: agentId(elector), decision, ms: elector };
      return ballot === undefined ? vote : { ...vote, ballot };
    }),
  };
}

/** Counts a poll vote by vote, as the engine does. Returns the verdict after each vote. */
export function countPoll(rule: NetworkRule, poll: TestPoll): { after: Verdict[]; end: Verdict } {
  const { block, electors, votes } = toPoll(poll);
  const group = createElectors(electors.map((one) => ({ ...one, personality: 'lawful' })));
  const counter = new PollCounter(rule, block, group);
  const after = votes.map((vote) => {
    counter.add({ ...vote, personality: 'lawful' });
    return counter.verdict(false);
  });
  return { after, end: counter.verdict(true) };
}

/** Returns the verdict of a poll at its deadline. */
export const decidePoll = (rule: NetworkRule, poll: TestPoll): Verdict => countPoll(rule, poll).end;

/** Applies the definition of a vote rule to a poll. */
export function tallyPoll(rule: NetworkRule, poll: TestPoll, over: boolean): Verdict {
  return (rule.rule as VoteRule).tally({ ...toPoll(poll), over }, rule.values);
}

/** Returns the tie in a finished poll that the order of the options decided, or null. */
export const findPollTie = (rule: NetworkRule, poll: TestPoll): Tie | null =>
  (rule.rule as VoteRule).findTie!({ ...toPoll(poll), over: true }, rule.values);

/** Returns true if the rule refuses a ballot on a block with these options. */
export const isRefused = (rule: NetworkRule, ballot: unknown, options: readonly string[]) =>
  rule.findBallotProblem(ballot, blockOf({ options, votes: [] })) !== null;

/** Returns as many equal votes as the count, each with the ranking. */
export const rank = (count: number, ...ranking: string[]): TestVote[] =>
  Array.from({ length: count }, () => ({ ballot: { ranking } }));

/** Returns one vote with the weight and the ranking. */
export const rankWeight = (weight: number, ...ranking: string[]): TestVote => ({
  weight,
  ballot: { ranking },
});

/** Options that are also names of members of every object. */
const names = ['constructor', 'b', 'toString', 'd', 'valueOf', 'f'] as const;

const junk = fc.oneof(
  fc.anything(),
  fc.record({ ranking: fc.array(fc.constantFrom(...names)) }),
  fc.record({ approved: fc.array(fc.constantFrom(...names)) }),
  fc.record({ scores: fc.dictionary(fc.constantFrom(...names, '__proto__'), fc.integer()) }),
);

const arbitraryScores = (chosen: readonly string[]) =>
  fc.record(Object.fromEntries(chosen.map((name) => [name, fc.integer({ min: 0, max: 10 })])), {
    noNullPrototype: true,
  });

/** Arbitrary ballots for a policy: most of them valid. */
function arbitraryBallot(policy: string, options: readonly string[]): fc.Arbitrary<unknown> {
  if (policy === 'quadratic') return fc.record({ votes: fc.integer({ min: 1, max: 6 }) });
  if (policy === 'effective') return fc.record({ model: fc.constantFrom('a', 'b', 'c') });
  if (policy === 'liquid') return fc.nat({ max: 14 }).map((to) => ({ delegate: agentId(to) }));
  if (options.length === 0) return junk;
  const some = fc.subarray([...options]);
  const order = fc.shuffledSubarray([...options], { minLength: Math.min(1, options.length) });
  const kinds: Record<string, () => fc.Arbitrary<unknown>> = {
    approval: () => fc.record({ approved: some }),
    proportional: () => fc.record({ approved: some }),
    plurality: () => fc.record({ option: fc.constantFrom(...options) }),
    score: () => fc.record({ scores: some.chain(arbitraryScores) }),
  };
  const joins = fc.array(fc.boolean(), { minLength: names.length, maxLength: names.length });
  const ranking = tieredPolicies.includes(policy)
    ? fc.oneof(
        order,
        fc.tuple(order, joins).map(([list, at]) => joinTiers(list, at)),
      )
    : order;
  const valid = kinds[policy]?.() ?? fc.record({ ranking });
  return fc.oneof({ weight: 6, arbitrary: valid }, { weight: 1, arbitrary: junk });
}

const arbitraryWeight = fc.oneof(
  fc.integer({ min: 1, max: 5 }),
  fc.integer({ min: 1, max: 8_000_000 }),
);

/** Arbitrary polls with the ballots that the policy accepts; a vote keeps no other ballot. */
export function arbitraryPoll(policy: string, rule = createRule(policy)): fc.Arbitrary<TestPoll> {
  return fc.integer({ min: 1, max: names.length }).chain((count) => {
    const options = count === 1 ? [] : names.slice(0, count);
    const block = blockOf({ options, votes: [] });
    const vote = fc.record({
      decision: fc.constantFrom('approve', 'approve', 'reject'),
      weight: arbitraryWeight,
      ballot: fc.option(arbitraryBallot(policy, options), { nil: undefined }),
    });
    const accepted = vote.map(({ ballot, ...rest }): TestVote => {
      const parsed = parse(ballot);
      if (parsed === undefined || !rule.takesBallots) return rest;
      return rule.findBallotProblem(parsed, block) ? rest : { ...rest, ballot: parsed };
    });
    return fc.record({
      options: fc.constant(options),
      votes: fc.array(accepted, { maxLength: 12 }),
      absent: fc.array(arbitraryWeight, { minLength: 0, maxLength: 3 }),
      hash: fc.nat().map(hashOf),
    });
  });
}

/** Returns a value as JSON carries it, or undefined if the value is not JSON. */
function parse(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

export const ORDERS = ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'];

/** Lists the ways to give `voters` rankings, by how many voters have each ranking. */
export function* multisets(voters: number, kinds: number): Generator<number[]> {
  if (kinds === 1) yield [voters];
  else {
    for (let count = 0; count <= voters; count += 1) {
      for (const rest of multisets(voters - count, kinds - 1)) yield [count, ...rest];
    }
  }
}
