/**
 * Causes in a run with external deciders. Each candidate is omitted once, and everything else stays
 * the same: the draws, and the recorded answers. A decider is asked again only if it sees something
 * else than in the run, so no call goes to an agent that the candidate does not reach. Answers are
 * kept in a cache, so that a later look continues within its own budget.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeciderError } from '../agents/deciders/adapter.js';
import type { DecisionLine } from '../measure/decisions.js';
import { simulate } from '../run/simulate.js';
import type { Intervention } from '../scenario/schema/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';

export interface RecordedOptions {
  /** Ask deciders whose view differs. */
  record: boolean;
  /** Maximum number of calls for all candidates. */
  mostCalls?: number;
  /** Folder that keeps the answers. */
  cache?: string;
}

interface Omitted {
  kind: string;
  id: string;
  name: string;
  intervention: Intervention;
}

interface RecordedRow extends Omit<Omitted, 'intervention'> {
  /** Status of the block without the candidate; null if the block was not proposed. */
  status: string | null;
  changed: boolean;
  /** Other agents that decide otherwise, or vote only in one of the two runs. */
  flipped: number;
  /** Calls to deciders. */
  calls: number;
}

export interface RecordedForks {
  /** Status of the block in the run. */
  status: string;
  /** Candidates that were tested, those that change most first. */
  rows: RecordedRow[];
  calls: number;
  /** Candidates that were not tested, because the calls were spent. */
  untested: number;
}

interface RecordedRun {
  scenario: Scenario;
  seed: string;
  /** Folder of the run, whose cassette has its answers. */
  folder: string;
  /** Folder of scripts, prompts and data files. */
  source: string | undefined;
  block: string;
  ordinal: number;
  status: string;
  /** Reasons of the votes in the run. */
  decisions: readonly DecisionLine[];
  onProgress?: ((done: number, of: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** @param options budget of all forks together. */
export async function forkRecorded(
  run: RecordedRun,
  candidates: readonly (Omitted & { ordinal: number | null })[],
  options: RecordedOptions,
): Promise<RecordedForks> {
  const temporary = mkdtempSync(join(tmpdir(), 'folkmoot-why-'));
  const rows: RecordedRow[] = [];
  let calls = 0;
  try {
    for (const [at, candidate] of candidates.entries()) {
      run.onProgress?.(at, candidates.length);
      const left = options.mostCalls === undefined ? {} : { mostCalls: options.mostCalls - calls };
      const keep = join(temporary, `${at}.cassette`);
      let rowCalls = 0;
      const count = (made: number) => {
        rowCalls = made;
      };
      try {
        const row = await forkOnce(run, candidate, { ...options, ...left, keep }, count);
        rows.push({ ...row, calls: rowCalls });
      } catch (error) {
        if (!(error instanceof DeciderError) || error.code !== 'BUDGET_SPENT') throw error;
        calls += rowCalls;
        break;
      }
      calls += rowCalls;
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  const { status } = run;
  const byChange = (a: RecordedRow, b: RecordedRow) =>
    Number(b.changed) - Number(a.changed) || b.flipped - a.flipped;
  return { status, rows: rows.sort(byChange), calls, untested: candidates.length - rows.length };
}

async function forkOnce(
  { scenario, seed, folder, source, block, ordinal, status, decisions, signal }: RecordedRun,
  { kind, id, name, intervention, ordinal: own }: Omitted & { ordinal: number | null },
  { record, mostCalls, cache, keep }: RecordedOptions & { keep: string },
  onCall: (made: number) => void,
): Promise<Omit<RecordedRow, 'calls'>> {
  const lines: DecisionLine[] = [];
  const limits = mostCalls === undefined ? {} : { mostCalls };
  const shared = cache === undefined ? {} : { cache };
  const result = await simulate(
    {
      ...scenario,
      signatures: scenario.signatures === 'none' ? 'none' : 'unverified',
      measure: { ...scenario.measure, votes: false },
      interventions: [...scenario.interventions, intervention],
    },
    {
      ...{ seed, verifier: 'off', store: 'memory', audit: false, watch: block },
      ...(source === undefined ? {} : { folder: source }),
      deciders: { cassette: folder, record, keep, ...limits, ...shared },
    },
    {
      onDecision: (line) => void (line.block === ordinal && lines.push(line)),
      onProgress: ({ calls }) => onCall(calls ?? 0),
      ...(signal ? { signal } : {}),
    },
  );
  const before = new Map(decisions.map(({ agent, decision }) => [agent, decision]));
  const after = new Map(lines.map(({ agent, decision }) => [agent, decision]));
  const voters = new Set([...before.keys(), ...after.keys()]);
  if (own !== null) voters.delete(own);
  const flipped = [...voters].filter((agent) => before.get(agent) !== after.get(agent)).length;
  const then = result.watched ?? null;
  return { kind, id, name, status: then, changed: then !== status, flipped };
}
