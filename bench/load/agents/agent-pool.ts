/**
 * What a workload with agents works with: threads that sign, the server's clock, and its agents,
 * from before they are registered until they are taken out again.
 */
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { LoadError } from '../error.js';
import { SignedRecord } from '../prepare/signed-record.js';
import { Signers } from '../prepare/signers.js';
import { Supply, type SupplyPlan } from '../prepare/supply.js';
import { Asker } from '../server/ask.js';
import { lookAround, type Surroundings } from '../server/state.js';
import type { RunContext } from '../workload.js';
import { type Agent, deregister, register } from './agents.js';

/** Beside those of the run. */
const CONNECTIONS = 64;

export class AgentPool {
  readonly context: RunContext;
  readonly progress: (line: string) => void;
  readonly asker: Asker;
  readonly record = new SignedRecord();
  /** Names this run in what it writes. */
  readonly run: string;
  readonly agents: Agent[] = [];
  #found: { surroundings: Surroundings; signers: Signers } | null = null;
  readonly #stamps = new Map<number, number>();
  readonly #ends: (() => void)[] = [];
  #closed = false;

  constructor(context: RunContext, progress: (line: string) => void) {
    const { seed, url } = context.options;
    this.context = context;
    this.progress = progress;
    this.asker = new Asker(url, CONNECTIONS);
    // By the time as well: a seed that is given again must not make the same transactions again.
    this.run = sha256Hex(`folkmoot-load-run\n${seed}\n${Date.now()}`).slice(0, 16);
  }

  /** Looks at the server first of all. @throws {LoadError} when it is not as it should be. */
  async gather(): Promise<void> {
    const surroundings = await lookAround(this.asker);
    if (this.#closed) throw new LoadError('the run is over');
    const { seed } = this.context.options;
    const networkId = surroundings.networkId ?? '';
    this.#found = { surroundings, signers: new Signers({ seed, run: this.run, networkId }) };
  }

  get surroundings(): Surroundings {
    return this.#found!.surroundings;
  }

  get signers(): Signers {
    return this.#found!.signers;
  }

  /** The server's time. */
  readonly now = (): number => Date.now() + this.surroundings.offsetMs;

  /** A timestamp, later than any this agent signed before. */
  readonly stamp = (agent: number, wantedMs: number): string => {
    const atMs = Math.max(Math.round(wantedMs), (this.#stamps.get(agent) ?? 0) + 1);
    this.#stamps.set(agent, atMs);
    return new Date(atMs).toISOString();
  };

  keys(count: number): Promise<string[]> {
    return this.signers.publicKeys(Array.from({ length: count }, (_, ordinal) => ordinal));
  }

  /** @throws {LoadError} when one is refused. */
  async register(
    keys: readonly string[],
    capabilitiesOf: (ordinal: number) => ('validator' | 'producer')[],
  ): Promise<void> {
    await register(keys, this.agents, { ...this.#means, capabilitiesOf });
  }

  /** Requests signed ahead, from now until the run is over. */
  supply<T extends { timestamp: string }>({
    make,
    perS,
    onReady,
  }: Pick<SupplyPlan<T>, 'make' | 'perS' | 'onReady'>): Supply<T> {
    const supply = new Supply<T>({
      make,
      stampOf: ({ timestamp }) => Date.parse(timestamp),
      expected: Math.ceil(perS * secondsOf(this.context)),
      perS,
      now: this.now,
      onReady,
      onFailed: this.signingFailed,
    });
    this.atEnd(() => supply.close());
    return supply;
  }

  /** The run cannot go on. */
  readonly signingFailed = ({ message }: Error): void =>
    this.context.fail(`signing failed: ${message}`);

  /** All is signed that is signed ahead: the warm-up begins. */
  ready(): void {
    const { context, record } = this;
    record.measuredFromMs = context.now() + context.options.warmupMs;
  }

  /** To be done when the run is over; at once, when it is over already. */
  atEnd(end: () => void): void {
    if (this.#closed) end();
    else this.#ends.push(end);
  }

  /** Whatever it was doing, it does no more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends) end();
    if (this.#found && !this.context.options.keepAgents) await deregister(this.agents, this.#means);
    await Promise.all([this.#found?.signers.close(), this.asker.close()]);
  }

  get #means() {
    const { asker, signers, now, stamp, progress } = this;
    return { asker, signers, now, stamp, progress };
  }
}

/** How long a run lasts, as far as what is signed ahead goes: a second more. */
export const secondsOf = ({ options }: RunContext): number =>
  (options.warmupMs + options.durationMs) / 1_000 + 1;
