/** Blocks that each decision rule decided by random votes, and their certificates. */
import { prepareSandbox } from 'folkmoot';
import { parse } from 'yaml';
import { policies } from '../../../dist/engine/rules/bundled/policies.js';
import type { Citizen } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { drawnFrom } from '../../support/seeded.js';
import { newPopulation, type Population } from '../helpers.js';
import { joinTiers } from '../rankings.js';
import { certificateOf } from './town.js';

/** Policies of all named rules. */
export const named = [...policies];

const lines = parse(`
- { if: { vetoes: 1 }, then: rejected }
- { if: { approve: 3, total: -2 }, then: finalized }
- { if: { reject: 2, total: -1, one: 1 }, then: rejected }
- { if: { approve: 1, reject: -1, voted: 2, electors: -1 }, over: true, then: finalized }
- { if: { one: 1 }, over: true, then: rejected }
`);

/** Counts ballots of any form, so a check that does not run it cannot tell the outcome. */
const source = `export default {
  ballot: { type: 'integer', minimum: 0, maximum: 9 },
  usesOptions: true,
  tally({ block, votes, over }) {
    if (!over) return { status: null };
    const sum = votes.reduce((all, { ballot = 0 }) => all + ballot, 0);
    const status = votes.some(({ decision }) => decision === 'approve') ? 'finalized' : 'rejected';
    const choice = status === 'finalized' ? block.options[sum % block.options.length] : undefined;
    return { status, choice, standings: { sum } };
  },
};`;

/** Parameters other than the defaults, by policy. */
const parameters: Record<string, Record<string, number>> = {
  majority: { participation_bps: 3_000 },
  threshold: { for_bps: 4_000, turnout_bps: 5_000, of_cast: 1 },
  committee: { size: 40, for_bps: 5_000 },
  quadratic: { credits: 40, turnout_bps: 0 },
  effective: { correlation_bps: 4_375, least_effective: 2_000 },
  score: { highest: 7 },
  proportional: { seats: 4, turnout_bps: 0 },
  schulze: { margins: 1 },
  ranked_pairs: { margins: 1 },
};

/** Random votes on a network's blocks. */
interface Draw {
  policy: string;
  seed: number;
  blocks: number;
  /** Default: the policy's own. */
  parameters?: Record<string, number>;
}

export interface Decided {
  people: Population;
  path: string;
  /** Hashes of the blocks that votes decided. */
  hashes: string[];
}

/** Decides blocks by random votes, with the policy `lines`, `module` or of a named rule. */
export async function decideBlocks({ policy, seed, blocks, ...given }: Draw): Promise<Decided> {
  if (policy === 'module') await prepareSandbox();
  const draw = drawnFrom(seed);
  const path = temporaryFolder();
  const values = given.parameters ?? (draw(2) === 0 ? parameters[policy] : undefined);
  const own = { lines: { lines }, module: { source } }[policy];
  const rule = own ?? (values ? { parameters: values } : undefined);
  const weights = (['equal', 'reputation', 'alliance_bonus'] as const)[draw(3)]!;
  const common = { policy, weights, voting_period_ms: 1_000, dormant_after: 0 };
  const genesis = rule ? { ...common, rule } : common;
  const people = await newPopulation({ path, genesis, verifier: 'inline' });
  const roles = ['validator', 'producer'] as const;
  const lawful = await people.joinMany(3, [...roles], { personality: 'lawful' });
  const greedy = await people.joinMany(4, [...roles], { personality: 'greedy' });
  await people.allied(lawful[0]!, [greedy[0]!, greedy[1]!]);
  const hashes: string[] = [];
  for (let block = 0; block < blocks; block += 1) {
    hashes.push(await voteOn(people, policy, [...lawful, ...greedy], draw));
  }
  await people.network.durable;
  const isDecided = (hash: string) => /finalized|rejected/.test(people.blockStatus(hash)!);
  return { people, path, hashes: hashes.filter(isDecided) };
}

