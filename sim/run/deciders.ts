/** The external deciders of a run, if its scenario has some, and the folder in which it goes on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder } from '../../engine/internal.js';
import { AskingEnded } from '../agents/deciders/budget.js';
import { CASSETTE_FILE } from '../agents/deciders/cassette/name.js';
import type { DeciderOptions, Deciders } from '../agents/deciders/index.js';
import { externalsIn } from '../scenario/external.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Progress } from './ending/ending.js';
import { prepare } from './keep.js';

interface Options {
  seed?: string;
  out?: string;
  folder?: string;
  deciders?: DeciderOptions;
}

interface Hooks {
  onProgress?: (progress: Progress) => void;
  onNote?: (note: string) => void;
  signal?: AbortSignal;
}

export interface OpenedDeciders<H> {
  deciders: Deciders | null;
  /** They tell of calls, too. */
  hooks: H;
}

/**
 * Prepares the folder of the run, and opens its cassettes.
 * @throws {ScenarioError} when nobody may be asked. @throws {StoreError} about folder or cassette.
 */
export async function openDeciders<H extends Hooks>(
  scenario: Scenario,
  { out, folder, seed = scenario.seed, deciders: wanted = {} }: Options,
  hooks: H,
): Promise<OpenedDeciders<H>> {
  const keep = wanted.keep ?? (out === undefined ? undefined : join(out, CASSETTE_FILE));
  const goesOn = out !== undefined && wanted.record === true && isUnfinished(out);
  if (goesOn) refuseWriter(out);
  else await prepare(out);
  const heard = hearing(hooks);
  const options = { ...wanted, ...(keep === undefined ? {} : { keep }), seed, folder };
  const { signal, onNote } = hooks;
  const deciders = hasSome(scenario, wanted, onNote)
    ? await (await loaded()).open(scenario, options, { signal, onNote, onCall: heard.onCall })
    : null;
  if (goesOn) await prepare(out, true);
  return { deciders, hooks: deciders ? heard.hooks : hooks };
}

/** They are loaded where a scenario has some. */
const loaded = async () => (await import('../agents/deciders/index.js')).Deciders;

/** Who names a cassette in vain is told. */
function hasSome(
  scenario: Scenario,
  { cassette, record }: DeciderOptions,
  onNote: Hooks['onNote'],
): boolean {
  if (externalsIn(scenario).length > 0) return true;
  if (record || cassette !== undefined) onNote?.(nobody);
  return false;
}

const nobody = 'nobody outside decides in this scenario: nothing is recorded, or taken';

/** It has what deciders answered, and no result. */
const isUnfinished = (out: string): boolean =>
  existsSync(join(out, CASSETTE_FILE)) && !existsSync(join(out, 'summary.json'));

/** @throws {StoreError} `LOCKED` while another process makes the run. */
function refuseWriter(out: string): void {
  const network = join(out, 'network');
  if (existsSync(network)) lockFolder(network)();
}

/** Whoever ends a run while somebody is asked finds the end that it has at any other time. */
export function unlessEnded(error: unknown): true {
  if (error instanceof AskingEnded) return true;
  throw error;
}

/** Each call is progress, beside the blocks. */
function hearing<H extends Hooks>(hooks: H): { hooks: H; onCall(made: number): void } {
  const { onProgress } = hooks;
  if (!onProgress) return { hooks, onCall: () => {} };
  let calls = 0;
  let last: Progress = { done: 0, closed: 0, votes: 0, virtualMs: 0, seq: 0, digest: '' };
  const tell = () => onProgress({ ...last, calls });
  return {
    hooks: {
      ...hooks,
      onProgress(progress: Progress) {
        last = progress;
        tell();
      },
    },
    onCall(made) {
      calls = made;
      tell();
    },
  };
}
