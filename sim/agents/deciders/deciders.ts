/**
 * The external deciders of a run. Agents put their questions, and the world fetches the answers of
 * all that were asked in one window: from a cassette, or from whoever decides.
 */
import { StoreError } from '../../../engine/internal.js';
import { externalsIn } from '../../scenario/external.js';
import { ScenarioError } from '../../scenario/problem.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { External } from '../../scenario/schema/strategies.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';
import type { Answered, Asking } from '../port/asking.js';
import type { World } from '../port/world.js';
import { commandFor, type Doing } from '../script/commands/commands.js';
import { type Asked, strategyFrom } from '../script/strategy.js';
import type { Occasion } from '../script/view.js';
import type { Usage } from './answer.js';
import { Asker, type Decided, type ToAsk } from './asker.js';
import { Budget, DeciderError } from './budget.js';
import { FORMAT, type Recorded } from './cassette/format.js';
import { Tapes } from './cassette/tapes.js';
import { checkAskable, openDoor } from './doors/open.js';
import { type DeciderFigures, Figures } from './figures.js';
import { deciderDigest, promptsOf, scenarioDigest } from './identity.js';
import { type Question, questionOf } from './question.js';

/** Where answers come from, and where they are kept. */
export interface DeciderOptions {
  /** A cassette or a run's folder: answers are taken from there. */
  cassette?: string;
  /** What no cassette holds is asked; default: that is an error. */
  record?: boolean;
  /** The run's own cassette; default: `decisions.cassette` in `out`. */
  keep?: string;
  /** Calls in this process; when they are spent the run ends, and can go on later. */
  mostCalls?: number;
}

export interface DeciderHooks {
  /** Ends all that is under way. */
  signal?: AbortSignal | undefined;
  onNote?: ((note: string) => void) | undefined;
  /** Called before each call, with the number of calls so far. */
  onCall?: ((made: number) => void) | undefined;
}

/** The decider of a group. */
interface Mind {
  group: string;
  strategy: External;
  digest: string;
  prompts: ReadonlyMap<string, string>;
  /** Opened when it is asked first. */
  asker: Asker | null;
}

/** What is kept of an agent. */
interface Notes {
  memory: unknown;
  /** Questions by kind. */
  counts: Partial<Record<Asked, number>>;
}

interface Pending {
  mind: Mind;
  question: Question;
  doing: Doing;
  at: number;
  /** The answer or failure, as the cassette has it. */
  record: Recorded | null;
}

export class Deciders implements Asking {
  /** sha256 of each prompt, by its path in the scenario. */
  readonly files: Record<string, string> = {};
  readonly #tapes: Tapes;
  readonly #folder: string | undefined;
  readonly #record: boolean;
  readonly #budget: Budget;
  readonly #hooks: DeciderHooks;
  readonly #minds: Mind[] = [];
  readonly #notes = new Map<number, Notes>();
  #pending: Pending[] = [];
  readonly #waiting = new Set<number>();
  readonly #figures = new Figures();
  readonly #end = new AbortController();

