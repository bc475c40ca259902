/**
 * Decision rules as JavaScript text in genesis. Their code runs in a machine (machine.ts) that
 * cannot reach this program, so a network can carry a rule from any author.
 *
 * Each decision starts from the machine's memory right after the module was loaded. A rule cannot
 * keep anything from one call to the next, except in the counter of one block. All calls on a
 * counter come in the order of the votes, so its state is also the same in every process.
 */
import { type BallotSchema, findSchemaProblem } from './ballots.js';
import { createEngine, type Engine, Machine, type Snapshot } from './machine.js';
import { enableModules, type ModuleLoader, RuleTextError } from './network-rule.js';
import {
  type BallotCounter,
  type Counts,
  type Elector,
  type Ended,
  faulty,
  type PollBlock,
  type PollVote,
  type Rule,
  RuleError,
  type RuleFault,
  type Values,
  type Verdict,
  type VoteRule,
  type WeightRule,
} from './rule.js';

/**
 * Fuel of each kind of call, in iterations of loops. An iteration takes 5 to 75 ns. Each UTF-16
 * unit of a request adds to its fuel, so that large electorates do not exhaust it.
 */
const fuel = {
  load: 5_000_000,
  decide: 100_000,
  vote: 1_000_000,
  poll: 20_000_000,
  unit: 100,
} as const;

/** Largest memory of a loaded module, which each call copies. An empty module takes 0.2 MiB. */
const LOADED_BYTES = 2 ** 20;

/** Number of blocks whose counters stay in a machine. Others are counted again when needed. */
const RESIDENT = 8;

let engine: Engine | null = null;
let preparing: Promise<void> | null = null;

/**
 * Loads the sandbox of decision rules, and enables modules in this program. Programs that open
 * networks through {@link Network.open}, simulate or replay need not call this function.
 *
 * @param binary bytes of `quickjs.wasm` in this package. Browsers have to pass them.
 */
export function prepareSandbox(binary?: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<void> {
  preparing ??= prepare(binary).catch((error) => {
    preparing = null;
    throw error;
  });
  return preparing;
}

async function prepare(binary?: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<void> {
  engine = await createEngine(binary ?? (await readBinary()));
  enableModules(loadModule);
}

async function readBinary(): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = await import('node:fs/promises');
  return readFile(new URL('./bundled/quickjs.wasm', import.meta.url));
}

/** Loads the sandbox if these network parameters have a module. */
export async function prepareRule(genesis: unknown): Promise<void> {
  if ((genesis as { policy?: unknown } | null)?.policy === 'module') await prepareSandbox();
}

/** Rules by their text. A network's rule is needed several times when the network is opened. */
const loaded = new Map<string, Rule>();
const MOST_LOADED = 16;

/**
 * Returns the rule that a module exports.
 *
 * @throws {RuleTextError} if the module does not export a rule.
 * @throws {Error} before {@link prepareSandbox}.
 */
const loadModule: ModuleLoader = (source) => {
  const known = loaded.get(source);
  if (known) return known;
  const module = Module.load(source);
  const rule = module.members.decide ? createWeightRule(module) : createVoteRule(module);
  if (loaded.size === MOST_LOADED) loaded.delete(loaded.keys().next().value!);
  loaded.set(source, rule);
  return rule;
};

/** Machine for calls that keep no state. */
let scratch: Machine | null = null;

function newMachine(): Machine {
  if (engine === null) throw new Error('the sandbox is not loaded; call prepareSandbox() first');
  return Machine.create(engine);
}

function scratchMachine(): Machine {
  if (scratch === null || scratch.isSpent) scratch = newMachine();
  return scratch;
}

/** Loads the sandbox. Returns a function that creates machines for modules that are not rules. */
export async function createMachines(): Promise<() => Machine> {
  await prepareSandbox();
  return () => {
    const machine = newMachine();
    machine.restore(engine!.bare);
    return machine;
  };
}

class Module {
  readonly members: Members;
  /** Memory of a machine after the module was loaded. */
  readonly loaded: Snapshot;

  private constructor(members: Members, loaded: Snapshot) {
    this.members = members;
    this.loaded = loaded;
  }

  /** @throws {RuleTextError} */
  static load(source: string): Module {
    // A new machine, because the snapshot must not contain what earlier calls left behind.
    const machine = newMachine();
    machine.restore(engine!.bare);
    const reply = explainLimits(() => machine.load(source, fuel.load));
    const text = reply.slice(1);
    if (reply[0] === 'E') throw new RuleTextError(describeProblem(text));
    if (reply[0] !== 'V') throw new RuleTextError(explainFault(faultOf(reply)));
    const members = parseMembers(JSON.parse(text) as Described);
    const snapshot = machine.snapshot();
    const size = snapshot.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (size > LOADED_BYTES) throw new RuleTextError('must use less memory while it loads');
    return new Module(members, snapshot);
  }

  /** Calls a function of the module once. @throws {RuleError} */
  call(request: string, units: number, seed: string | null): string {
    const machine = scratchMachine();
    machine.restore(this.loaded);
    return readValue(machine, machine.call(request, units + fuel.unit * request.length, seed));
  }
}

/** Returns the text of a reply that is a value. @throws {RuleError} */
function readValue(machine: Machine, reply: string): string {
  if (reply[0] === 'V') return reply.slice(1);
  const fault = faultOf(reply);
  throw new RuleError(fault, fault === 'RULE_THREW' ? readThrown(machine) : undefined);
}

/** Returns the exception of the last call, or undefined if its description fails. */
function readThrown(machine: Machine): string | undefined {
  try {
    const reply = machine.call('thrown', fuel.vote, null);
    return reply[0] === 'E' ? describeProblem(reply.slice(1)).replace(/^throws /, '') : undefined;
  } catch (error) {
    if (error instanceof RuleError) return undefined;
    throw error;
  }
}

const faults: Readonly<Record<string, RuleFault>> = { T: 'RULE_THREW', M: 'RULE_MEMORY' };

const faultOf = (reply: string): RuleFault => faults[reply[0]!] ?? 'RULE_VERDICT';

function explainLimits(run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (error instanceof RuleError) throw new RuleTextError(explainFault(error.fault));
    throw error;
  }
}

