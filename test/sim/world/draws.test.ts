/** A draw depends only on its agent and its block. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, simulate } from 'folkmoot/sim';
import { allVote, live, nearby, quiet } from '../fixture.js';

const DAY_MS = 86_400_000;

/** A scenario with many random draws: memes, alliances, breaks, loss, duplication and slots. */
function lively(seed: string, sections: Record<string, unknown> = {}) {
  return completeScenario({
    title: 'everything that draws',
    seed,
    signatures: 'none',
    agents: [
      { group: 'town', count: 10, producers: 3 },
      { group: 'mob', count: 3, strategy: { kind: 'sybil', approves: 0.5 } },
    ],
    social: { memes: { rate: 5 }, breaks: { rate: 5 }, occasion_ms: 1_000 },
    links: { latency: { distribution: 'exponential' }, loss: 0.1, duplication: 0.1 },
    producers: { schedule: 'random', block_interval_ms: 2_000 },
    consensus: { voting_period_ms: 5_000, policy: 'majority', participation: 0.3 },
    length: { blocks: 2, virtual_ms: 14_000 },
    ...sections,
  });
}

const digestOf = async (scenario: ReturnType<typeof lively>) =>
  (await simulate(scenario, { store: 'memory', audit: false })).digest;

const late = { start_ms: DAY_MS, length_ms: 1_000, whom: [{ count: 5 }] };

test('draws: a fault after the end of a run does not change the run', async () => {
  const kinds = [
    { kind: 'crash' },
    { kind: 'churn' },
    { kind: 'pause' },
    { kind: 'partition', direction: 'in' },
    { kind: 'slow_link' },
    { kind: 'clock_skew', skew_ms: 1_000 },
  ];
  const within = { kind: 'pause', start_ms: 4_000, length_ms: 3_000, whom: [{ count: 3 }] };
  for (let seed = 0; seed < 20; seed += 1) {
    // With every fourth seed, a fault within the run also draws its targets, in both runs.
    const before = seed % 4 === 0 ? [within] : [];
    // Crash and churn plan calls when the run begins, so each seed tries one of these.
    const tried = [kinds[seed % 2]!, kinds[2 + (seed % 4)]!];
    const without = await digestOf(lively(`${seed}`, { faults: before }));
    for (const kind of tried) {
      const faults = [...before, { ...late, ...kind }];
      const withFault = await digestOf(lively(`${seed}`, { faults }));
      expect([seed, kind, withFault]).toEqual([seed, kind, without]);
    }
  }
});

test('draws: an additional agent in a separate component changes no vote elsewhere', async () => {
  const groups = (far: number) => [
    { group: 'here', count: 20, producers: 2 },
    // The silent agent keeps each block open for its whole period, so that outcomes coincide.
    { group: 'far', count: far, strategy: { kind: 'silent' } },
    { group: 'loud', count: far },
  ];
  const sections = {
    topology: { kind: 'groups', degree: 4, rewired: 0 },
    social: { ...quiet, memes: { rate: 5 }, discussion: { rate: 1 } },
    links: { latency: { distribution: 'uniform' }, loss: 0.1, duplication: 0.1 },
    consensus: { ...allVote, voting_period_ms: 8_000 },
    producers: { schedule: 'round_robin', block_interval_ms: 10_000 },
    length: { blocks: 6 },
  };
  const here = async (far: number) => {
    const { votes, blocks } = await live(groups(far), sections);
    const those = votes.filter(({ group }) => group === 'here');
    return { votes: those, proposed: blocks.map(({ proposed_ms }) => proposed_ms) };
  };
  const few = await here(5);
  expect(few.votes.length).toBeGreaterThan(60);
  expect(few.votes.some(({ meme_references }) => Number(meme_references) > 0)).toBe(true);
  expect(await here(6)).toEqual(few);
});

