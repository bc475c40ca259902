/**
 * The requests of a run. Scenarios mix kinds by weight and share the sources of the kinds. A kind
 * that cannot be sent now catches up later.
 */
import { type Agent, AgentPool } from '../agents.js';
import { lengthMs, peak, planned, usersOf } from '../executors.js';
import { loadError } from '../messages.js';
import {
  type Kind,
  kinds,
  kindsOf,
  type LoadOptions,
  type Mix,
  type Scenario,
  scenariosOf,
  sharesOf,
  signsIn,
} from '../options.js';
import { sizeOf } from '../request-texts.js';
import type { Call, Expected, Limit, RunContext, Source, Wait } from '../workload.js';
import type { Script } from './script.js';

interface Setting {
  pool: AgentPool;
  progress(line: string): void;
  expected: Expected;
}

type Make = (setting: Setting) => Promise<Source>;

const reading =
  (kind: Kind): Make =>
  async ({ pool, progress }) => {
    const { reads } = await import('./reads.js');
    const own = pool.agents.map(({ id }) => id);
    return reads(kind, own, pool.context, progress);
  };

const chaining =
  (arrivals: 'votes' | 'proposals'): Make =>
  async ({ pool, expected }) =>
    (await import('./chained.js')).chained(pool, expected, arrivals);

const connecting =
  (kind: 'connect' | 'reconnect' | 'slowread'): Make =>
  async ({ pool }) => {
    const { connections } = await import('./connections.js');
    return connections(pool, kind, await agentsOf(pool));
  };

/** Modules of the kinds, in the order in which they are prepared: the chain registers first. */
const modules: Record<Exclude<Kind, 'script'>, Make> = {
  vote: chaining('votes'),
  propose: chaining('proposals'),
  status: async ({ pool, expected }) => {
    const { Drafts } = await import('./drafts.js');
    const reason = (number: number) => `load ${pool.run} status ${number}`;
    const draft = (number: number) => ({ do: 'status', reason: reason(number) }) as const;
    const agents = shareOf(await agentsOf(pool), 0, pool.context.options);
    return new Drafts(pool, { agents, expected, draft }).prepared();
  },
  meme: async ({ pool, expected }) => {
    const { Drafts } = await import('./drafts.js');
    const { payload = {} } = pool.context.options;
    const draft = (number: number) => {
      const text = `meme ${number} of run ${pool.run}`;
      return { do: 'meme', text: text.padEnd(sizeOf(payload, number), ' -') } as const;
    };
    return new Drafts(pool, { agents: await agentsOf(pool), expected, draft }).prepared();
  },
  update: async ({ pool, expected, progress }) => {
    const { updates } = await import('./subscribers.js');
    return updates(pool, expected, usersOf(pool.context.options), progress);
  },
  connect: connecting('connect'),
  reconnect: connecting('reconnect'),
  slowread: connecting('slowread'),
  read: reading('read'),
  state: reading('state'),
  agents: reading('agents'),
  reputation: reading('reputation'),
};

/** Returns the agents of the run. Without a chain, they are registered here. */
async function agentsOf(pool: AgentPool) {
  if (pool.agents.length === 0) {
    await pool.register(Math.max(1, pool.context.options.agents), () => ['producer']);
  }
  return [...pool.agents];
}

/** Gives each source of status changes its agents, whose changes a server takes only in order. */
function shareOf(all: readonly Agent[], source: number, options: LoadOptions): Agent[] {
  const scripts = scenariosOf(options).filter(({ script }) => script !== null);
  const count = scripts.length + 1;
  return all.filter((_, index) => all.length < count || index % count === source);
}

/** Weights beyond which arrivals wait for a kind that cannot be sent: those of ten arrivals. */
const DEBT = 10;

/** Adds each kind's share to its credit per arrival, and sends the ready kind with the most. */
class Draw {
  readonly #sources: readonly { share: number; source: Source }[];
  readonly #credit: number[];
  /** Source for which the last arrival waited. */
  #waits: Source;

  constructor(mix: Mix, sourceOf: (kind: Kind) => Source) {
    this.#sources = sharesOf(mix).map(({ kind, share }) => ({ share, source: sourceOf(kind) }));
    this.#credit = this.#sources.map(({ share }) => share);
    this.#waits = this.#sources[0]!.source;
  }

