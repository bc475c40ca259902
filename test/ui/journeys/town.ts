/** A small run with data for every view: groups, reasons, memes, alliances. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keptRun } from '../folder.js';

const scenario = {
  title: 'town',
  agents: [
    { group: 'town', count: 46, producers: 3 },
    { group: 'harbour', count: 10 },
    { group: 'sheep', count: 4, strategy: { kind: 'follower' } },
  ],
  topology: { kind: 'groups', degree: 8, rewired: 0.3 },
  measure: { decisions: true },
  length: { blocks: 10 },
};

export function keptTown(folder: string): Promise<string> {
  const file = join(folder, 'town.json');
  writeFileSync(file, JSON.stringify(scenario));
  return keptRun(join(folder, 'run'), file, '--seed', '4');
}

/** Items for the block view and the agent view. */
export interface Items {
  block: string;
  agent: string;
}

export async function itemsAt(url: string): Promise<Items> {
  const { data } = (await (await fetch(`${url}/api/v1/blocks`)).json()) as {
    data: { blocks: { block_hash: string; producer: { id: string } }[] };
  };
  const { block_hash: block, producer } = data.blocks[3]!;
  return { block, agent: producer.id };
}

export const pathsOf = ({ block, agent }: Items): readonly string[] => [
  'now',
  'agents',
  'agents?as=table&band=group',
  'opinion',
  'alliances',
  'talk',
  `block/${block}`,
  `agent/${agent}`,
  'explore?at=12',
  'doctor',
];
