/** Runs of scenarios for validation: without signatures and auditor, and the blocks of each. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Measures } from '../measure/index.js';
import { simulate } from '../run/simulate.js';
import { completeScenario } from '../scenario/read/complete.js';

/** What nobody does where only votes on blocks are looked at. */
const quiet = {
  memes: { rate: 0 },
  discussion: { rate: 0 },
  alliances: { rate: 0 },
  breaks: { rate: 0 },
};

/** Parts of a scenario that all validations share; sections given replace these. */
export const plain = {
  signatures: 'none',
  social: quiet,
  topology: { kind: 'ring', degree: 2 },
  links: { latency: { distribution: 'constant', mean_ms: 20, spread_ms: 0 } },
  measure: { every_ms: 3_600_000 },
} as const;

/** Approves each block, whatever is in it. */
export const approving = {
  ...{ technical: 0, social: 0, meme: 0, random: 0, threshold: 0, abstains: 0 },
} as const;

/** Approves each block with the same chance, whatever is in it: `threshold` of 101 steps reject. */
export const whim = (threshold: number) => ({
  ...{ technical: 0, social: 0, meme: 0, random: 100, threshold },
  ...{ abstains: 0, think_ms: 400 },
});

/** The chance with which `whim` approves: a whole number from 0 to 100 reaches the threshold. */
export const whimOf = (threshold: number): number => (101 - threshold) / 101;

/** A row of blocks.csv, times in milliseconds of the run. */
export interface BlockRow {
  status: string;
  proposed: number;
  closed: number;
  finality: number;
}

/** A row of votes.csv. */
export interface VoteRow {
  block: number;
  group: string;
  /** Memes about the block that it had received when it decided. */
  memes: number;
}

/** The blocks of a run that have closed, in the order in which they were proposed. */
export async function blocksOf(raw: object, seed = '1'): Promise<BlockRow[]> {
  const rows = await tableOf(raw, seed, 'blocks.csv');
  return rows.flatMap(({ status = '', proposed_ms, closed_ms, finality_ms }) => {
    if (status === 'voting') return [];
    const times = { proposed: Number(proposed_ms), closed: Number(closed_ms) };
    return [{ status, ...times, finality: Number(finality_ms) }];
  });
}

/** The votes of a run whose scenario keeps them. */
export async function votesOf(raw: object, seed = '1'): Promise<VoteRow[]> {
  const rows = await tableOf(raw, seed, 'votes.csv');
  return rows.map(({ block, group = '', memes_heard }) => {
    return { block: Number(block), group, memes: Number(memes_heard) };
  });
}

/** The measures of a run whose scripts lie beside it: `files` has their texts by name. */
export async function measuresOf(
  raw: object,
  files: Readonly<Record<string, string>>,
  seed: string,
): Promise<Measures> {
  return inFolder(async (folder) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const scenario = completeScenario({ title: 'Validation', ...plain, ...raw }, folder);
    const options = { seed, folder, store: 'memory', verifier: 'off', audit: false } as const;
    return (await simulate(scenario, options)).measures;
  });
}

const tableOf = (raw: object, seed: string, table: string) =>
  inFolder(async (folder) => {
    const scenario = completeScenario({ title: 'Validation', ...plain, ...raw });
    await simulate(scenario, { seed, out: folder, verifier: 'off', audit: false });
    const text = await readFile(join(folder, table));
    return parse(text, { columns: true }) as Record<string, string>[];
  });

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'folkmoot-validate-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How many of the blocks were finalized. */
export const finalizedOf = (blocks: readonly BlockRow[]): number =>
  blocks.filter(({ status }) => status === 'finalized').length;
