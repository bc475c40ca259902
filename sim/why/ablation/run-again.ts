/** The run once more, to the end of a block: that it is the same, and what votes rested on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Store, storedLines } from '../../../engine/internal.js';
import { readJson } from '../../../report/read.js';
import type { DecisionLine } from '../../measure/index.js';
import type { SimResult } from '../../run/result.js';
import { simulate } from '../../run/simulate.js';
import { ScenarioError } from '../../scenario/problem.js';
import type { Evidence } from '../evidence.js';

/** What a run in virtual time left beside its log; null for a server's folder. */
export function keptResult(folder: string): SimResult | null {
  if (!existsSync(join(folder, 'summary.json'))) return null;
  const result = readJson<SimResult>(folder, 'summary.json');
  return result.url === undefined ? result : null;
}

/** @throws {ScenarioError} when it needs files that are not named, or is not the same again. */
export async function runAgain(
  store: Store,
  evidence: Evidence,
  { scenario, seed, modules, files }: SimResult,
  folder: string | undefined,
): Promise<DecisionLine[]> {
  const needed = [...Object.keys(modules), ...Object.keys(files)];
  if (needed.length > 0 && folder === undefined) {
    const which = needed.join(', ');
    throw new ScenarioError(`the run needs ${which} to be run again; expected --folder DIR`);
  }
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
      ...(folder === undefined ? {} : { folder }),
    },
    { onDecision: (line) => void (line.block === block.ordinal && lines.push(line)) },
  );
  for (const path of needed) {
    const [before, now] = [
      { ...modules, ...files }[path],
      { ...again.modules, ...again.files }[path],
    ];
    if (before === now) continue;
    throw new ScenarioError(
      `${path} in ${folder} is not what the run had: its sha256 was ${before}`,
    );
  }
  const last = again.entries - 1;
  const [stored] = storedLines(store, last, last);
  if (stored?.logDigest === again.log_digest) return lines;
  const why = 'another version of folkmoot made it, or a script is not pure';
  throw new ScenarioError(`the run is not the same again, up to entry ${last}: ${why}`);
}
