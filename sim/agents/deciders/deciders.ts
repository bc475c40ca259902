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
  type Strategy as WantedStrategy,
} from '../../scenario/schema/strategies.js';
import type {
  AnswerCost,
  DecidedCall,
  QuestionGate,
  ScriptedAgent,
  Strategy,
  World,
} from '../port.js';
import { commandFor, type Doing } from '../script/commands.js';
import { type CalledFunction, type Occasion, strategyFrom } from '../script/interface.js';
import {
  type DeciderAdapter,
  type DeciderFigures,
  deciderError,
  type FailureReason,
} from './adapter.js';
import { FORMAT, type Recorded } from './cassette.js';
import { DeciderClient, type DecisionResult, type ToAsk } from './decider-client.js';
import { amountOf, Ledger, modelOf, priceOf, withoutStops } from './ledger.js';
import { cassetteError } from './messages.js';
import { createProgramAdapter, type Program } from './program-adapter.js';
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
  client: DeciderClient | null;
}

/** State kept for an agent. */
interface Notes {
  memory: unknown;
  /** Questions asked, by kind. */
  counts: Partial<Record<CalledFunction, number>>;
}

interface Pending extends ToAsk {
  mind: Mind;
  at: number;
  /** Recorded answer or failure. */
  record: Recorded | null;
}

/** Question with its answer, as a row of calls.csv. */
export interface AnsweredQuestion extends AnswerCost {
  agent: number;
  group: string;
  kind: CalledFunction;
  number: number;
  /** Time in milliseconds since 1970. */
  at: number;
  cached: boolean;
  failure: FailureReason | null;
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
  readonly #options: OpenedOptions;
  readonly #ledger: Ledger;
  readonly #scenario: Scenario;
  readonly #hooks: DeciderHooks;
  readonly #minds: Mind[] = [];
  readonly #notes = new Map<number, Notes>();
  #pending: Pending[] = [];
  readonly #waiting = new Set<number>();
  #asked = 0;
  readonly #end = new AbortController();

  private constructor(
    tapes: RunCassettes,
    scenario: Scenario,
    options: OpenedOptions,
    hooks: DeciderHooks,
  ) {
    this.#tapes = tapes;
    this.#options = options;
    this.#hooks = hooks;
    this.#scenario = scenario;
    const { mostCalls = Number.POSITIVE_INFINITY, record } = options;
    const { budget } = scenario;
    const onCall = (made: number) => hooks.onCall?.(made);
    const spending = record ? options.spending : undefined;
    this.#ledger = new Ledger({ budget, mostCalls, spending, onCall });
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
    const { texts: prompts, files } = promptsOf({ group, strategy }, this.#options.folder);
    Object.assign(this.files, files);
    const digest = deciderDigest(strategy, prompts);
    const price = priceOf(this.#scenario.budget, modelOf(strategy as { model?: string }));
    const mind: Mind = { group, strategy, digest, prompts, price, client: null };
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
    return { ...sumFigures(this.answered, this.#asked), ...priced };
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
    await Promise.all(this.#minds.map(({ client }) => client?.close()));
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
    const address = { agent: ordinal, kind, number };
    const question = createQuestion(address, agent, world, occasion, kept);
    const key = { ...address, decider: mind.digest, saw: question.saw };
    const { block, draw = 0, alliance } = occasion;
    const doing = { agent, world, block, draw, alliance };
    this.#pending.push({ mind, question, key, doing, at: world.now, record: null });
    this.#waiting.add(ordinal);
  }

  /** Takes the answer from a cassette. Returns false if the cassette has no answer. */
  #taken(pending: Pending): boolean {
    const { question, key, doing } = pending;
    pending.record = this.#tapes.take(key, question.view, (answer) => isValid(answer, doing));
    if (!pending.record && !this.#options.record) throw this.#tapes.unanswered(key, question.view);
    if (!pending.record) return false;
    this.#pay(pending, false);
    return true;
  }

  #pay({ mind, record }: Pending, isNew: boolean): void {
    if (!record!.cached) this.#ledger.pay(amountOf(record!, mind.price), isNew);
  }

  /** Records a failure instead of a question that exceeds a limit of its agent or block. */
  #isOverLimit(pending: Pending): boolean {
    const { question, key } = pending;
    const limit = this.#ledger.findLimit(question.agent, decisionOf(question));
    if (limit === null) return false;
    const failure = { reason: 'budget' as const, detail: `${limit} is spent` };
    pending.record = { ...key, view: question.view, calls: 0, failure };
    this.#tapes.add(pending.record);
    return true;
  }

  async #askFor(open: readonly Pending[]): Promise<void> {
    const all = this.#minds.map(async (mind) => {
      const own = open.filter((pending) => pending.mind === mind);
      if (own.length === 0) return;
      mind.client ??= await this.#openClient(mind);
      await mind.client.askAll(own, (pending, found) => this.#keep(pending, found));
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
    const { key, question } = pending;
    const cost = this.#tapes.costOf(key);
    pending.record = { ...key, view: question.view, ...cost, ...decided };
    this.#asked += 1;
    this.#tapes.add(pending.record);
    this.#pay(pending, true);
  }

  async #openClient({ group, strategy, prompts }: Mind): Promise<DeciderClient> {
    const { folder } = this.#options;
    return new DeciderClient({
      ...(await openAdapter(strategy, { group, folder, prompts })),
      ...{ group, strategy, ledger: this.#ledger, tapes: this.#tapes },
      signal: this.#end.signal,
      onNote: (note) => this.#hooks.onNote?.(note),
    });
  }

  #answered({ mind, question, doing, at, record }: Pending): DecidedCall {
    const { agent, kind, number, saw } = question;
    const { cached = false, calls, unusable, answer, failure } = record!;
    this.#ledger.charge(agent, decisionOf(question), amountOf(record!, mind.price), cached);
    const used = (name: keyof Usage) => (answer?.usage?.[name] ?? 0) + (unusable?.[name] ?? 0);
    const cost: AnsweredQuestion = {
      ...{ agent, group: mind.group, kind, number, at, calls, cached },
      ...{ failure: failure?.reason ?? null, block: doing.block?.hash ?? null, seen: saw },
      ...{ inputTokens: used('input_tokens'), outputTokens: used('output_tokens') },
      thought: answer?.thought ?? null,
    };
    this.answered.push(cost);
    const act = () => {
      if (!answer) return;
      if (answer.memory) this.#notes.get(agent)!.memory = answer.memory;
      for (const act of actsOf(answer.commands, doing, question)) act();
    };
    return { agent, at, cost, act };
  }
}

function sumFigures(all: readonly AnsweredQuestion[], asked: number): DeciderFigures {
  const sum = (figureOf: (one: AnsweredQuestion) => number) =>
    all.reduce((total, one) => total + figureOf(one), 0);
  const failures: DeciderFigures['failures'] = {};
  for (const reason of all.flatMap(({ failure }) => failure ?? []).sort()) {
    failures[reason] = (failures[reason] ?? 0) + 1;
  }
  const cached = sum((one) => Number(one.cached));
  return {
    ...{ questions: all.length, asked, calls: sum(({ calls }) => calls) },
    retries: sum(({ calls }) => Math.max(0, calls - 1)),
    failures,
    input_tokens: sum(({ inputTokens }) => inputTokens),
    output_tokens: sum(({ outputTokens }) => outputTokens),
    ...(cached > 0 ? { cached } : {}),
  };
}

const none: readonly DecidedCall[] = [];

/** Names the block of a question; null for a question about no block. */
function decisionOf({ view }: Question): string | null {
  const { block } = view as { block?: { producer: number; number: number } | null };
  return block ? `${block.producer}/${block.number}` : null;
}

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
    const invalid = (problem: string) => scenarioError('INVALID_PROMPT', { group, name, problem });
    if (folder === undefined) throw scenarioError('UNKNOWN_FOLDER', { file: path });
    const found = fileInside(path, folder, 'a text');
    if ('text' in found) throw invalid(found.text);
    const { size } = statSync(found.file);
    if (size > LARGEST_PROMPT_BYTES) {
      throw invalid(`is ${path} of ${size} bytes; expected at most ${LARGEST_PROMPT_BYTES}`);
    }
    const bytes = readFileSync(found.file);
    const problem = findPlaceholderProblem(bytes.toString());
    if (problem !== null) throw invalid(problem);
    texts.set(name, bytes.toString());
    files[path] = sha256Hex(bytes);
  }
  return { texts, files };
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
  variablesOf(group, strategy);
  if (strategy.kind === 'mcp') await (await import('./mcp-adapter.js')).loadSdk(group);
}