  next(intendedMs: number): Call | null {
    if (this.#sources.length === 1) return this.#waits.next(intendedMs);
    const order = this.#credit.map((_, index) => index);
    for (const index of order.sort((a, b) => this.#credit[b]! - this.#credit[a]!)) {
      const { source } = this.#sources[index]!;
      const call = source.next(intendedMs);
      if (!call) {
        this.#waits = source;
        // Arrivals wait for a kind with too much credit, so that others do not dominate.
        if (this.#credit[index]! > DEBT) return null;
        continue;
      }
      for (const [at, { share }] of this.#sources.entries()) this.#credit[at]! += share;
      this.#credit[index]! -= 1;
      return call;
    }
    return null;
  }

  waitsFor(): Wait {
    return this.#waits.waitsFor?.() ?? 'answers';
  }

  /** Returns the lowest limit of a kind, as a rate of all arrivals. */
  limit(perS: number): Limit | null {
    const limits = this.#sources.flatMap(({ share, source }) => {
      const limit = source.limit?.(perS * share);
      return limit ? [{ ...limit, perS: limit.perS / share }] : [];
    });
    return limits.reduce<Limit | null>((least, one) => {
      return least && least.perS <= one.perS ? least : one;
    }, null);
  }
}

export class Workload {
  readonly #scenarios: readonly Scenario[];
  readonly #sources = new Map<Kind, Source>();
  readonly #scripts = new Map<Scenario, Source & { close(): void }>();
  #draws: Draw[] = [];
  #pool: AgentPool | null = null;

  /** @throws {Failure} `MIX_OF_CHAINS` */
  constructor(options: LoadOptions) {
    this.#scenarios = scenariosOf(options);
    const used = new Set(kindsOf(options).map(({ kind }) => kind));
    if (used.has('vote') && used.has('propose')) throw loadError('MIX_OF_CHAINS', {});
  }

  /** Registers agents, signs ahead and connects. Returns the number of subscribers. */
  async prepare(context: RunContext, progress: (line: string) => void): Promise<number> {
    const pool = new AgentPool(context, progress);
    this.#pool = pool;
    const { options } = context;
    // A wrong module is found before agents are registered.
    const scripts = new Map<Scenario, Script>();
    for (const scenario of this.#scenarios) {
      if (!scenario.script) continue;
      const { Script } = await import('./script.js');
      scripts.set(scenario, await Script.load(scenario.script));
    }
    if (signsIn(options)) await pool.gather();
    const used = kindsOf(options).map(({ kind }) => kind);
    for (const [kind, make] of Object.entries(modules) as [Kind, Make][]) {
      if (!used.includes(kind)) continue;
      const setting = { pool, progress, expected: this.#expected(kind) };
      this.#sources.set(kind, await make(setting));
    }
    for (const [scenario, script] of scripts) await this.#addScript(scenario, script, pool);
    this.#draws = this.#scenarios.map(
      (scenario) =>
        new Draw(scenario.mix, (kind) => {
          return (kind === 'script' ? this.#scripts.get(scenario) : this.#sources.get(kind))!;
        }),
    );
    pool.ready();
    const listens = (['update', 'connect', 'reconnect'] as const).some((one) => used.includes(one));
    return listens ? options.agents : 0;
  }

  next(scenario: number, intendedMs: number): Call | null {
    return this.#draws[scenario]!.next(intendedMs);
  }

  waitsFor(scenario: number): Wait {
    return this.#draws[scenario]!.waitsFor();
  }

  limit(scenario: number, perS: number): Limit | null {
    return this.#draws[scenario]?.limit(perS) ?? null;
  }

  onReturned(): void {
    for (const source of this.#sources.values()) source.onReturned?.();
  }

  notes(): string[] {
    return [...this.#sources.values()].flatMap((source) => source.notes?.() ?? []);
  }

  async drain(signal: AbortSignal): Promise<void> {
    const all = [...this.#sources.values(), ...this.#scripts.values()];
    await Promise.all(all.map((source) => source.drain?.(signal)));
  }

  /** Closes connections and threads, and sets the run's agents inactive. */
  async close(): Promise<void> {
    for (const script of this.#scripts.values()) script.close();
    await this.#pool?.close();
  }

  signed(): { keys: number; messages: number; preparedAhead: number } {
    return this.#pool!.record.signed;
  }

  async #addScript(scenario: Scenario, script: Script, pool: AgentPool): Promise<void> {
    const { openScript } = await import('./script.js');
    const source = this.#scripts.size + 1;
    const agents = shareOf(await agentsOf(pool), source, pool.context.options);
    const expected = expectedOf(scenario.plan, kinds.script.guessPerS);
    const votes = this.#sources.get('vote') ?? null;
    this.#scripts.set(
      scenario,
      await openScript(scenario, { script, pool, agents, expected, votes }),
    );
  }

  /** Expected requests of a kind, in all scenarios together. */
  #expected(kind: Kind): Expected {
    const all = this.#scenarios.map(({ plan, mix, script }) => {
      const votes = script?.votes && kind === 'vote';
      const { share = 0, row } = sharesOf(mix).find((one) => one.kind === kind) ?? {};
      const { guessPerS = 0 } = votes ? kinds.script : (row ?? {});
      const { perS, total } = expectedOf(plan, guessPerS);
      return votes ? { perS, total } : { perS: share * perS, total: share * total };
    });
    const sum = (of: (one: Expected) => number) => all.reduce((whole, one) => whole + of(one), 0);
    return { perS: sum(({ perS }) => perS), total: Math.ceil(sum(({ total }) => total)) };
  }
}

/** Returns the expected iterations of a plan, with one second to spare. */
function expectedOf(plan: Scenario['plan'], guessPerS: number): Expected {
  const perS = plan.of === 'arrivals' ? peak(plan) : guessPerS;
  if (plan.of === 'arrivals') return { perS, total: planned(plan, lengthMs(plan)) + perS };
  const { count = Number.POSITIVE_INFINITY, each } = plan.iterations ?? {};
  const most = count * (each ? peak(plan) : 1);
  return { perS, total: Math.min(most, perS * (lengthMs(plan) / 1_000 + 1)) };
}