/** Returns the certificates of the blocks, every second one with few entries. */
export async function decide(draw: Draw): Promise<string[]> {
  const { path, hashes } = await decideBlocks(draw);
  const texts: string[] = [];
  for (const [index, hash] of hashes.entries()) {
    texts.push(await certificateOf({ path }, hash, index % 2 === 0 ? {} : { bridgeBytes: 0 }));
  }
  return texts;
}

type Random = (below: number) => number;

/** Proposes a block and votes on it. Some agents reject, and some do not vote. */
async function voteOn(
  people: Population,
  policy: string,
  agents: readonly Citizen[],
  draw: Random,
): Promise<string> {
  const names = ['blue', 'red', 'a.b', '7', '10'].slice(0, [5, 3, 2, 0][draw(4)]);
  // Standings are sorted by name in canonical JSON, but ties depend on the proposal's order.
  const options = names.map((name) => ({
    name,
    state_diff: { additions: { colour: name }, deletions: {} },
  }));
  const fields = names.length > 0 ? { options } : {};
  const hash = await people.open(agents[draw(agents.length)]!, {
    ...fields,
    state_diff: { additions: { colour: 'none' }, deletions: {} },
  });
  const rejections = [0, 1, 3][draw(3)]!;
  const ballotOf = ballots[ballotKinds[policy] ?? 'none'];
  for (const agent of agents) {
    if (draw(6) === 0) continue;
    const decision = draw(8) < rejections ? 'reject' : 'approve';
    const ballot = draw(6) === 0 ? undefined : ballotOf({ names, agents, draw });
    // The vote is refused if earlier votes have decided the block.
    await people.vote(agent, hash, decision, ballot === undefined ? {} : { ballot });
  }
  await people.wait(2_000);
  return hash;
}

const ballotKinds: Record<string, keyof typeof ballots> = {
  plurality: 'option',
  approval: 'approved',
  proportional: 'approved',
  score: 'scores',
  borda: 'tiers',
  instant_runoff: 'ranking',
  schulze: 'tiers',
  ranked_pairs: 'tiers',
  quadratic: 'votes',
  liquid: 'delegate',
  effective: 'model',
  module: 'number',
};

interface Voting {
  names: readonly string[];
  agents: readonly Citizen[];
  draw: Random;
}

/** Draws a ballot by kind; undefined if the block has no options to name. */
const ballots = {
  none: () => undefined,
  option: ({ names, draw }: Voting) => ifAny(names, { option: names[draw(names.length)] }),
  approved: ({ names, draw }: Voting) => ({ approved: names.filter(() => draw(2) === 0) }),
  scores: ({ names, draw }: Voting) => ({
    scores: Object.fromEntries(names.slice(0, draw(6)).map((name) => [name, draw(8)])),
  }),
  ranking: ({ names, draw }: Voting) => ifAny(names, { ranking: shuffled(names, draw) }),
  tiers: ({ names, draw }: Voting) => {
    const order = shuffled(names, draw);
    return ifAny(names, {
      ranking: joinTiers(
        order,
        order.map(() => draw(2) === 0),
      ),
    });
  },
  model: ({ draw }: Voting) => ({ model: ['m', 'n~1'][draw(2)] }),
  votes: ({ draw }: Voting) => ({ votes: 1 + draw(5) }),
  delegate: ({ agents, draw }: Voting) => ({
    delegate: draw(8) === 0 ? `agent_${'0'.repeat(32)}` : agents[draw(agents.length)]!.id,
  }),
  number: ({ draw }: Voting) => draw(10),
};

const ifAny = <T>(names: readonly string[], ballot: T) => (names.length > 0 ? ballot : undefined);

/** Returns some of the names, at least one, in random order. */
function shuffled(names: readonly string[], draw: Random): string[] {
  const left = [...names];
  const count = 1 + draw(names.length);
  return Array.from({ length: count }, () => left.splice(draw(left.length), 1)[0]!);
}
