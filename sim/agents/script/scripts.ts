/**
 * The scripts of a run. It owns what they note down, so a run begins with none and leaves nothing
 * behind; it says which of them is under way, and ends one that does not come back.
 */
import { ScenarioError } from '../../scenario/problem.js';
import type { StrategyOf } from '../../scenario/schema/strategies.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';
import type { CallLoop } from '../port/behaviour.js';
import type { World } from '../port/world.js';
import { commandFor } from './commands/commands.js';
import { called, guardGlobals } from './guard/misuse.js';
import { eachWithin, TookTooLong, within } from './guard/time-limit.js';
import type { ScriptModule } from './interface.js';
import { loadModule } from './load.js';
import { Notes } from './notes.js';
import { oneLine } from './one-line.js';
import { deepFrozen } from './plain-data.js';
import { type Reported, type ReportedEnd, type Reporter, reportedBy } from './report.js';
import { type Asked, strategyFrom } from './strategy.js';
import { type Occasion, viewOf } from './view.js';

/** What one call of a script, or its loading, may take. */
export const SCRIPT_LIMIT_MS = 10_000;

export class Scripts {
  /** sha256 of each module, by its path in the scenario. */
  readonly modules: Record<string, string> = {};
  readonly #limitMs: number;
  readonly #release = guardGlobals();
  readonly #reporters: Reporter[] = [];
  /** The call that is under way, or the last one. */
  #underWay = '';

  constructor(limitMs = SCRIPT_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  /** To be called at the end: whatever scripts must not use is given back. */
  close(): void {
    this.#release();
  }

  /**
   * The strategy of those that follow a script: a group, or, without measures of their own, others.
   * @throws {ScenarioError} when its module cannot be loaded.
   */
  async strategyOf(
    { group, strategy }: { group: string | null; strategy: StrategyOf<'script'> },
    folder: string,
  ): Promise<Strategy> {
    const { module: path, parameters } = strategy;
    const { functions, sha256 } = await loadModule(path, folder, this.#limitMs);
    this.modules[path] = sha256;
    const notes = new Notes(deepFrozen(structuredClone(parameters)));
    const { report } = functions;
    if (report && group !== null) this.#reporters.push({ path, group, notes, report });
    return strategyFrom((name, agent, world, occasion) =>
      this.#ask({ path, functions, notes }, name, agent, world, occasion),
    );
  }

  /** Lets agents be called one after another, and ends a call that takes too long. */
  readonly callLoop: CallLoop = (next) => this.#limited(() => eachWithin(this.#limitMs, next));

  /** Whether any of them has measures of its own. */
  get reports(): boolean {
    return this.#reporters.length > 0;
  }

  /**
   * The measures of their own, at the end of the run.
   * @param taken names that measures and columns of tables have already.
   * @throws {ScenarioError} when a script throws, or gives what is no measure.
   */
  report(end: ReportedEnd, taken: ReadonlySet<string>): Reported {
    return reportedBy(this.#reporters, end, taken, (what, call) => {
      let figures = {};
      this.#underWay = what;
      this.#limited(() =>
        within(this.#limitMs, () => {
          figures = called(call);
        }),
      );
      return figures;
    });
  }

  #limited(work: () => void): void {
    try {
      work();
    } catch (cause) {
      if (!(cause instanceof TookTooLong)) throw cause;
      const limit = `took more than ${this.#limitMs / 1000} s and was ended`;
      throw new ScenarioError(`script ${this.#underWay} ${limit}`, { cause });
    }
  }

  /** Whether the module has the function; if so, what it says is done. */
  #ask(
    { path, functions, notes }: Followed,
    name: Asked,
    agent: ScriptedAgent,
    world: World,
    occasion: Occasion,
  ): boolean {
    const asked = functions[name];
    if (!asked) return false;
    const what = `${path}: ${name} for agent ${agent.name}`;
    this.#underWay = what;
    try {
      const view = viewOf(agent, world, occasion, notes.keptFor(agent, world));
      const { block, round = 0, alliance } = occasion;
      const doing = { agent, world, block, round, alliance };
      // What it gives is read in the call too: members may be functions of its own.
      const acts = called(() => {
        const rng = block ? agent.rng(`script/${name}`, block, round) : agent.rng('script');
        const given = asked(view, rng);
        return listOf(given).map((command) => commandFor(command, doing));
      });
      for (const act of acts) act();
    } catch (cause) {
      throw new ScenarioError(`script ${what}: ${oneLine(cause)}`, { cause });
    }
    return true;
  }
}

interface Followed {
  path: string;
  functions: ScriptModule;
  notes: Notes;
}

function listOf(given: unknown): readonly unknown[] {
  if (given === null || given === undefined) return [];
  return Array.isArray(given) ? given : [given];
}
