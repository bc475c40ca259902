/** What a decider is, apart from how it is asked: its answers belong to that, and to no other. */
import { readFileSync, statSync } from 'node:fs';
import { canonical } from '../../../engine/internal.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { fileInside } from '../../scenario/files/inside.js';
import { ScenarioError } from '../../scenario/problem.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import { type External, isExternal, type Strategy } from '../../scenario/schema/strategies.js';

/** A prompt is a page or two. */
const LARGEST_PROMPT_BYTES = 262_144;

/** Members that say how it is asked, and not what it is. */
const ways: ReadonlySet<string> = new Set([
  ...['timeout_ms', 'retries', 'backoff_ms', 'most_at_once', 'processes', 'env', 'key_env'],
]);

const essence = (strategy: External): object =>
  Object.fromEntries(Object.entries(strategy).filter(([name]) => !ways.has(name)));

/** SHA-256 of a scenario, without its seed and without ways of asking. */
export function scenarioDigest({ seed: _, ...scenario }: Scenario): string {
  const agents = scenario.agents.map(withoutWays);
  const interventions = scenario.interventions.map((one) =>
    one.kind === 'strategy' ? withoutWays(one) : one,
  );
  return sha256Hex(canonical({ ...scenario, agents, interventions }));
}

const withoutWays = <T extends { strategy: Strategy }>(one: T): object =>
  isExternal(one.strategy) ? { ...one, strategy: essence(one.strategy) } : one;

/** SHA-256 of a decider: of its strategy, and of its prompts. */
export function deciderDigest(strategy: External, prompts: ReadonlyMap<string, string>): string {
  return sha256Hex(
    canonical({ strategy: essence(strategy), prompts: Object.fromEntries(prompts) }),
  );
}

/** Prompts of a decider. */
export interface Prompts {
  /** By name. */
  texts: Map<string, string>;
  /** sha256 of each file, by its path in the scenario. */
  files: Record<string, string>;
}

/** @throws {ScenarioError} naming one that cannot be read. */
export function promptsOf(
  { group, strategy }: { group: string; strategy: External },
  folder: string | undefined,
): Prompts {
  const named = 'prompts' in strategy ? (strategy.prompts ?? {}) : {};
  const texts = new Map<string, string>();
  const files: Record<string, string> = {};
  for (const [name, path] of Object.entries(named as Record<string, string>)) {
    const wrong = (why: string) => new ScenarioError(`${group}: its prompt ${name} ${why}`);
    if (folder === undefined) throw wrong(`is ${path}: the scenario's folder is not known`);
    const found = fileInside(path, folder, 'a text');
    if ('why' in found) throw wrong(found.why);
    const { size } = statSync(found.file);
    if (size > LARGEST_PROMPT_BYTES) {
      throw wrong(`is ${path} of ${size} bytes; expected at most ${LARGEST_PROMPT_BYTES}`);
    }
    const bytes = readFileSync(found.file);
    texts.set(name, bytes.toString());
    files[path] = sha256Hex(bytes);
  }
  return { texts, files };
}
