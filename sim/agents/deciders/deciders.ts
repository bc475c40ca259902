/**
 * External deciders in a run. Collects the questions that agents ask in a window of virtual time,
 * and answers all of them at its end, from a cassette or by calling the decider. A decider is
 * opened at its first call.
 */
import { setMaxListeners } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { canonical } from '../../../engine/protocol/canonical.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { fileInside } from '../../scenario/files.js';
import { describeExternals, listExternals } from '../../scenario/population.js';
import { scenarioError } from '../../scenario/problem.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import {
  type External,
  isExternal,
  type StrategyOf,
  type Strategy as WantedStrategy,
} from '../../scenario/schema/strategies.js';
import type { DecidedCall, QuestionGate, ScriptedAgent, Strategy, World } from '../port.js';
import { commandFor, type Doing } from '../script/commands.js';
import { type CalledFunction, type Occasion, strategyFrom } from '../script/interface.js';
import { type DeciderAdapter, type DeciderFigures, deciderError, Figures } from './adapter.js';
import { FORMAT, type Recorded } from './cassette.js';
import { DeciderClient, type DecisionResult, type ToAsk } from './decider-client.js';
import { amountOf, Ledger, modelOf, priceOf, withoutStops } from './ledger.js';
import type { Place } from './mcp-adapter.js';
import { cassetteError } from './messages.js';
import { createProgramAdapter } from './program-adapter.js';
import {
  type Answer,
  createQuestion,
  findPlaceholderProblem,
  parseAnswer,
  type Question,
  type Usage,
} from './question.js';
import { RunCassettes } from './run-cassettes.js';

/** Sources of answers, and the cassette in which answers are recorded. */
export interface DeciderOptions {
  /** Cassette or run folder to answer from. */
  cassette?: string;
  /** Ask the decider if the cassette has no answer. By default, the run fails. */
  record?: boolean;
  /** Path of the run's cassette. Default: `decisions.cassette` in `out`. */
  keep?: string;
  /** Maximum number of calls by this process. A run that reaches it ends, and can be continued. */
  mostCalls?: number;
  /** Folder with answers of other runs, which are not asked again. New answers are added. */
  cache?: string;
  /** File in which the runs of a study note what they pay. @internal */
  spending?: string;
}

type OpenedOptions = DeciderOptions & { seed: string; folder: string | undefined };

interface DeciderHooks {
  /** Aborts pending calls. */
  signal?: AbortSignal | undefined;
  onNote?: ((note: string) => void) | undefined;
  /** Called before each call with the number of calls so far. */
  onCall?: ((made: number) => void) | undefined;
}

interface Mind {
  group: string;
  strategy: External;
  digest: string;
  prompts: ReadonlyMap<string, string>;
  price: ReturnType<typeof priceOf>;
  /** Opened at the first call. */
  asker: DeciderClient | null;
}

/** State kept for an agent. */
interface Notes {
  memory: unknown;
  /** Questions asked, by kind. */
  counts: Partial<Record<CalledFunction, number>>;
}

interface Pending {
  mind: Mind;
  question: Question;
  doing: Doing;
  at: number;
  /** Recorded answer or failure. */
  record: Recorded | null;
}

/** Question with its answer, as a row of calls.csv. */
export interface AnsweredQuestion {
  agent: number;
  group: string;
  kind: CalledFunction;
  number: number;
  /** Time in milliseconds since 1970. */
  at: number;
  calls: number;
  cached: boolean;
  failure: string | null;
  inputTokens: number;
  outputTokens: number;
  /** Hash of the block that it is about; null without one. */
  block: string | null;
  /** SHA-256 of the view. */
  seen: string;
  thought: string | null;
}

export class Deciders implements QuestionGate {
  /** All questions of the run, in order. */
  readonly answered: AnsweredQuestion[] = [];
  /** SHA-256 of each prompt file, by its path in the scenario. */
  readonly files: Record<string, string> = {};
  readonly #tapes: RunCassettes;
  readonly #folder: string | undefined;
  readonly #record: boolean;
  readonly #ledger: Ledger;
  readonly #scenario: Scenario;
  readonly #hooks: DeciderHooks;
  readonly #minds: Mind[] = [];
  readonly #notes = new Map<number, Notes>();
  #pending: Pending[] = [];
  readonly #waiting = new Set<number>();
  readonly #figures = new Figures();
  readonly #end = new AbortController();