function explainFault(fault: RuleFault): string {
  if (fault === 'RULE_TIMEOUT') return 'must finish loading; it exceeds its work limit';
  if (fault === 'RULE_MEMORY') return 'must finish loading; it exceeds its memory limit';
  return 'must not throw while it loads';
}

/** Keeps the message and the line of an exception. */
function describeProblem(text: string): string {
  const [message = '', ...stack] = text.split('\n');
  const line = /\brule:(\d+)/.exec(stack.join('\n'))?.[1];
  return line === undefined ? message : `${message} (line ${line})`;
}

/*
 * Members of a module
 */

type Described = Record<string, { function?: true; value?: unknown }>;

interface Members {
  title: string;
  parameters: Rule['parameters'];
  ballot?: BallotSchema;
  accepts: boolean;
  usesOptions: boolean;
  decidesEarly: boolean;
  usesVetoes: boolean;
  decide: boolean;
  counter: boolean;
}

const functions = ['decide', 'tally', 'counter', 'accepts'] as const;
const flags = ['usesOptions', 'decidesEarly', 'usesVetoes'] as const;

const only = {
  decide: ['usesVetoes'],
  tally: ['counter', 'accepts', 'ballot', 'usesOptions', 'decidesEarly'],
} as const;

/** @throws {RuleTextError} */
function parseMembers(described: Described): Members {
  const known = ['title', 'source', 'parameters', 'ballot', ...functions, ...flags];
  for (const name of Object.keys(described)) {
    if (!known.includes(name)) throw new RuleTextError(`has an unknown member: ${name}`);
  }
  const valueIn = (name: string) => described[name]?.value;
  for (const name of functions) {
    if (described[name] && !described[name].function) {
      throw new RuleTextError(`must have a function as ${name}`);
    }
  }
  for (const name of flags) {
    if (described[name] && typeof valueIn(name) !== 'boolean') {
      throw new RuleTextError(`must have true or false as ${name}`);
    }
  }
  const kind = described.decide ? 'decide' : 'tally';
  if (!described[kind]) throw new RuleTextError('must have a function decide or tally');
  const stray = [kind === 'decide' ? 'tally' : 'decide', ...only[other(kind)]].find(
    (name) => described[name],
  );
  if (stray) throw new RuleTextError(`must not have both ${kind} and ${stray}`);
  const title = valueIn('title') ?? 'A rule of this network';
  if (typeof title !== 'string' || title.length > 200) {
    throw new RuleTextError('must have a string of at most 200 characters as title');
  }
  const ballot = described.ballot && parseBallot(valueIn('ballot'));
  return {
    title,
    parameters: parseParameters(valueIn('parameters') ?? {}),
    ...(ballot ? { ballot } : {}),
    accepts: described.accepts !== undefined,
    usesOptions: valueIn('usesOptions') === true,
    decidesEarly: valueIn('decidesEarly') === true,
    usesVetoes: valueIn('usesVetoes') === true,
    decide: kind === 'decide',
    counter: described.counter !== undefined,
  };
}