/**
 * Opens a decider. The HTTP client and the SDK are loaded only now.
 * @returns `secrets` are the values that must not be recorded.
 * @throws {ScenarioError} if a variable is not set or the folder is unknown.
 */
async function openAdapter(
  strategy: External,
  { group, folder, prompts }: OpenOptions,
): Promise<{ adapter: DeciderAdapter; secrets: string[] }> {
  const variables = variablesOf(group, strategy);
  const secrets = Object.values(variables);
  const { most_at_once: atOnce } = strategy;
  const key = 'key_env' in strategy ? variables[strategy.key_env ?? ''] : undefined;
  if (strategy.kind === 'http') {
    const { url, dialect, model = '', request } = strategy;
    const { chatDialect, createHttpAdapter, plainDialect } = await import('./http-adapter.js');
    const spoken = dialect === 'openai' ? chatDialect({ model, prompts, request }) : plainDialect;
    return { adapter: createHttpAdapter({ url, key, atOnce, dialect: spoken }), secrets };
  }
  const { command = [], env } = strategy;
  const passed = [...harmless, ...env].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const program = (): Program => {
    if (folder === undefined) throw scenarioError('UNKNOWN_FOLDER', { file: command[0]! });
    return { command, folder, env: Object.fromEntries(passed) };
  };
  if (strategy.kind === 'exec') {
    const { processes } = strategy;
    return { adapter: createProgramAdapter({ ...program(), processes, atOnce }), secrets };
  }
  const { loadSdk, createMcpAdapter } = await import('./mcp-adapter.js');
  const { url, tool } = strategy;
  const place = url === undefined ? program() : { url, key };
  const sdk = await loadSdk(group);
  return { adapter: createMcpAdapter({ sdk, place, tool, sessions: atOnce }), secrets };
}

/** Returns the values of the variables that a decider needs. @throws {ScenarioError} */
function variablesOf(group: string, strategy: External): Record<string, string> {
  const names = 'key_env' in strategy ? [strategy.key_env ?? []].flat() : [];
  if ('env' in strategy) names.push(...strategy.env);
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = process.env[name];
    if (!value) throw scenarioError('VARIABLE_NOT_SET', { group, name });
    values[name] = value;
  }
  return values;
}
