/**
 * Scripts in a run: modules (loaded separately for each group), the memory of groups and agents,
 * and reported measures. Each run starts with empty memory. A script that exceeds its time limit
 * ends the run with an error that names the script.
 */
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { OWN_NAME } from '../../../report/shared/measures.js';
import { fileInside } from '../../scenario/files.js';
import { ScenarioError, scenarioError } from '../../scenario/problem.js';
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
  functionNames,
  noAgents,
  type Occasion,
  once,
  type ScriptGroup,
  type ScriptModule,
  type ScriptReport,
  type ScriptReportBlock,
  type ScriptReportView,
  strategyFrom,
} from './interface.js';
import { evaluatePrepared, findChanged, type PreparedModules, readScript } from './prepare.js';

/** Time limit for one call, and for loading. */
const SCRIPT_LIMIT_MS = 10_000;

/** Modules that the caller has read before the run. */
export interface GivenModules {
  prepared?: PreparedModules;
  /** SHA-256 that modules must have, by path in the scenario. */
  expected?: Readonly<Record<string, string>>;
}

export class Scripts {
  /** SHA-256 of each module, by its path in the scenario. */
  readonly modules: Record<string, string> = {};
  readonly #limitMs: number;
  readonly #given: GivenModules;
  readonly #release = guardGlobals();
  readonly #reporters: Reporter[] = [];
  /** Description of the current or last call, for errors. */
  #underWay = '';

  /** @param given modules that were prepared before the run. */
  constructor(limitMs = SCRIPT_LIMIT_MS, given: GivenModules = {}) {
    this.#limitMs = limitMs;
    this.#given = given;
  }

  /** Removes the restrictions. Call this at the end of the run. */
  close(): void {
    this.#release();
  }

  /**
   * Returns a script's strategy for a group. If the group is null, the strategy reports no
   * measures.
   * @throws {ScenarioError} if the module cannot be loaded.
   */
  async strategyOf(
    { group, strategy }: { group: string | null; strategy: StrategyOf<'script'> },
    folder: string,
  ): Promise<Strategy> {
    const { module: path, parameters, honest } = strategy;
    const { functions, sha256 } = await loadModule(path, folder, this.#limitMs, this.#given);
    this.modules[path] = sha256;
    const notes = new Notes(deepFrozen(structuredClone(parameters)));
    const { report } = functions;
    if (report && group !== null) this.#reporters.push({ path, group, notes, report });
    return strategyFrom(
      (name, agent, world, occasion) =>
        this.#ask({ path, functions, notes }, name, agent, world, occasion),
      honest,
    );
  }

  /** Calls agents in order, and stops any call that reaches the time limit. */
  readonly callLoop: CallLoop = (next) => this.#limited(() => stepWithin(this.#limitMs, next));

  get reports(): boolean {
    return this.#reporters.length > 0;
  }

  /**
   * Collects the reported measures at the end of the run: calls each script once for the run, with
   * its first group's options, and once per group.
   * @param taken names of existing measures and columns.
   * @throws {ScenarioError} if a script throws or returns an invalid measure.
   */
  report(end: ReportedEnd, taken: ReadonlySet<string>): Reported {
    const reported: Reported = { run: {}, groups: {} };
    const missing: string[] = [];
    const ask = (those: readonly Reporter[], group: string | null, names = taken): Figures => {
      const { path, report } = those[0]!;
      const call = `${path}: report for ${group === null ? 'the run' : `group ${group}`}`;
      return this.#figuresOf(call, () => {
        return checkFigures(report(reportViewOf(group, those, end)), call, names, missing);
      });
    };
    for (const path of new Set(this.#reporters.map((one) => one.path))) {
      const those = this.#reporters.filter((one) => one.path === path);
      const names = new Set([...taken, ...Object.keys(reported.run)]);
      Object.assign(reported.run, ask(those, null, names));
    }
    for (const one of this.#reporters) {
      const figures = ask([one], one.group);
      if (Object.keys(figures).length > 0) reported.groups[one.group] = figures;
    }
    return missing.length > 0 ? { ...reported, missing } : reported;
  }

  #figuresOf(call: string, work: () => Figures): Figures {
    let figures: Figures = {};
    this.#underWay = call;
    try {
      this.#limited(() =>
        runWithin(this.#limitMs, () => {
          figures = callGuarded(work);
        }),
      );
      return figures;
    } catch (cause) {
      if (cause instanceof ScenarioError) throw cause;
      throw scriptFailed(call, cause);
    }
  }

  #limited(work: () => void): void {
    try {
      work();
    } catch (cause) {
      if (!(cause instanceof TookTooLong)) throw cause;
      const values = { call: this.#underWay, seconds: this.#limitMs / 1000 };
      throw scenarioError('SCRIPT_TIMEOUT', values, { cause });
    }
  }

  /** Calls a function and performs its commands. Returns false if the module has none. */
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
      const { block, draw = 0, alliance } = occasion;
      const doing = { agent, world, block, draw, alliance };
      // Convert the result inside the guarded call, because its members may be getters.
      const acts = callGuarded(() => {
        const rng = block ? agent.rng(`script/${name}`, block, draw) : agent.rng('script');
        const given = asked(view, rng);
        return listOf(given).map((command) => commandFor(command, doing));
      });
      for (const act of acts) act();
    } catch (cause) {
      throw scriptFailed(what, cause);
    }
    return true;
  }
}

const scriptFailed = (call: string, cause: unknown): ScenarioError =>
  scenarioError('SCRIPT_FAILED', { call, detail: oneLine(cause) }, { cause });