const other = (kind: 'decide' | 'tally') => (kind === 'decide' ? 'tally' : 'decide');

function parseBallot(value: unknown): BallotSchema {
  const problem = findSchemaProblem(value);
  if (problem !== null) throw new RuleTextError(`has an invalid ballot: ${problem}`);
  return value as BallotSchema;
}

const MOST_PARAMETERS = 16;

function parseParameters(value: unknown): Rule['parameters'] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RuleTextError('must have an object as parameters');
  }
  const entries = Object.entries(value);
  if (entries.length > MOST_PARAMETERS) {
    throw new RuleTextError(`must have at most ${MOST_PARAMETERS} parameters`);
  }
  return Object.fromEntries(
    entries.map(([name, parameter]) => [name, parseParameter(name, parameter)]),
  );
}

function parseParameter(name: string, value: unknown): Rule['parameters'][string] {
  const problem = (text: string) => new RuleTextError(`has an invalid parameter ${name}: ${text}`);
  if (!/^[a-z][a-z0-9_]{0,31}$/.test(name)) throw problem('its name has invalid characters');
  if (typeof value !== 'object' || value === null) throw problem('it must be an object');
  const { about = '', default: standard, minimum, maximum } = value as Record<string, unknown>;
  if (typeof about !== 'string') throw problem('about must be a string');
  for (const [member, number] of Object.entries({ default: standard, minimum, maximum })) {
    if (!Number.isSafeInteger(number)) throw problem(`${member} must be an integer`);
  }
  const [low, middle, high] = [minimum, standard, maximum] as [number, number, number];
  if (low > middle || middle > high) throw problem('default must be from minimum to maximum');
  return { about, default: middle, minimum: low, maximum: high };
}

/*
 * Weight rules
 */

/** Maximum number of cached decisions per rule. */
const MOST_DECISIONS = 10_000;

function createWeightRule(module: Module): WeightRule {
  const { title, parameters, usesVetoes } = module.members;
  // The engine asks for many decisions repeatedly: for thresholds, and after each vote.
  const known = new Map<string, Ended | null | RuleError>();
  return {
    title,
    parameters,
    usesVetoes,
    decide(counts, values, over) {
      const request = formatDecide(counts, values, over);
      let found = known.get(request);
      if (found === undefined) {
        found = decideOnce(module, request);
        if (known.size === MOST_DECISIONS) known.clear();
        known.set(request, found);
      }
      if (found instanceof RuleError) throw found;
      return found;
    },
  };
}

function decideOnce(module: Module, request: string): Ended | null | RuleError {
  try {
    return parseStatus(module.call(request, fuel.decide, null));
  } catch (error) {
    if (error instanceof RuleError) return error;
    throw error;
  }
}

function formatDecide(counts: Readonly<Counts>, values: Values, over: boolean): string {
  const { approve, reject, total, voted, electors, vetoes } = counts;
  const list = `${approve},${reject},${total},${voted},${electors},${vetoes}`;
  return `["decide",[${list}],${textOf(values)},${over}]`;
}

function parseStatus(text: string): Ended | null {
  if (text === '') return null;
  if (text === 'finalized' || text === 'rejected' || text === 'expired') return text;
  throw new RuleError('RULE_VERDICT');
}

/** JSON of objects that do not change: parameter values, and blocks. */
const texts = new WeakMap<object, string>();

function textOf(value: object): string {
  let text = texts.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    texts.set(value, text);
  }
  return text;
}

/*
 * Ballot rules
 */

function createVoteRule(module: Module): VoteRule {
  const { title, parameters, ballot, usesOptions, decidesEarly } = module.members;
  const rule: VoteRule = {
    title,
    parameters,
    usesOptions,
    decidesEarly,
    tally({ block, electors, votes, over }, values) {
      const lists = `${formatElectors(electors)},${formatVotes(votes)}`;
      const request = `["tally",[${textOf(block)},${lists},${over}],${textOf(values)}]`;
      return verdictOf(() => module.call(request, fuel.poll, block.hash));
    },
  };
  if (ballot) rule.ballot = ballot;
  if (module.members.accepts) {
    rule.accepts = (given, values, block) => {
      const request = `["accepts",${JSON.stringify(given)},${textOf(values)},${textOf(block)}]`;
      return module.call(request, fuel.vote, block.hash) !== '';
    };
  }
  if (module.members.counter) {
    rule.counter = (electors, values, block) => new ModuleCounter(module, electors, values, block);
  }
  return rule;
}

const formatElectors = (electors: readonly Elector[]): string =>
  `[${electors.map(({ agent, weight }) => `${agent},${weight}`).join(',')}]`;

