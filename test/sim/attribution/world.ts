/** Worlds with a known answer: the outcome depends on one meme of many, or on none. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, type SimResult, simulate } from 'folkmoot/sim';
import {
  type Ablation,
  type Attribution,
  type AttributionOptions,
  attribute,
} from '../../../dist/sim/attribution/ablation.js';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows, openForReading } from '../../support/runs.js';

const CROWD = 30;
const MURMURERS = 10;
/** Memes posted by each of these agents, one fewer by the last; 200 with the preacher's. */
const MEMES = 20;
export const murmured = MURMURERS * MEMES - 1;

/** The crowd hears only the preacher. The murmurers hear each other. */
function edges(): string {
  const [maker, preacher] = [0, 1];
  const crowd = Array.from({ length: CROWD }, (_, one) => 2 + one);
  const murmurers = Array.from({ length: MURMURERS }, (_, one) => 2 + CROWD + one);
  const links = [
    [maker, preacher],
    ...crowd.map((one) => [preacher, one]),
    ...murmurers.map((one, at) => [one, murmurers[(at + 1) % MURMURERS]!]),
  ];
  return `a,b\n${links.map((link) => link.join(',')).join('\n')}\n`;
}

/** Traits of the crowd: memes decide, or only chance, which gives a block even odds. */
const minds = {
  memes: { technical: 0, social: 0, meme: 90, random: 10, threshold: 60 },
  whim: { technical: 0, social: 0, meme: 0, random: 100, threshold: 66 },
};

export interface World {
  folder: string;
  out: string;
  result: SimResult;
  /** Hash of the block that was proposed first. */
  block: string;
  /** Name of the agent that posts the decisive meme. */
  preacher: string;
}

export async function worldOf(by: keyof typeof minds, seed: string): Promise<World> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'links.csv'), edges());
  // Where no meme matters, a few suffice.
  const each = by === 'memes' ? MEMES : 2;
  const posting = (memes: number) => ({ kind: 'meme_spammer', memes, stance: 'approve' });
  const scenario = completeScenario(
    {
      title: 'Known',
      seed,
      agents: [
        { group: 'maker', count: 1, producers: 1, personality: ['lawful'], traits: { care: 1 } },
        { group: 'preacher', count: 1, strategy: posting(1) },
        {
          group: 'crowd',
          count: CROWD,
          traits: { ...minds[by], abstains: 0, memes: 0, think_ms: 300 },
        },
        { group: 'murmurers', count: MURMURERS - 1, strategy: posting(each) },
        { group: 'murmurer', count: 1, strategy: posting(each - 1) },
      ],
      producers: { memes: 0 },
      social: { discussion: { rate: 0 }, alliances: { rate: 0 }, breaks: { rate: 0 } },
      topology: { kind: 'edges', file: './links.csv' },
      links: { latency: { distribution: 'constant', mean_ms: 20 } },
      consensus: by === 'whim' ? { policy: 'majority' } : {},
      length: { blocks: 1 },
    },
    folder,
  );
  const out = join(folder, 'run');
  const result = await simulate(scenario, { out, folder, verifier: 'off' });
  const [first] = [...storeOf(out).range('block_numbers', { limit: 1 })];
  const { block_hash: block } = JSON.parse(first!.json) as { block_hash: string };
  const preacherName = csvRows(join(out, 'agents.csv'))[1]!.name!;
  return { folder, out, result, block, preacher: preacherName };
}

/** The founder's allies vote for each block, as its proposer does. As many vote against it. */
const minority = `
  export const start = ({ me, parameters }) =>
    me.ordinal === 1 ? { do: 'wake', ms: parameters.after_ms } : null;
  export const wake = () => ({ do: 'invite', agents: [2, 3, 4] });
  export const invited = () => ({ do: 'answer', accept: true });
  export const mingle = () => null;
  export const hear = () => ({ do: 'wait', ms: 100 });
  export const vote = ({ parameters }) => ({ do: 'vote', decision: parameters.votes });`;

/**
 * A world in which the weight from one alliance decides the second block.
 *
 * @param afterMs time from the founder's registration to its invitations.
 */
export async function alliedWorld(latencyMs: number, afterMs: number): Promise<World> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'minority.mjs'), minority);
  const following = (votes: string) => ({
    ...{ kind: 'script', module: './minority.mjs', parameters: { votes, after_ms: afterMs } },
  });
  const scenario = completeScenario(
    {
      title: 'Allied',
      agents: [
        { group: 'maker', count: 1, producers: 1, strategy: { kind: 'honest' } },
        { group: 'allies', count: 4, strategy: following('approve') },
        { group: 'others', count: 5, strategy: following('reject') },
      ],
      producers: { memes: 0, schedule: 'round_robin', block_interval_ms: 30_000 },
      social: { discussion: { rate: 0 }, memes: { rate: 0 }, breaks: { rate: 0 } },
      links: { latency: { distribution: 'constant', mean_ms: latencyMs, spread_ms: 0 } },
      consensus: {
        ...{ policy: 'majority', participation: 0, dormant_after: 0, weights: 'alliance_bonus' },
        voting_period_ms: 20_000,
      },
      length: { blocks: 2 },
    },
    folder,
  );
  const out = join(folder, 'run');
  const result = await simulate(scenario, { out, folder, verifier: 'off' });
  const [, second] = [...storeOf(out).range('block_numbers', { limit: 2 })];
  const { block_hash: block } = JSON.parse(second!.json) as { block_hash: string };
  return { folder, out, result, block, preacher: '' };
}

function storeOf(out: string) {
  const store = openForReading(join(out, 'network'));
  onTestFinished(() => store.close());
  return store;
}

export async function attributed(
  { out, block, folder }: World,
  options: Partial<AttributionOptions> = {},
): Promise<Attribution & { ablation: Ablation }> {
  const all = { kinds: ['meme'], most: 10, replicates: 12, folder, ...options } as const;
  const found = await attribute(storeOf(out), out, block, all);
  // Null for the folder of a server.
  return found as Attribution & { ablation: Ablation };
}