interface Followed {
  path: string;
  functions: ScriptModule;
  notes: Notes;
}

function listOf(given: unknown): readonly unknown[] {
  if (given === null || given === undefined) return [];
  return Array.isArray(given) ? given : [given];
}

/**
 * Loads a module and runs its top-level code within the time limit.
 * @throws {ScenarioError} if the module cannot be loaded or exports none of the functions.
 */
async function loadModule(
  path: string,
  folder: string,
  limitMs: number,
  { prepared = {}, expected = {} }: GivenModules,
): Promise<{ functions: ScriptModule; sha256: string }> {
  try {
    const found = fileInside(path, folder, 'a module');
    if ('text' in found) throw new Error(`module ${found.text}`);
    const { file } = found;
    const text = readScript(file);
    const sha256 = sha256Hex(text);
    const given = prepared[path] ?? null;
    const isOther = expected[path] !== undefined && expected[path] !== sha256;
    const changed = isOther ? file : given && findChanged(given);
    if (changed !== null) throw new Error(`module changed since the first run: ${changed}`);
    const evaluate = given ? () => evaluatePrepared(given) : await createLoader(file);
    return { functions: functionsOf(evaluated(evaluate, folder, limitMs)), sha256 };
  } catch (cause) {
    throw scriptFailed(path, cause);
  }
}

/** Returns a function that compiles and evaluates a file and its imports. */
async function createLoader(file: string): Promise<() => object> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false });
  // Load the compiler before the guard and the time limit apply.
  jiti.transform({ source: '', ts: true });
  return () => jiti(file) as object;
}

function evaluated(evaluate: () => object, folder: string, limitMs: number): object {
  let module: object = {};
  try {
    runWithin(limitMs, () => {
      module = loadGuarded(folder, evaluate);
    });
  } catch (error) {
    const waits = error instanceof SyntaxError && error.message.startsWith('await is only valid');
    if (!waits) throw error;
    throw new SyntaxError('top-level await; scripts must be synchronous');
  }
  return module;
}

function functionsOf(module: object): ScriptModule {
  const given = module as Record<keyof ScriptModule, unknown>;
  const names = functionNames.filter((name) => typeof given[name] === 'function');
  if (names.length > 0) return Object.fromEntries(names.map((name) => [name, given[name]]));
  throw new Error(`no function exported; expected one of ${functionNames.join(', ')}`);
}

class Notes {
  readonly #parameters: CallContext['parameters'];
  readonly #shared: Record<string, unknown> = {};
  readonly #kept = new Map<number, CallContext>();

  constructor(parameters: CallContext['parameters']) {
    this.#parameters = parameters;
  }

  /** Returns the view members shared by all calls for the agent. */
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

/** Returns the lookups of groups in a world. They are cached per world. */
function groupsIn(world: World): WorldGroups {
  const known = groupsByWorld.get(world);
  if (known) return known;
  const members = once(() => {
    const groups = new Map(world.scenario.agents.map(({ group }) => [group, [] as number[]]));
    for (let ordinal = 0; ordinal < world.scenario.population; ordinal += 1) {
      groups.get(world.groupOf(ordinal))!.push(ordinal);
    }
    for (const one of groups.values()) Object.freeze(one);
    return groups;
  });
  const groups: WorldGroups = {
    groupOf: (agent) => world.groupOf(agent),
    agentsOf: (group) => members().get(group) ?? noAgents,
  };
  groupsByWorld.set(world, groups);
  return groups;
}

/** Numbers by name; null for a measure that is undefined in the run. */
export type Figures = Record<string, number | null>;

/** Measures reported by scripts, for the run and for each group. */
export interface Reported {
  run: Figures;
  /** Measures by group name. Groups without measures are absent. */
  groups: Record<string, Figures>;
  /** Warnings about non-finite measures, such as a mean over no blocks. */
  missing?: string[];
}

interface Reporter {
  path: string;
  group: string;
  notes: Notes;
  report: ScriptReport;
}

interface ReportedEnd {
  world: World;
  blocks: readonly ScriptReportBlock[];
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

/**
 * Validates reported measures. A non-finite number becomes a missing value with a warning: a script
 * in a short run may divide by zero blocks, and the run is still valid.
 *
 * @param missing receives the warnings.
 * @throws {ScenarioError} with the name of the first invalid measure.
 */
function checkFigures(
  given: unknown,
  call: string,
  taken: ReadonlySet<string>,
  missing: string[],
): Figures {
  if (given === null || given === undefined) return {};
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw scenarioError('INVALID_REPORT', { call, value: oneLine(given) });
  }
  const figures: Figures = {};
  for (const [name, value] of Object.entries(given)) {
    if (!OWN_NAME.test(name)) {
      throw scenarioError('INVALID_MEASURE_NAME', { call, name, pattern: OWN_NAME.source });
    }
    if (taken.has(name)) throw scenarioError('MEASURE_EXISTS', { call, name });
    if (value !== null && typeof value !== 'number') {
      throw scenarioError('INVALID_MEASURE', { call, name, value: oneLine(value) });
    }
    const isKnown = value === null || Number.isFinite(value);
    if (!isKnown) missing.push(`${call}: measure ${name} is ${value}, recorded as missing`);
    figures[name] = isKnown ? value : null;
  }
  return figures;
}

/**
 * Loads modules, which runs their top-level code.
 * @param modules their paths in the scenario.
 * @throws {ScenarioError} with the name of the first module that cannot be loaded.
 */
export async function assertScripts(modules: readonly string[], folder: string): Promise<void> {
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
