/**
 * The scripts of a run: their modules, loaded anew for each group, the notes of each group and
 * agent, and the measures that they report at the end. A run begins with no notes and leaves
 * nothing behind; a script that does not come back is ended and named.
 */

import { sha256Hex } from '../../../engine/protocol/signing.js';
import { fileBounds, readBounded } from '../../../engine/store/folder.js';
import { fileInside } from '../../scenario/files.js';
import { ScenarioError } from '../../scenario/problem.js';
import type { StrategyOf } from '../../scenario/schema/strategies.js';
import type { CallLoop, ScriptedAgent, Strategy, World } from '../port.js';
import { commandFor, deepFrozen, oneLine } from './commands.js';
import {
  callGuarded,
  guardGlobals,
  loadGuarded,
  runWithin,
  stepWithin,
  TookTooLong,
} from './guard.js';
import {
  type CallContext,
  type CalledFunction,
  createView,
  type Occasion,
  type ScriptGroup,
  type ScriptModule,
  type ScriptReport,
  type ScriptReportBlock,
  type ScriptReportView,
  strategyFrom,
} from './interface.js';

/** What one call of a script, or its loading, may take. */
const SCRIPT_LIMIT_MS = 10_000;

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
  readonly callLoop: CallLoop = (next) => this.#limited(() => stepWithin(this.#limitMs, next));

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
        runWithin(this.#limitMs, () => {
          figures = callGuarded(call);
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
    name: CalledFunction,
    agent: ScriptedAgent,
    world: World,
    occasion: Occasion,
  ): boolean {
    const asked = functions[name];
    if (!asked) return false;
    const what = `${path}: ${name} for agent ${agent.name}`;
    this.#underWay = what;
    try {
      const view = createView(agent, world, occasion, notes.keptFor(agent, world));
      const { block, round = 0, alliance } = occasion;
      const doing = { agent, world, block, round, alliance };
      // What it gives is read in the call too: members may be functions of its own.
      const acts = callGuarded(() => {
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

/** What a script may export, and is called. */
export const functionNames = [
  ...['start', 'hear', 'vote', 'produce', 'mingle', 'invited', 'wake', 'receive', 'report'],
] as (keyof ScriptModule)[];

interface LoadedModule {
  functions: ScriptModule;
  sha256: string;
}

/**
 * Runs what stands at the top of the module, for so long at most.
 * @throws {ScenarioError} when it cannot be loaded, or has none of the functions.
 */
async function loadModule(path: string, folder: string, limitMs: number): Promise<LoadedModule> {
  try {
    const found = fileInside(path, folder, 'a module');
    if ('why' in found) throw new Error(`it ${found.why}`);
    const { file } = found;
    const text = readBounded(file, fileBounds.text).toString();
    const functions = functionsOf(await evaluated(file, folder, limitMs));
    return { functions, sha256: sha256Hex(text) };
  } catch (cause) {
    throw new ScenarioError(`script ${path}: ${oneLine(cause)}`, { cause });
  }
}

async function evaluated(file: string, folder: string, limitMs: number): Promise<object> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false });
  // The compiler is loaded before anything is guarded or timed.
  jiti.transform({ source: '', ts: true });
  let module: object = {};
  try {
    runWithin(limitMs, () => {
      module = loadGuarded(folder, () => jiti(file) as object);
    });
  } catch (error) {
    const waits = error instanceof SyntaxError && error.message.startsWith('await is only valid');
    if (!waits) throw error;
    throw new SyntaxError('it awaits something at its top; a script is loaded at once');
  }
  return module;
}

function functionsOf(module: object): ScriptModule {
  const given = module as Record<keyof ScriptModule, unknown>;
  const names = functionNames.filter((name) => typeof given[name] === 'function');
  if (names.length > 0) return Object.fromEntries(names.map((name) => [name, given[name]]));
  throw new Error(`it exports none of the functions ${functionNames.join(', ')}`);
}

class Notes {
  readonly #parameters: CallContext['parameters'];
  readonly #shared: Record<string, unknown> = {};
  readonly #kept = new Map<number, CallContext>();

  constructor(parameters: CallContext['parameters']) {
    this.#parameters = parameters;
  }

  /** What an agent is shown at each of its calls. */
  keptFor(agent: ScriptedAgent, world: World): CallContext {
    const known = this.#kept.get(agent.ordinal);
    if (known) return known;
    const { ordinal, name, group, personalityName: personality } = agent;
    const id = world.agentId(ordinal);
    const kept: CallContext = {
      me: Object.freeze({ ordinal, id, name, group: group.group, personality }),
      neighbours: Object.freeze([...world.neighbours(ordinal)]),
      parameters: this.#parameters,
      memory: {},
      shared: this.#shared,
      ...groupsIn(world),
    };
    this.#kept.set(ordinal, kept);
    return kept;
  }

  /** As they are at the end: nobody writes into them any more. */
  final(group: string, world: World): ScriptGroup {
    const noted = [...this.#kept].sort(([a], [b]) => a - b);
    const memories = noted.map(([ordinal, { memory }]) => [ordinal, deepFrozen(memory)] as const);
    return Object.freeze({
      group,
      agents: groupsIn(world).agentsOf(group),
      memories: Object.freeze(Object.fromEntries(memories)),
      shared: deepFrozen(this.#shared),
      parameters: this.#parameters,
    });
  }
}

type WorldGroups = Pick<ScriptReportView, 'groupOf' | 'agentsOf'>;
const groupsByWorld = new WeakMap<World, WorldGroups>();

/** Who is of which group: the same for all of a world. */
function groupsIn(world: World): WorldGroups {
  const made = groupsByWorld.get(world);
  if (made) return made;
  const groups = new Map<string, readonly number[]>();
  for (const { group } of world.scenario.agents) groups.set(group, []);
  const one: WorldGroups = {
    groupOf: (agent) => world.groupOf(agent),
    agentsOf: (group) => membersOf(group, groups, world),
  };
  groupsByWorld.set(world, one);
  return one;
}

const nobody: readonly number[] = Object.freeze([]);

function membersOf(group: string, groups: Map<string, readonly number[]>, world: World) {
  const members = groups.get(group);
  if (members === undefined || members.length > 0) return members ?? nobody;
  const all = Array.from({ length: world.scenario.population }, (_, ordinal) => ordinal);
  const found = Object.freeze(all.filter((ordinal) => world.groupOf(ordinal) === group));
  groups.set(group, found);
  return found;
}

/** Numbers by name; null where one cannot be said. */
export type Figures = Record<string, number | null>;

/** Measures that scripts of the scenario made: of the run, and of each group. */
export interface Reported {
  run: Figures;
  /** By the names of the groups that have any. */
  groups: Record<string, Figures>;
  /** Warnings about measures that were not finite, as a mean over no blocks. */
  missing?: string[];
}

/** A group whose script has measures. */
interface Reporter {
  path: string;
  group: string;
  notes: Notes;
  report: ScriptReport;
}

/** The run at its end. */
interface ReportedEnd {
  world: World;
  blocks: readonly ScriptReportBlock[];
}

/** Calls a function of a script, which is named so. */
type AskReport = (what: string, call: () => Figures) => Figures;

/** Receives a warning about a measure that became a missing value. */
type Warn = (text: string) => void;

/** Each script once for the run, by the first of its groups, and once for each group. */
function reportedBy(
  reporters: readonly Reporter[],
  end: ReportedEnd,
  taken: ReadonlySet<string>,
  ask: AskReport,
): Reported {
  const reported: Reported = { run: {}, groups: {} };
  const warnings: string[] = [];
  const warn: Warn = (text) => warnings.push(text);
  const asked: AskReport = (what, call) => {
    try {
      return ask(what, call);
    } catch (cause) {
      if (cause instanceof ScenarioError) throw cause;
      throw new ScenarioError(`script ${what}: ${oneLine(cause)}`, { cause });
    }
  };
  for (const path of new Set(reporters.map((one) => one.path))) {
    const those = reporters.filter((one) => one.path === path);
    const what = `${path}: report for the run`;
    const own = new Set([...taken, ...Object.keys(reported.run)]);
    const figures = asked(what, () => {
      return figuresOf(those[0]!.report(reportViewOf(null, those, end)), own, { what, warn });
    });
    Object.assign(reported.run, figures);
  }
  for (const one of reporters) {
    const what = `${one.path}: report for group ${one.group}`;
    const figures = asked(what, () => {
      return figuresOf(one.report(reportViewOf(one.group, [one], end)), taken, { what, warn });
    });
    if (Object.keys(figures).length > 0) reported.groups[one.group] = figures;
  }
  if (warnings.length > 0) reported.missing = warnings;
  return reported;
}

function reportViewOf(
  group: string | null,
  those: readonly Reporter[],
  { world, blocks }: ReportedEnd,
): ScriptReportView {
  return Object.freeze({
    group,
    nowMs: world.now - world.startMs,
    groups: Object.freeze(those.map(({ notes, group: name }) => notes.final(name, world))),
    blocks,
    neighboursOf: (agent: number) => Object.freeze([...world.neighbours(agent)]),
    ...groupsIn(world),
  });
}

const MEASURE_NAME = /^[a-z][a-z0-9_]{0,31}$/;

/**
 * Checks the measures of a script. A number that is not finite is a missing value with a warning: a
 * script of a short run divides by zero blocks, and the run is still good.
 *
 * @throws {ScenarioError} naming the first value that cannot be a measure.
 */
function figuresOf(
  given: unknown,
  taken: ReadonlySet<string>,
  { what, warn }: { what: string; warn: Warn },
): Figures {
  if (given === null || given === undefined) return {};
  const wrong = (text: string) => new ScenarioError(`script ${what}: ${text}`);
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw wrong(`it gave ${oneLine(given)}; expected numbers by name, at once`);
  }
  const figures: Figures = {};
  for (const [name, value] of Object.entries(given)) {
    if (!MEASURE_NAME.test(name))
      throw wrong(`it names a measure ${name}; expected ${MEASURE_NAME.source}`);
    if (taken.has(name)) throw wrong(`it names a measure ${name}, which is there already`);
    if (value !== null && typeof value !== 'number') {
      throw wrong(`its measure ${name} is ${oneLine(value)}; expected a number, or null`);
    }
    const isKnown = value === null || Number.isFinite(value);
    if (!isKnown) warn(`${what}: measure ${name} is ${value}, which counts as missing`);
    figures[name] = isKnown ? value : null;
  }
  return figures;
}

/**
 * Loading a module runs what stands at its top.
 * @param modules their paths in the scenario.
 * @throws {ScenarioError} naming the first module that cannot be loaded.
 */
export async function checkScripts(modules: readonly string[], folder: string): Promise<void> {
  const scripts = new Scripts();
  try {
    for (const module of modules) {
      const strategy = { kind: 'script', module, parameters: {} } as const;
      await scripts.strategyOf({ group: null, strategy }, folder);
    }
  } finally {
    scripts.close();
  }
}