/** Lists a vote's members. Their order is known to the prelude. */
function formatVote({ elector, agent_id, decision, ms, ballot }: PollVote): string {
  const list = `${elector},${JSON.stringify(agent_id)},${decision === 'approve' ? 1 : 0},${ms}`;
  return ballot === undefined ? `[${list}]` : `[${list},${JSON.stringify(ballot)}]`;
}

/** JSON of a growing list of votes, for rules that tally after each vote. */
const formattedVotes = new WeakMap<readonly PollVote[], { count: number; text: string }>();

function formatVotes(votes: readonly PollVote[]): string {
  const known = formattedVotes.get(votes) ?? { count: 0, text: '' };
  for (; known.count < votes.length; known.count += 1) {
    known.text += `${known.count === 0 ? '' : ','}${formatVote(votes[known.count]!)}`;
  }
  formattedVotes.set(votes, known);
  return `[${known.text}]`;
}

const UNDECIDED: Verdict = { status: null };

const parseVerdict = (text: string): Verdict =>
  text === '' ? UNDECIDED : (JSON.parse(text) as Verdict);

function verdictOf(run: () => string): Verdict {
  try {
    return parseVerdict(run());
  } catch (error) {
    if (error instanceof RuleError) return faultyBy(error);
    throw error;
  }
}

const faultyBy = ({ fault, thrown }: RuleError): Verdict =>
  thrown === undefined ? faulty(fault) : { ...faulty(fault), thrown };

/** Counters that have a machine, least recently used first. */
const resident = new Set<ModuleCounter>();
/** Machines without a counter. */
const idle: Machine[] = [];

/**
 * Counts a block's votes in a machine. If other blocks need the machine, the counter loses it and
 * later repeats its calls in a different one, with the same result.
 */
class ModuleCounter implements BallotCounter {
  readonly #module: Module;
  readonly #block: PollBlock;
  /** All requests so far. */
  readonly #requests: string[];
  #machine: Machine | null = null;
  /** Verdict after the last vote, if the rule decides early. */
  #early: Verdict = UNDECIDED;
  #final: Verdict | null = null;
  /** Set by the first call that failed. A counter that failed is not called again. */
  #error: RuleError | null = null;

  constructor(module: Module, electors: readonly Elector[], values: Values, block: PollBlock) {
    this.#module = module;
    this.#block = block;
    const begin = `["counter",${formatElectors(electors)},${textOf(values)},${textOf(block)}]`;
    this.#requests = [begin];
    this.#acquire();
  }

  add(vote: PollVote): void {
    const request = `["add",${formatVote(vote)}]`;
    this.#final = null;
    if (this.#error === null && this.#acquire()) this.#send(request);
    this.#requests.push(request);
  }

  verdict(over: boolean): Verdict {
    if (this.#error !== null) return faultyBy(this.#error);
    if (!over) return this.#early;
    this.#final ??= this.#end();
    return this.#final;
  }

  #end(): Verdict {
    if (!this.#acquire()) return faultyBy(this.#error!);
    const machine = this.#machine!;
    const final = verdictOf(() =>
      readValue(machine, this.#call(machine, '["verdict"]', fuel.poll)),
    );
    // The call may have changed the counter's state, so the machine cannot count further votes.
    this.#release();
    return final;
  }

  /** Assigns a machine that contains the state after all requests. Returns false after a fault. */
  #acquire(): boolean {
    if (this.#machine) {
      resident.delete(this);
      resident.add(this);
      return true;
    }
    if (this.#error !== null) return false;
    if (idle.length === 0 && resident.size >= RESIDENT) {
      const [oldest] = resident;
      oldest!.#release();
    }
    const machine = idle.pop() ?? newMachine();
    machine.restore(this.#module.loaded);
    this.#machine = machine;
    resident.add(this);
    return this.#requests.every((request) => this.#send(request));
  }

  #release(): void {
    if (this.#machine && !this.#machine.isSpent) idle.push(this.#machine);
    this.#machine = null;
    resident.delete(this);
  }

  /** Returns false after a fault. */
  #send(request: string): boolean {
    const units = request.startsWith('["counter"') ? fuel.poll : fuel.vote;
    const machine = this.#machine!;
    try {
      const text = readValue(machine, this.#call(machine, request, units));
      this.#early = parseVerdict(text);
      return true;
    } catch (error) {
      this.#release();
      if (!(error instanceof RuleError)) throw error;
      this.#error = error;
      return false;
    }
  }

  #call(machine: Machine, request: string, units: number): string {
    return machine.call(request, units + fuel.unit * request.length, this.#block.hash);
  }
}