test('draws: settings without effect on finality leave it unchanged', async () => {
  // Memes without weight, remarks that no agent reads, and a fault after the end.
  const cells = [
    { memes: { rate: 0 }, discussion: { rate: 0 } },
    { memes: { rate: 10 }, discussion: { rate: 0 } },
    { memes: { rate: 10 }, discussion: { rate: 20 } },
  ];
  const differences: number[] = [];
  for (let seed = 0; seed < 10; seed += 1) {
    const finality = cells.map(async (social) => {
      const traits = { meme: 0, care: 1, threshold: 30 };
      const scenario = lively(`${seed}`, {
        agents: [{ group: 'town', count: 12, producers: 2, traits }],
        links: { ...nearby, latency: { distribution: 'uniform' }, loss: 0.05 },
        ...{ social: { ...quiet, ...social }, producers: { schedule: 'open', memes: 0 } },
        ...{ consensus: { policy: 'majority', participation: 0.3 }, length: { blocks: 4 } },
      });
      const { measures } = await simulate(scenario, { store: 'memory' });
      return measures.finality_mean_ms;
    });
    const [first, ...others] = await Promise.all(finality);
    expect(first).not.toBe(null);
    for (const other of others) differences.push(other! - first!);
  }
  expect(differences).toEqual(differences.map(() => 0));
});

/** Actions of each agent about each block, keyed by proposal time and proposer. */
async function doneAbout(interventions: Record<string, unknown>[]) {
  const { blocks, votes, folder } = await live([{ group: 'town', count: 12, producers: 4 }], {
    ...{ seed: '5', interventions, topology: { kind: 'ring', degree: 4 } },
    social: { ...quiet, memes: { rate: 10 }, discussion: { rate: 20 }, breaks: { rate: 2 } },
    links: { latency: { distribution: 'exponential' }, loss: 0.05, duplication: 0.05 },
    consensus: { ...allVote, voting_period_ms: 4_500 },
    producers: { schedule: 'round_robin', block_interval_ms: 5_000 },
    ...{ length: { virtual_ms: 120_000 }, measure: { votes: true, decisions: true } },
  });
  const named = blocks.map(({ proposed_ms, producer }) => `${producer} at ${proposed_ms}`);
  const text = readFileSync(join(folder, 'decisions.ndjson'), 'utf8');
  const whims = text.split('\n').flatMap((line) => {
    if (line === '') return [];
    const { block, agent, opinions } = JSON.parse(line);
    return [{ block: named[block]!, agent, whim: opinions.whim as number }];
  });
  const cast = votes.map(({ block, warmup: _, ...vote }) => ({
    ...vote,
    block: named[Number(block)]!,
  }));
  return { named, whims, cast, statuses: blocks.map(({ status }) => status) };
}

test.each([
  ['a block that no agent receives', { kind: 'drop', block: 3, at_ms: 1 }],
  ['a producer that leaves', { kind: 'remove', whom: [{ agent: 3 }], at_ms: 40_000 }],
])('draws: %s leaves all other agents and blocks unchanged', async (_, intervention) => {
  const [whole, without] = await Promise.all([doneAbout([]), doneAbout([intervention])]);
  // One final block is missing, so all later heights differ.
  expect(whole.statuses.slice(0, 4)).toEqual(whole.statuses.slice(0, 4).map(() => 'finalized'));
  expect(without.named.length).toBeLessThan(whole.named.length);
  const gone = 'whom' in intervention ? '3' : null;
  const order = ({ block, agent }: { block: string; agent: unknown }) => `${block} ${agent}`;
  const left = <T extends { block: string; agent: unknown }>(all: T[]): T[] =>
    all
      .filter(({ block, agent }) => without.named.includes(block) && `${agent}` !== gone)
      .sort((a, b) => (order(a) < order(b) ? -1 : 1));
  expect(new Set(left(without.whims).map(({ whim }) => whim)).size).toBeGreaterThan(50);
  expect(left(without.whims)).toEqual(left(whole.whims));
  if (gone === null) expect(left(without.cast)).toEqual(left(whole.cast));
});
