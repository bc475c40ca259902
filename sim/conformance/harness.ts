/** Runs a case on a network in virtual time; records requests, outcomes and log entries. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '../../engine/core/state.js';
import { createVerifier } from '../../engine/crypto/pool.js';
import { virtualClock } from '../../engine/node/clock.js';
import { Network } from '../../engine/node/network.js';
import { storedLines } from '../../engine/replay/lines.js';
import type { ReplayedStep } from '../../engine/replay/recompute.js';
import { replay } from '../../engine/replay/replay.js';
import { withRunStore } from '../compare/logs.js';
import { type Case, Composer, caseLines, NETWORK_ID, parseRequest, START_MS } from './cases.js';
import type { ExpectedEntry, ExpectedLine, ExpectedOutcome, InputLine } from './format.js';

interface Played {
  input: InputLine;
  outcome: Outcome | null;
  /** Sequence number of the last log entry after the line. */
  seq: number;
}

/** Returns an outcome without the refusal message, which is not part of the protocol. */
function expectedOutcome(outcome: Outcome): ExpectedOutcome {
  if ('data' in outcome) return { result: outcome.result, data: outcome.data };
  const { message: _, ...refusal } = outcome.refusal;
  return { result: outcome.result, ...refusal };
}

interface PlayedCase {
  input: InputLine[];
  expected: ExpectedLine[];
  log_digest: string;
  digest: string;
}

export async function playCase(one: Case): Promise<PlayedCase> {
  const folder = await mkdtemp(join(tmpdir(), 'folkmoot-conformance-'));
  try {
    const { played, genesis } = await perform(one, join(folder, 'network'));
    const steps = await stepsOf(folder);
    const input = [{ line: 0, at: START_MS, genesis }, ...played.map((line) => line.input)];
    const last = steps.at(-1)!;
    const { log_digest, digest } = last;
    return { input, expected: expectedOf(played, steps), log_digest, digest };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function perform({ name, genesis = {} }: Case, path: string) {
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
  const played: Played[] = [];
  try {
    const composer = new Composer();
    for (const text of caseLines(name)) {
      const { step, request } = composer.read(text);
      const { pass = 1, note } = step;
      clock.set(clock.now() + pass);
      let outcome: Outcome | null = null;
      if (request) {
        outcome = await network.submit(await network.verify(parseRequest(request)));
        if ('data' in outcome) composer.keep(outcome.data);
      } else {
        network.fireDeadlines();
        await network.durable;
      }
      const about = { ...(note === undefined ? {} : { note }), ...(request ? { request } : {}) };
      const input = { line: played.length + 1, at: clock.now(), ...about };
      played.push({ input, outcome, seq: network.read.position.seq });
    }
  } finally {
    await network.close();
    await verifier.close();
  }
  if (fatal) throw fatal;
  return { played, genesis: network.genesis };
}

/** Recomputes each entry's effects from the log. */
const stepsOf = (folder: string): Promise<ExpectedEntry[]> =>
  withRunStore(folder, async (stored) => {
    const steps: ExpectedEntry[] = [];
    const lines = storedLines(stored, 0, stored.meta()!.seq);
    const onStep = (step: ReplayedStep) => void steps.push(entryOf(step));
    const { first_divergence } = await replay({ lines, stored, onStep });
    if (first_divergence) throw new Error(`replay failed: ${JSON.stringify(first_divergence)}`);
    return steps;
  });

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
    return { line: input.line, ...(outcome ? { outcome: expectedOutcome(outcome) } : {}), entries };
  });
  return [{ line: 0, entries: steps.slice(0, 1) }, ...lines];
}
