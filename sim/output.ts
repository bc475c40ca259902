/** What a kept run leaves in its folder: network/, summary.json, blocks.csv, agents.csv. */
import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { crashPoint, makeFolder, type Network, StoreError } from '../engine/index.js';
import type { SimResult } from './result.js';

/** What a run writes; none of it may be there before. */
const kept = ['network', 'summary.json', 'blocks.csv', 'agents.csv'];

/** Makes the folder. One that holds a network already is refused: a run begins at genesis. */
export async function prepareOutput(folder: string): Promise<void> {
  try {
    makeFolder(folder);
    const there = await readdir(folder);
    if (!kept.some((name) => there.includes(name))) return;
  } catch (cause) {
    const why = (cause as Error).message;
    throw new StoreError('UNREADABLE', `the output folder cannot be used: ${why}`, { cause });
  }
  throw new StoreError(
    'OTHER_NETWORK',
    `${folder} holds a run already; expected a new or empty folder`,
  );
}

export async function writeOutput(
  folder: string,
  network: Network,
  result: SimResult,
): Promise<void> {
  crashPoint('output.before');
  const blocks = [...network.read.blocks()].reverse().map((block) => ({
    number: block.ordinal,
    height: block.height,
    block_hash: block.block_hash,
    parent_hash: block.parent_hash,
    producer: block.producer.id,
    status: block.status,
    transactions: block.transactions,
    electorate: block.tally.electorate,
    approve: block.tally.approve,
    reject: block.tally.reject,
    proposed_at: block.timestamp,
    closed_at: block.closed_at ?? '',
  }));
  const agents = [...network.read.agents()].map(({ capabilities, ...agent }) => ({
    ...agent,
    dormant: String(agent.dormant),
    capabilities: capabilities.join('+'),
    ...network.read.reputation(agent.id),
  }));
  await write(folder, 'blocks.csv', stringify(blocks, { header: true }));
  await write(folder, 'agents.csv', stringify(agents, { header: true }));
  await write(folder, 'summary.json', `${JSON.stringify(result, null, 2)}\n`);
}

/** Whole or not at all: a reader never sees half a file. */
async function write(folder: string, name: string, text: string): Promise<void> {
  const temporary = join(folder, `.${name}.part`);
  try {
    await writeFile(temporary, text);
    await rename(temporary, join(folder, name));
  } catch (cause) {
    const why = (cause as Error).message;
    throw new StoreError('UNREADABLE', `${name} cannot be written: ${why}`, { cause });
  }
}
