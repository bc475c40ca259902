/** Plays one case of vectors on a network of its own, and gives its lines. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createVerifier,
  Network,
  openLmdbStore,
  type ReplayedStep,
  replay,
  SCHEMA_VERSION,
  storedLines,
  tables,
  virtualClock,
} from '../../engine/internal.js';
import type { ExpectedEntry, ExpectedLine, InputLine } from './format.js';
import { type Case, expectedOutcome, Harness, type Played, START_MS } from './harness.js';

export const NETWORK_ID = 'conformance';

export interface PlayedCase {
  input: InputLine[];
  expected: ExpectedLine[];
  log_digest: string;
  digest: string;
}

export async function playCase(one: Case): Promise<PlayedCase> {
  const folder = await mkdtemp(join(tmpdir(), 'folkmoot-conformance-'));
  try {
    const path = join(folder, 'network');
    const { played, genesis } = await perform(one, path);
    const steps = await stepsOf(path);
    const input = [{ line: 0, at: START_MS, genesis }, ...played.map((line) => line.input)];
    const last = steps.at(-1)!;
    const { log_digest, digest } = last;
    return { input, expected: expectedOf(played, steps), log_digest, digest };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function perform({ genesis = {}, play }: Case, path: string) {
  const verifier = createVerifier('inline');
  const clock = virtualClock(START_MS);
  let fatal: Error | undefined;
  const network = await Network.open({
    path,
    genesis: { ...genesis, network_id: NETWORK_ID },
    verifier,
    clock,
    onFatal: (error) => {
      fatal = error;
    },
  });
  const harness = new Harness(network, clock);
  try {
    await play(harness);
  } finally {
    await network.close();
    await verifier.close();
  }
  if (fatal) throw fatal;
  return { played: harness.played, genesis: network.genesis };
}

/** What each entry did, recomputed from the log. */
async function stepsOf(path: string): Promise<ExpectedEntry[]> {
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const steps: ExpectedEntry[] = [];
  try {
    const lines = storedLines(store, 0, store.meta()!.seq);
    const { first_divergence } = await replay({
      lines,
      stored: store,
      onStep: (step) => steps.push(entryOf(step)),
    });
    if (first_divergence) throw new Error(`does not replay: ${JSON.stringify(first_divergence)}`);
    return steps;
  } finally {
    await store.close();
  }
}

function entryOf({ entry, events, changes, digest, log_digest }: ReplayedStep): ExpectedEntry {
  const { seq, at, kind } = entry;
  return {
    seq,
    at,
    kind,
    events: events.map(({ json }) => JSON.parse(json)),
    records: changes.map(({ table, key, json }) => [table, key, json && JSON.parse(json)]),
    log_digest,
    digest,
  };
}

function expectedOf(played: readonly Played[], steps: readonly ExpectedEntry[]): ExpectedLine[] {
  let from = 1;
  const lines = played.map(({ input, outcome, seq }): ExpectedLine => {
    const entries = steps.slice(from, seq + 1);
    from = seq + 1;
    return {
      line: input.line,
      ...(outcome ? { outcome: expectedOutcome(outcome) } : {}),
      entries,
    };
  });
  return [{ line: 0, entries: steps.slice(0, 1) }, ...lines];
}