  private constructor(
    tapes: RunCassettes,
    scenario: Scenario,
    { record = false, seed, folder, ...options }: OpenedOptions,
    hooks: DeciderHooks,
  ) {
    this.#tapes = tapes;
    this.#record = record;
    this.#hooks = hooks;
    this.#folder = folder;
    this.#scenario = scenario;
    const { mostCalls = Number.POSITIVE_INFINITY, spending } = options;
    const { budget } = scenario;
    const onCall = (made: number) => hooks.onCall?.(made);
    this.#ledger = new Ledger({
      budget,
      mostCalls,
      spending: record ? spending : undefined,
      onCall,
    });
    // Each call in flight listens, and Node.js warns of a leak at eleven.
    setMaxListeners(0, this.#end.signal);
    const { signal } = hooks;
    if (signal?.aborted) this.#end.abort();
    signal?.addEventListener('abort', this.#stop);
  }

  /**
   * Opens a scenario's deciders.
   * @throws {ScenarioError} without a cassette or `record`, or if a variable or the SDK is missing.
   * @throws {StoreError} if a cassette is invalid.
   */
  static async open(
    scenario: Scenario,
    options: OpenedOptions,
    hooks: DeciderHooks,
  ): Promise<Deciders> {
    const { cassette, record = false, keep, cache, seed } = options;
    if (!record && cassette === undefined) {
      throw scenarioError('DECIDERS_NEED_SOURCE', { groups: describeExternals(scenario) });
    }
    if (record && keep === undefined) throw scenarioError('RECORD_NEEDS_OUT', {});
    for (const { group, strategy } of record ? listExternals(scenario) : []) {
      await assertAskable(group, strategy);
    }
    const header = { format: FORMAT, scenario: scenarioDigest(scenario), seed } as const;
    const onNote = (note: string) => hooks.onNote?.(note);
    const tapes = RunCassettes.open({ header, cassette, record, keep, cache, onNote });
    return new Deciders(tapes, scenario, options, hooks);
  }

  /** @throws {ScenarioError} if a prompt cannot be read. */
  strategyOf({ group, strategy }: { group: string; strategy: External }): Strategy {
    const { texts: prompts, files } = promptsOf({ group, strategy }, this.#folder);
    Object.assign(this.files, files);
    const digest = deciderDigest(strategy, prompts);
    const price = priceOf(this.#scenario.budget, modelOf(strategy as { model?: string }));
    const mind: Mind = { group, strategy, digest, prompts, price, asker: null };
    this.#minds.push(mind);
    const asks = new Set<CalledFunction>([...strategy.asks, 'deliberate']);
    return strategyFrom((kind, agent, world, occasion) => {
      if (!asks.has(kind)) return false;
      this.#put(mind, kind, agent, world, occasion);
      return true;
    }, strategy.honest);
  }

  waits(agent: number): boolean {
    return this.#waiting.has(agent);
  }

  /**
   * @throws {DeciderError} if a question stays unanswered or the budget is spent.
   * @throws {AskingEnded} if the run was aborted. @throws {StoreError} if a cassette is invalid.
   */
  async answers(): Promise<readonly DecidedCall[]> {
    if (this.#pending.length === 0) return none;
    const asked = this.#pending;
    this.#pending = [];
    const open = asked.filter((pending) => !this.#taken(pending) && !this.#isOverLimit(pending));
    if (open.length > 0) await this.#askFor(open);
    this.#waiting.clear();
    return asked.map((pending) => this.#answered(pending));
  }

  get figures(): DeciderFigures {
    const { prices = {} } = this.#scenario.budget ?? {};
    const priced = Object.keys(prices).length > 0 ? { money: this.#ledger.spent.money } : {};
    return { ...this.#figures.all, ...priced };
  }

  /** Completes the cassette when the run ends. */
  finish(): Promise<void> {
    return this.#tapes.finish();
  }

  async close(): Promise<void> {
    this.#hooks.signal?.removeEventListener('abort', this.#stop);
    await this.#tapes.durable().catch(() => {});
    this.#tapes.close();
    this.#ledger.close();
    await Promise.all(this.#minds.map(({ asker }) => asker?.close()));
  }

  readonly #stop = (): void => this.#end.abort();

  #put(
    mind: Mind,
    kind: CalledFunction,
    agent: ScriptedAgent,
    world: World,
    occasion: Occasion,
  ): void {
    const { ordinal } = agent;
    const notes = this.#notes.get(ordinal) ?? { memory: {}, counts: {} };
    this.#notes.set(ordinal, notes);
    const number = notes.counts[kind] ?? 0;
    notes.counts[kind] = number + 1;
    const kept = { parameters: mind.strategy.parameters, memory: notes.memory };
    const question = createQuestion({ agent: ordinal, kind, number }, agent, world, occasion, kept);
    const { block, draw = 0, alliance } = occasion;
    const doing = { agent, world, block, draw, alliance };
    this.#pending.push({ mind, question, doing, at: world.now, record: null });
    this.#waiting.add(ordinal);
  }

  /** Takes the answer from a cassette. Returns false if the cassette has no answer. */
  #taken(pending: Pending): boolean {
    const { question, mind, doing } = pending;
    const key = { ...keyOf(question), decider: mind.digest };
    pending.record = this.#tapes.take(key, question.view, (answer) => isValid(answer, doing));
    if (!pending.record && !this.#record) throw this.#tapes.unanswered(key, question.view);
    if (!pending.record) return false;
    this.#pay(pending, false);
    return true;
  }

  #pay({ mind, record }: Pending, isNew: boolean): void {
    if (!record!.cached) this.#ledger.pay(amountOf(record!, mind.price), isNew);
  }

  /** Records a failure instead of a question that exceeds a limit of its agent or block. */
  #isOverLimit(pending: Pending): boolean {
    const { question, mind } = pending;
    const limit = this.#ledger.findLimit(question.agent, decisionOf(question));
    if (limit === null) return false;
    const key = { ...keyOf(question), decider: mind.digest };
    const failure = { reason: 'budget' as const, detail: `${limit} is spent` };
    pending.record = { ...key, view: question.view, calls: 0, failure };
    this.#tapes.add(pending.record);
    return true;
  }

  async #askFor(open: readonly Pending[]): Promise<void> {
    const byMind = new Map<Mind, ToAsk[]>();
    for (const pending of open) {
      const { mind, question, doing } = pending;
      const key = { ...keyOf(question), decider: mind.digest };
      const asked: ToAsk = {
        question,
        doing,
        begins: () => this.#tapes.begin(key),
        countUnusable: (usage) => this.#tapes.countUnusable(key, usage),
        decided: (found) => this.#keep(pending, found),
      };
      byMind.set(mind, [...(byMind.get(mind) ?? []), asked]);
    }
    const all = [...byMind].map(async ([mind, questions]) => {
      await (await this.#askerOf(mind)).askAll(questions);
    });
    const ends = await Promise.allSettled(all);
    await this.#tapes.durable();
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    const left = open.filter(({ record }) => record === null).length;
    if (left === 0) return;
    const limit = this.#ledger.findStop() ?? 'limit';
    throw deciderError('BUDGET_SPENT', { limit, made: this.#ledger.made, open: left });
  }

  #keep(pending: Pending, decided: DecisionResult): void {
    const { mind, question } = pending;
    const key = { ...keyOf(question), decider: mind.digest };
    const cost = this.#tapes.costOf(key);
    const record = { ...key, view: question.view, ...cost, ...decided } as Recorded;
    pending.record = record;
    this.#figures.asked += 1;
    this.#tapes.add(record);
    this.#pay(pending, true);
  }

  async #askerOf(mind: Mind): Promise<DeciderClient> {
    if (mind.asker) return mind.asker;
    const { group, strategy, prompts } = mind;
    const opened = await openDoor(strategy, { group, folder: this.#folder, prompts });
    const { signal } = this.#end;
    const onNote = (note: string) => this.#hooks.onNote?.(note);
    mind.asker = new DeciderClient({
      group,
      strategy,
      ...opened,
      ledger: this.#ledger,
      signal,
      onNote,
    });
    return mind.asker;
  }

  #answered({ mind, question, doing, at, record }: Pending): DecidedCall {
    const { agent } = question;
    const { cached = false } = record!;
    this.#ledger.charge(agent, decisionOf(question), amountOf(record!, mind.price), cached);
    const { calls, unusable, answer, failure } = record!;
    const used = (name: keyof Usage) => (answer?.usage?.[name] ?? 0) + (unusable?.[name] ?? 0);
    const tokens = { inputTokens: used('input_tokens'), outputTokens: used('output_tokens') };
    const cost = { calls, failed: failure !== undefined, ...tokens };
    this.#figures.add(cost, failure?.reason, cached);
    this.answered.push({
      ...{ agent, group: mind.group, kind: question.kind, number: question.number, at, calls },
      ...{ cached, failure: failure?.reason ?? null },
      ...{ inputTokens: tokens.inputTokens, outputTokens: tokens.outputTokens },
      ...{ block: doing.block?.hash ?? null, seen: question.saw, thought: answer?.thought ?? null },
    });
    const act = () => {
      if (!answer) return;
      if (answer.memory) this.#notes.get(agent)!.memory = answer.memory;
      for (const act of actsOf(answer.commands, doing, question)) act();
    };
    return { agent, at, cost, act };
  }
}

const none: readonly DecidedCall[] = [];

/** Names the block of a question; null for a question about no block. */
function decisionOf({ view }: Question): string | null {
  const { block } = view as { block?: { producer: number; number: number } | null };
  return block ? `${block.producer}/${block.number}` : null;
}

const keyOf = ({ agent, kind, number, saw }: Question) => ({ agent, kind, number, saw });

function isValid(answer: Answer, doing: Doing): boolean {
  try {
    return parseAnswer(answer, doing) !== null;
  } catch {
    return false;
  }
}

/** Validates all commands before the first one is performed. */
function actsOf(commands: readonly unknown[], doing: Doing, { id }: Question): (() => void)[] {
  try {
    return commands.map((command) => commandFor(command, doing));
  } catch (cause) {
    throw cassetteError('CASSETTE_COMMAND', { id, reason: (cause as Error).message }, { cause });
  }
}

/** Prompt size limit. A typical prompt is a page or two. */
const LARGEST_PROMPT_BYTES = 262_144;

/** Call options, which do not affect a decider's identity. */
const ways: ReadonlySet<string> = new Set([
  ...['timeout_ms', 'retries', 'backoff_ms', 'most_at_once', 'processes', 'env', 'key_env'],
]);

const essence = (strategy: External): object =>
  Object.fromEntries(Object.entries(strategy).filter(([name]) => !ways.has(name)));

/** SHA-256 of a scenario without its seed and call options. */
function scenarioDigest(given: Scenario): string {
  const { seed: _, ...scenario } = withoutStops(given);
  const agents = scenario.agents.map(withoutWays);
  const interventions = scenario.interventions.map((one) =>
    one.kind === 'strategy' ? withoutWays(one) : one,
  );
  return sha256Hex(canonical({ ...scenario, agents, interventions }));
}

const withoutWays = <T extends { strategy: WantedStrategy }>(one: T): object =>
  isExternal(one.strategy) ? { ...one, strategy: essence(one.strategy) } : one;

/** SHA-256 of a decider's strategy and prompts. */
function deciderDigest(strategy: External, prompts: ReadonlyMap<string, string>): string {
  return sha256Hex(
    canonical({ strategy: essence(strategy), prompts: Object.fromEntries(prompts) }),
  );
}

interface Prompts {
  /** Prompt texts by name. */
  texts: Map<string, string>;
  /** SHA-256 of each file, by its path in the scenario. */
  files: Record<string, string>;
}

/** Checks all prompts of a scenario. @throws {ScenarioError} */
export function assertPrompts(scenario: Scenario, folder: string): void {
  for (const external of listExternals(scenario)) promptsOf(external, folder);
}

/** @throws {ScenarioError} if a prompt cannot be read, or has an unknown placeholder. */
function promptsOf(
  { group, strategy }: { group: string; strategy: External },
  folder: string | undefined,
): Prompts {
  const named = 'prompts' in strategy ? (strategy.prompts ?? {}) : {};
  const texts = new Map<string, string>();
  const files: Record<string, string> = {};
  for (const [name, path] of Object.entries(named as Record<string, string>)) {
    if (folder === undefined) throw scenarioError('UNKNOWN_FOLDER', { file: path });
    const found = fileInside(path, folder, 'a text');
    if ('why' in found) throw scenarioError('INVALID_PROMPT', { group, name, problem: found.why });
    const { size } = statSync(found.file);
    if (size > LARGEST_PROMPT_BYTES) {
      const problem = `is ${path} of ${size} bytes; expected at most ${LARGEST_PROMPT_BYTES}`;
      throw scenarioError('INVALID_PROMPT', { group, name, problem });
    }
    const bytes = readFileSync(found.file);
    const problem = findPlaceholderProblem(bytes.toString());
    if (problem !== null) throw scenarioError('INVALID_PROMPT', { group, name, problem });
    texts.set(name, bytes.toString());
    files[path] = sha256Hex(bytes);
  }
  return { texts, files };
}

interface Opened {
  door: DeciderAdapter;
  /** Secret values that must not be recorded. */
  secrets: string[];
}

interface OpenOptions {
  group: string;
  folder: string | undefined;
  prompts: ReadonlyMap<string, string>;
}

/** Environment variables that a program needs to start and run. All others are withheld. */
const harmless = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TEMP', 'TMP'],
  ...['SystemRoot', 'ComSpec', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
];

/** @throws {ScenarioError} if a required variable is not set or the MCP SDK is missing. */
async function assertAskable(group: string, strategy: External): Promise<void> {
  const keys = 'key_env' in strategy ? [strategy.key_env ?? []].flat() : [];
  const names = 'env' in strategy ? strategy.env : [];
  for (const name of [...keys, ...names]) variable(name, group);
  if (strategy.kind !== 'mcp') return;
  const { loadSdk } = await import('./mcp-adapter.js');
  await loadSdk(group);
}

/** @throws {ScenarioError} if a variable is not set or the folder is unknown. */
async function openDoor(strategy: External, options: OpenOptions): Promise<Opened> {
  if (strategy.kind === 'http') return openHttp(strategy, options);
  return strategy.kind === 'mcp' ? openMcp(strategy, options) : openExec(strategy, options);
}

async function openHttp(strategy: StrategyOf<'http'>, options: OpenOptions): Promise<Opened> {
  const { url, dialect, key_env, model, request, most_at_once: atOnce } = strategy;
  const key = key_env === undefined ? undefined : variable(key_env, options.group);
  const chat = { model: model ?? '', prompts: options.prompts, request };
  // Load the HTTP client only when the decider is called.
  const { chatDialect, createHttpAdapter, plainDialect } = await import('./http-adapter.js');
  const spoken = dialect === 'openai' ? chatDialect(chat) : plainDialect;
  const adapter = createHttpAdapter({ url, key, atOnce, dialect: spoken });
  return { door: adapter, secrets: key === undefined ? [] : [key] };
}

function openExec(strategy: StrategyOf<'exec'>, options: OpenOptions): Opened {
  const { processes, most_at_once: atOnce } = strategy;
  const { program, secrets } = programOf(strategy, options);
  return { door: createProgramAdapter({ ...program, processes, atOnce }), secrets };
}

async function openMcp(strategy: StrategyOf<'mcp'>, options: OpenOptions): Promise<Opened> {
  const { command, url, tool, env, key_env, most_at_once: sessions } = strategy;
  // Load the SDK only when the decider is called.
  const { loadSdk, createMcpAdapter } = await import('./mcp-adapter.js');
  const adapter = (place: Place) =>
    loadSdk(options.group).then((sdk) => {
      return createMcpAdapter({ sdk, place, tool, sessions });
    });
  if (url === undefined) {
    const { program, secrets } = programOf({ command: command!, env }, options);
    return { door: await adapter(program), secrets };
  }
  const key = key_env === undefined ? undefined : variable(key_env, options.group);
  return { door: await adapter({ url, key }), secrets: key === undefined ? [] : [key] };
}

type Started = Pick<StrategyOf<'exec'>, 'command' | 'env'>;

function programOf({ command, env: names }: Started, { group, folder }: OpenOptions) {
  if (folder === undefined) throw scenarioError('UNKNOWN_FOLDER', { file: command[0]! });
  const own = names.map((name) => [name, variable(name, group)] as const);
  const kept = harmless.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const env: Record<string, string> = Object.fromEntries([...kept, ...own]);
  return { program: { command, folder, env }, secrets: own.map(([, value]) => value) };
}

function variable(name: string, group: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw scenarioError('VARIABLE_NOT_SET', { group, name });
}
