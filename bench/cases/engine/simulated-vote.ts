/**
 * Where the time of a simulated vote goes, by a CPU profile of one whole run; beside it a loop of
 * votes, gossip and thresholds, which is what a model costs without log, digests and checks.
 */
import { defaultScenario, simulate } from '../../../sim/index.js';
import { defineCase } from '../../case.js';
import { type Part, profiled } from '../../fixtures/profile.js';
import { timed } from '../../raw/measure.js';
import type { Row } from '../../result.js';

interface Configuration {
  agents: number;
  blocks: number;
}

const DEGREE = 8;

/** The first that fits. What the log needs comes last: it is there whoever votes. */
const parts: readonly Part[] = [
  ['agents: judge, draw', /sim\/(agents|scenario|rng)/],
  ['gossip and links', /sim\/world\/(links|messages|society\/(gossip|knowledge|talk|alliances))/],
  ['schedule, carry, tell', /sim\/(world|run)\//],
  ['measures', /sim\/measure\//],
  ['auditor', /sim\/audit\//],
  ['compose requests', /engine\/(protocol\/compose|crypto)/],
  ['admit requests', /engine\/admit\//],
  ['apply', /engine\/core\//],
  ['encode, both digests', /engine\/(node\/encode|protocol\/(log|hash|canonical))/],
  ['order, publish, store', /engine\/(node|store)\//],
];

async function run({ agents, blocks }: Configuration): Promise<Row[]> {
  const scenario = (length: number) =>
    defaultScenario(agents, { signatures: 'none', length: { blocks: length } });
  // Once before, to be compiled.
  await simulate(scenario(Math.ceil(blocks / 4)), { store: 'memory' });
  let votes = 0;
  let sums = new Map<string, number>();
  const { cpu } = await timed(async () => {
    sums = await profiled(async () => {
      votes = (await simulate(scenario(blocks), { store: 'memory' })).measures.votes ?? 0;
    }, parts);
  });
  const all = [...sums.values()].reduce((sum, us) => sum + us, 0);
  // Samples tell shares: on a busy machine their times hold what others took.
  const row = (name: string, us: number) => {
    const ratio = us / all;
    return { name, cpu_us: (ratio * cpu * 1e6) / votes, ratio };
  };
  const names = [...parts.map(([name]) => name), 'garbage collection', 'native code', 'the rest'];
  return [
    ...names.map((name) => row(name, sums.get(name) ?? 0)),
    row('a vote, all of it', all),
    await plainLoop(agents, votes),
  ];
}

/** Each agent looks at its neighbours' votes and decides; a block ends at two thirds. */
async function plainLoop(agents: number, votes: number): Promise<Row> {
  const decisions = new Uint8Array(agents);
  let draw = 1;
  let cast = 0;
  let finalized = 0;
  const { cpu } = await timed(async () => {
    while (cast < votes) {
      let approving = 0;
      for (let agent = 0; agent < agents; agent += 1) {
        let heard = 0;
        for (let step = 1; step <= DEGREE; step += 1) {
          heard += decisions[(agent + step * 37) % agents]!;
        }
        draw = (Math.imul(draw, 1_103_515_245) + 12_345) >>> 0;
        decisions[agent] = (draw >>> 16) % 100 < 60 + heard ? 1 : 0;
        approving += decisions[agent]!;
        cast += 1;
      }
      if (3 * approving > 2 * agents) finalized += 1;
    }
  });
  if (finalized === 0) throw new Error('a plain loop that finalizes nothing is none');
  return { name: 'a vote in a plain loop', cpu_us: (cpu * 1e6) / cast };
}

export const simulatedVoteCase = defineCase<Configuration>({
  name: 'simulated-vote',
  about: 'where the time of a simulated vote goes, by a profile; ratio is the share of it',
  sizes: { small: { agents: 300, blocks: 60 }, large: { agents: 300, blocks: 250 } },
  run,
});