  private constructor(
    tapes: Tapes,
    { record = false, mostCalls = Number.POSITIVE_INFINITY }: DeciderOptions,
    hooks: DeciderHooks,
    folder: string | undefined,
  ) {
    this.#tapes = tapes;
    this.#record = record;
    this.#hooks = hooks;
    this.#folder = folder;
    this.#budget = new Budget(mostCalls, (made) => hooks.onCall?.(made));
    const { signal } = hooks;
    if (signal?.aborted) this.#end.abort();
    signal?.addEventListener('abort', this.#stop);
  }

  /**
   * For a scenario that has some.
   * @throws {ScenarioError} when nobody may be asked and no cassette is named, or what asking needs
   * is not there.
   * @throws {StoreError} naming what is wrong with a cassette.
   */
  static async open(
    scenario: Scenario,
    { seed, folder, ...options }: DeciderOptions & { seed: string; folder: string | undefined },
    hooks: DeciderHooks,
  ): Promise<Deciders> {
    const groups = externalsIn(scenario);
    const { cassette, record = false, keep } = options;
    if (!record && cassette === undefined) {
      const those = groups.map(({ group, strategy }) => `${group} (${strategy.kind})`).join(', ');
      const how = '--record asks them and keeps what they say, --cassette RUN takes what was kept';
      throw new ScenarioError(`deciders outside of the simulation decide for ${those}: ${how}`);
    }
    if (record && keep === undefined) {
      throw new ScenarioError('what deciders say is to be kept: --record needs --out');
    }
    for (const { group, strategy } of groups) {
      if (record) await checkAskable(group, strategy);
    }
    const header = { format: FORMAT, scenario: scenarioDigest(scenario), seed } as const;
    const onNote = (note: string) => hooks.onNote?.(note);
    const tapes = Tapes.open({ header, cassette, record, keep, onNote });
    return new Deciders(tapes, options, hooks, folder);
  }

  /** @throws {ScenarioError} when a prompt cannot be read. */
  strategyOf({ group, strategy }: { group: string; strategy: External }): Strategy {
    const { texts: prompts, files } = promptsOf({ group, strategy }, this.#folder);
    Object.assign(this.files, files);
    const digest = deciderDigest(strategy, prompts);
    const mind: Mind = { group, strategy, digest, prompts, asker: null };
    this.#minds.push(mind);
    const asks = new Set<Asked>(strategy.asks);
    return strategyFrom((kind, agent, world, occasion) => {
      if (!asks.has(kind)) return false;
      this.#put(mind, kind, agent, world, occasion);
      return true;
    });
  }

  waits(agent: number): boolean {
    return this.#waiting.has(agent);
  }

  /**
   * @throws {DeciderError} when nobody may be asked, or the calls are spent.
   * @throws {AskingEnded} when the run was ended. @throws {StoreError} about a cassette.
   */
  async answers(): Promise<readonly Answered[]> {
    if (this.#pending.length === 0) return none;
    const asked = this.#pending;
    this.#pending = [];
    const open = asked.filter((pending) => !this.#taken(pending));
    if (open.length > 0) await this.#askFor(open);
    this.#waiting.clear();
    return asked.map((pending) => this.#answered(pending));
  }

  get figures(): DeciderFigures {
    return this.#figures.all;
  }

  /** The whole cassette: to be called at the end of a run. */
  finish(): Promise<void> {
    return this.#tapes.finish();
  }

  async close(): Promise<void> {
    this.#hooks.signal?.removeEventListener('abort', this.#stop);
    await this.#tapes.durable().catch(() => {});
    this.#tapes.close();
    await Promise.all(this.#minds.map(({ asker }) => asker?.close()));
  }

  readonly #stop = (): void => this.#end.abort();

  #put(mind: Mind, kind: Asked, agent: ScriptedAgent, world: World, occasion: Occasion): void {
    const { ordinal } = agent;
    const notes = this.#notes.get(ordinal) ?? { memory: {}, counts: {} };
    this.#notes.set(ordinal, notes);
    const number = notes.counts[kind] ?? 0;
    notes.counts[kind] = number + 1;
    const kept = { parameters: mind.strategy.parameters, memory: notes.memory };
    const question = questionOf({ agent: ordinal, kind, number }, agent, world, occasion, kept);
    const { block, round = 0, alliance } = occasion;
    const doing = { agent, world, block, round, alliance };
    this.#pending.push({ mind, question, doing, at: world.now, record: null });
    this.#waiting.add(ordinal);
  }

  /** Whether a cassette has it. */
  #taken(pending: Pending): boolean {
    const { question, mind } = pending;
    const key = { ...keyOf(question), decider: mind.digest };
    pending.record = this.#tapes.take(key);
    if (!pending.record && !this.#record) throw this.#tapes.unanswered(key, question.view);
    return pending.record !== null;
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
        wasted: (usage) => this.#tapes.wasted(key, usage),
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
    const what = `the call budget is spent: ${this.#budget.made} calls (--most-calls)`;
    const next = 'the answers are kept: repeat the command to continue, a sweep with --resume';
    throw new DeciderError(`${what}, ${left} questions are open; ${next}`);
  }

  #keep(pending: Pending, decided: Decided): void {
    const { mind, question } = pending;
    const key = { ...keyOf(question), decider: mind.digest };
    const cost = this.#tapes.costOf(key);
    const record = { ...key, view: question.view, ...cost, ...decided } as Recorded;
    pending.record = record;
    this.#figures.asked += 1;
    this.#tapes.add(record);
  }

  async #askerOf(mind: Mind): Promise<Asker> {
    if (mind.asker) return mind.asker;
    const { group, strategy, prompts } = mind;
    const opened = await openDoor(strategy, { group, folder: this.#folder, prompts });
    const { signal } = this.#end;
    const onNote = (note: string) => this.#hooks.onNote?.(note);
    mind.asker = new Asker({ group, strategy, ...opened, budget: this.#budget, signal, onNote });
    return mind.asker;
  }

  #answered({ question, doing, at, record }: Pending): Answered {
    const { agent } = question;
    const { calls, unusable, answer, failure } = record!;
    const used = (name: keyof Usage) => (answer?.usage?.[name] ?? 0) + (unusable?.[name] ?? 0);
    const tokens = { inputTokens: used('input_tokens'), outputTokens: used('output_tokens') };
    const cost = { calls, failed: failure !== undefined, ...tokens };
    this.#figures.add(cost, failure?.reason);
    const act = () => {
      if (!answer) return;
      if (answer.memory) this.#notes.get(agent)!.memory = answer.memory;
      for (const act of actsOf(answer.commands, doing, question)) act();
    };
    return { agent, at, cost, act };
  }
}

const none: readonly Answered[] = [];

const keyOf = ({ agent, kind, number, saw }: Question) => ({ agent, kind, number, saw });

/** All of them are checked before the first is done. */
function actsOf(commands: readonly unknown[], doing: Doing, { id }: Question): (() => void)[] {
  try {
    return commands.map((command) => commandFor(command, doing));
  } catch (cause) {
    const why = `the cassette's answer to ${id} has a command that cannot be`;
    throw new StoreError('CORRUPT', `${why}: ${(cause as Error).message}`, { cause });
  }
}
