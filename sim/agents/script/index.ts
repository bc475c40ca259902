/** Strategies of a user's own: a module that is asked what its agent does. */
import { readFileSync } from 'node:fs';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { ScenarioError } from '../../scenario/problem.js';
import { scriptFile } from '../../scenario/read/script-file.js';
import type { StrategyOf } from '../../scenario/schema/strategies.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';
import type { World } from '../port/world.js';
import { byPersonality } from '../strategies/personality.js';
import { doCommand } from './commands.js';
import { type Occasion, type ScriptModule, viewOf } from './view.js';

const calls = ['hear', 'vote', 'produce', 'mingle', 'invited'] as const;
type CallName = (typeof calls)[number];

export interface LoadedScript {
  strategy: Strategy;
  sha256: string;
}

/** @throws {ScenarioError} when the module cannot be loaded, or has none of the functions. */
export async function loadScript(
  { module: path, parameters }: StrategyOf<'script'>,
  folder: string,
): Promise<LoadedScript> {
  try {
    const found = scriptFile(path, folder);
    if ('why' in found) throw new Error(`it ${found.why}`);
    const { file } = found;
    const text = readFileSync(file, 'utf8');
    const { createJiti } = await import('jiti');
    const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false });
    const module = await jiti.import<ScriptModule>(file);
    if (!calls.some((name) => typeof module[name] === 'function')) {
      throw new Error(`it exports none of the functions ${calls.join(', ')}`);
    }
    return { strategy: strategyOf(path, module, parameters), sha256: sha256Hex(text) };
  } catch (cause) {
    throw new ScenarioError(`script ${path}: ${oneLine(cause)}`, { cause });
  }
}

function strategyOf(path: string, module: ScriptModule, parameters: object): Strategy {
  const memories = new Map<number, Record<string, unknown>>();
  const kept = Object.freeze({ ...parameters });
  /** Whether the module has the function; if so, what it says is done. */
  const ask = (name: CallName, agent: ScriptedAgent, world: World, occasion: Occasion): boolean => {
    const call = module[name];
    if (typeof call !== 'function') return false;
    const { ordinal } = agent;
    const memory = memories.get(ordinal) ?? {};
    memories.set(ordinal, memory);
    try {
      const view = viewOf(agent, world, occasion, { parameters: kept, memory });
      const given = call(view, agent.rng('script'));
      const { block, round = 0, alliance } = occasion;
      const doing = { agent, world, block, round, alliance };
      for (const command of listOf(given)) doCommand(command, doing);
    } catch (cause) {
      const what = `${path}: ${name} for agent ${agent.name}`;
      throw new ScenarioError(`script ${what}: ${oneLine(cause)}`, { cause });
    }
    return true;
  };
  return {
    hear: (agent, world, block) =>
      ask('hear', agent, world, { block }) || byPersonality.hear(agent, world, block),
    vote: (agent, world, block, round) =>
      ask('vote', agent, world, { block, round }) || byPersonality.vote(agent, world, block, round),
    produce: (agent, world) =>
      ask('produce', agent, world, {}) || byPersonality.produce(agent, world),
    socialize: (agent, world) =>
      ask('mingle', agent, world, {}) || byPersonality.socialize(agent, world),
    invited: (agent, world, alliance) =>
      ask('invited', agent, world, { alliance }) || byPersonality.invited(agent, world, alliance),
  };
}

const LONGEST = 500;

function oneLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replace(/\s+/g, ' ').trim().slice(0, LONGEST);
}

function listOf(given: unknown): readonly unknown[] {
  if (given instanceof Promise)
    throw new TypeError('it gave a promise; expected an answer at once');
  if (given === null || given === undefined) return [];
  return Array.isArray(given) ? given : [given];
}
