/** The run once more, to the end of a block: that it is the same, and what votes rested on. */
import { type Store, storedLines } from '../../../engine/internal.js';
import type { KeptRun } from '../../fork/index.js';
import type { DecisionLine } from '../../measure/index.js';
import { simulate } from '../../run/simulate.js';
import { ScenarioError } from '../../scenario/problem.js';
import type { Evidence } from '../evidence.js';

/** @throws {ScenarioError} when it is not the same again. */
export async function runAgain(
  store: Store,
  evidence: Evidence,
  { result: { scenario, seed }, source: folder }: KeptRun,
): Promise<DecisionLine[]> {
  const { block } = evidence;
  const lines: DecisionLine[] = [];
  const again = await simulate(
    { ...scenario, measure: { ...scenario.measure, votes: false } },
    {
      seed,
      verifier: 'off',
      store: 'memory',
      audit: false,
      watch: block.block_hash,
      folder,
    },
    { onDecision: (line) => void (line.block === block.ordinal && lines.push(line)) },
  );
  const last = again.entries - 1;
  const [stored] = storedLines(store, last, last);
  if (stored?.logDigest === again.log_digest) return lines;
  const why = 'another version of folkmoot made it, or a script is not pure';
  throw new ScenarioError(`the run is not the same again, up to entry ${last}: ${why}`);
}
