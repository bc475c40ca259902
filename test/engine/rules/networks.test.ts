/** Networks that decide by a module: replays, reads of the past, and refusals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { History, KeptNetwork, Network } from 'folkmoot';
import { completeScenario, simulate } from 'folkmoot/sim';
import seedrandom from 'seedrandom';
import { createVerifier } from '../../../dist/engine/crypto/pool.js';
import { composeVote } from '../../../dist/engine/protocol/compose.js';
import { ruleOf } from '../../../dist/engine/rules/network-rule.js';
import { createElectors, PollCounter } from '../../../dist/engine/rules/poll-counter.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../support/paths.js';
import { replayHere } from '../../support/runs.js';
import { answerOf, newPopulation } from '../helpers.js';

const example = (name: string) => readFileSync(join(root, 'examples/rules', name), 'utf8');

/** Decides early by a counter, and by chance that the block's hash determines. */
const early = `
const sums = () => ({ approve: 0, reject: 0 });
const decide = ({ approve, reject }, total, over) => {
  const standings = { drawn: draw('a') % 100 };
  if (5 * approve > 3 * total) return { status: 'finalized', standings };
  if (5 * reject >= 2 * total) return { status: 'rejected' };
  return { status: over ? 'expired' : null };
};
const total = (electors) => electors.reduce((sum, { weight }) => sum + weight, 0);
export default {
  decidesEarly: true,
  tally({ electors, votes, over }) {
    const sum = sums();
    for (const { elector, decision } of votes) sum[decision] += electors[elector].weight;
    return decide(sum, total(electors), over);
  },
  counter(electors) {
    const [sum, all] = [sums(), total(electors)];
    return {
      add: ({ elector, decision }) => { sum[decision] += electors[elector].weight; },
      verdict: (over) => decide(sum, all, over),
    };
  },
};`;

const scenarioOf = (source: string, parameters?: Record<string, number>) =>
  completeScenario({
    title: 'A rule of its own',
    agents: [{ group: 'town', count: 30, producers: 2 }],
    consensus: { policy: 'module', rule: { source, ...(parameters ? { parameters } : {}) } },
    length: { blocks: 6 },
  });

test.each([
  ['a weight rule', example('sixty.js')],
  ['an early counter', early],
  ['a tally', example('ranked.js')],
])('module: a run with %s replays, and repeats its digest', async (_, source) => {
  const scenario = scenarioOf(source);
  const out = join(temporaryFolder(), 'run');
  const first = await simulate(scenario, { out });
  expect((await simulate(scenario, { store: 'memory' })).digest).toBe(first.digest);
  expect(first.measures.votes).toBeGreaterThan(60);
  const replayed = await replayHere(join(out, 'network'));
  expect(replayed).toMatchObject({ match: true, digest: first.digest });
  const history = History.open({ path: join(out, 'network') });
  const { position } = await history.at(history.end.seq);
  expect(position.digest).toBe(first.digest);
  await history.close();
  const kept = KeptNetwork.open({ path: join(out, 'network') });
  const { block_height } = kept.read.networkState();
  expect(block_height).toBeGreaterThan(0);
  await kept.close();
});

test('module: a parameter of the rule changes the decisions', async () => {
  const run = (parameters: Record<string, number>) =>
    simulate(scenarioOf(example('sixty.js'), parameters), { store: 'memory' });
  const [low, high] = [await run({ for_bps: 1 }), await run({ for_bps: 9_999 })];
  expect(low.measures.finalized).toBeGreaterThan(high.measures.finalized!);
});

test('module: a scenario with an invalid module is refused at its source', async () => {
  // Completing the scenario finds the problem if the sandbox is loaded already.
  const run = async () => simulate(scenarioOf('export default {'), { store: 'memory' });
  await expect(run()).rejects.toThrow('consensus.rule.source');
});

test('module: a network with an invalid module is not created', async () => {
  const verifier = createVerifier('inline');
  const genesis = { network_id: 'bad', policy: 'module', rule: { source: 'export default 1' } };
  await expect(Network.open({ memory: true, genesis, verifier })).rejects.toThrow('/rule/source');
  await verifier.close();
});

// ---- Networks with named rules that count ballots: requests, outcomes and certificates.

test('network: weight follows delegations', async () => {
  const people = await newPopulation({ genesis: { policy: 'liquid' }, verifier: 'inline' });
  const agents = await people.joinMany(5, ['validator', 'producer']);
  const hash = await people.open(agents[0]!);
  const delegate = agents[0]!.id;
  for (const [position, agent] of agents.entries()) {
    const ballot = position > 0 && position < 4 ? { ballot: { delegate } } : {};
    const decision = position === 0 ? 'reject' : 'approve';
    const fields = { block_hash: hash, decision, ...ballot } as const;
    answerOf(await people.submit(composeVote(agent, people.stamp(), fields)));
  }
  const standings = { approve: 1, reject: 4, delegated: 3 };
  expect(people.network.read.block(hash)).toMatchObject({ status: 'rejected', standings });
});

// ---- The policies `bft`, `majority` and `veto` against the formulas that decided blocks earlier.

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
