/**
 * Clock of an observed run: pauses between windows, runs single steps, runs until an event, or runs
 * at a given speed. The clock does not affect the log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ClockView,
  Control,
  ControlCommand,
  ControlName,
  RunMaker,
  RunsView,
  Until,
} from '../../api/contract/control.js';
import type { PublishedEvent } from '../../engine/node/encode.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';

/** Parts of the network that the clock needs. */
interface PacedNetwork extends Pick<ServedNetwork, 'durable' | 'onEvents'> {
  read: { position: { at: number } };
}

export interface PaceOptions {
  /** True to pause before the first window. */
  paused?: boolean;
  /** Speed relative to wall time; null for full speed. */
  speed?: number | null;
  /** Releases all current and future waits. */
  signal?: AbortSignal;
  /** Runs that the page may start. */
  laboratory?: RunMaker;
}

/** Maximum delay to catch up. After a longer delay, the run stays behind the requested speed. */
const BEHIND_MS = 250;

export class Pace implements Control {
  readonly kind = 'sim';
  readonly can: readonly ControlName[];
  readonly runs?: (mayStart: boolean) => RunsView;
  readonly #laboratory: RunMaker | null;
  readonly #listeners = new Set<() => void>();
  readonly #signal: AbortSignal | null;
  #network: PacedNetwork | null = null;
  #now = 0;
  #paused: boolean;
  #speed: number | null;
  #until: Until | null = null;
  /** Run time at which `until` ends. */
  #untilAt = Number.POSITIVE_INFINITY;
  #steps = 0;
  #over = false;
  /** Wall time and run time at the last speed change. */
  #from: { wall: number; now: number } | null = null;
  /** Ends the current wait when a command arrives. */
  #wake: () => void = () => {};
  /** True while the run is paused and all earlier entries are durable. */
  #standing = false;
  #standers: (() => void)[] = [];

  constructor({ paused = false, speed = null, signal, laboratory }: PaceOptions = {}) {
    const runs = laboratory ? (['run', 'cancel'] as const) : [];
    this.can = ['pause', 'resume', 'step', 'until', 'speed', ...runs];
    this.#laboratory = laboratory ?? null;
    if (laboratory) {
      this.runs = (mayStart) => laboratory.view(mayStart);
      laboratory.onChange(() => this.#notify());
    }
    this.#paused = paused;
    this.#speed = speed;
    this.#signal = signal ?? null;
    signal?.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Connects the network. Its events can end an `until` command. */
  begin(network: PacedNetwork): void {
    this.#network = network;
    this.#now = network.read.position.at;
    network.onEvents((events) => this.#see(events));
  }

  clock(): ClockView {
    const at = formatInstant(this.#now);
    const [paused, speed, until, over] = [this.#paused, this.#speed, this.#until, this.#over];
    return { holds: 'run', paused, speed, until, at, over };
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async do(command: ControlCommand): Promise<Refusal | null> {
    if (command.do === 'run') return this.#laboratory?.start(command) ?? null;
    if (command.do === 'cancel') {
      this.#laboratory?.cancel();
      return null;
    }
    if (command.do === 'speed') this.#speed = command.speed;
    else if (command.do === 'step') this.#steps = 1;
    this.#paused = command.do === 'pause' || command.do === 'step' || this.#keepsPaused(command);
    if (command.do !== 'speed') this.#setUntil(command.do === 'until' ? command.until : null);
    this.#from = null;
    this.#standing = false;
    this.#wake();
    this.#notify();
    if (!this.#paused) this.#release();
    if (command.do === 'pause' || command.do === 'step') await this.#stands();
    return null;
  }

  /** Awaited before each window. */
  pace = (now: number): Promise<void> | undefined => {
    this.#now = now;
    const free = !this.#paused && this.#speed === null && this.#until === null;
    return free || this.#signal?.aborted ? undefined : this.#wait();
  };

  /** Awaited at the end of the run. A pending `until` pauses it. Waits while the run is paused. */
  over = async (): Promise<void> => {
    this.#over = true;
    if (this.#until !== null) this.#pause();
    else this.#notify();
    while (this.#paused && !this.#signal?.aborted) {
      this.#steps = 0;
      await this.#stand();
    }
  };

  /** Resolves all commands that wait for the run to pause. */
  end(): void {
    this.#release();
  }

  async #wait(): Promise<void> {
    // Wait until earlier events have been processed, so that `until` ends at the right window.
    if (this.#until !== null) await this.#network?.durable;
    if (this.#until !== null && this.#now >= this.#untilAt) this.#pause();
    while (!this.#signal?.aborted) {
      if (this.#paused) {
        if (this.#steps > 0) {
          this.#steps -= 1;
          return;
        }
        await this.#stand();
        continue;
      }
      const ms = this.#aheadMs();
      if (ms <= 0) return;
      await this.#asked(ms);
    }
  }

  /** Returns the wall time until the run's time is due. */
  #aheadMs(): number {
    if (this.#speed === null) return 0;
    const wall = performance.now();
    this.#from ??= { wall, now: this.#now };
    const ahead = this.#from.wall + (this.#now - this.#from.now) / this.#speed - wall;
    if (ahead < -BEHIND_MS) this.#from = { wall, now: this.#now };
    return ahead;
  }

  async #stand(): Promise<void> {
    // During a pause, everything that happened must be durable and visible.
    await this.#network?.durable;
    if (!this.#paused || this.#steps > 0) return;
    this.#release();
    this.#standing = true;
    await this.#asked();
    this.#standing = false;
  }

  /** Resolves when a command arrives, or after a timeout. */
  async #asked(ms?: number): Promise<void> {
    const timer = new AbortController();
    const asked = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#signal?.aborted) return;
    if (ms === undefined) return asked;
    const wait = sleep(Math.min(ms, 2 ** 31 - 1), undefined, { signal: timer.signal });
    await Promise.race([asked, wait.catch(() => {})]);
    timer.abort();
  }

  #stands(): Promise<void> {
    if (this.#standing) return Promise.resolve();
    return new Promise((resolve) => this.#standers.push(resolve));
  }

  #release(): void {
    for (const resolve of this.#standers.splice(0)) resolve();
  }

  /**
   * Returns true if a paused run stays paused: after `speed`, and after `until` if the run is over,
   * because nothing else will happen.
   */
  #keepsPaused({ do: what }: ControlCommand): boolean {
    return this.#paused && (what === 'speed' || (what === 'until' && this.#over));
  }

  #setUntil(until: Until | null): void {
    this.#until = until;
    this.#untilAt = this.#now + (until?.ms ?? Number.POSITIVE_INFINITY);
  }

  #see(events: readonly PublishedEvent[]): void {
    const until = this.#until;
    if (until === null) return;
    const ends = events.some(({ type, status }) => {
      if (until.what === 'block') return type === 'block_proposal';
      const isOutcome = until.what === 'outcome' && status !== null;
      return isOutcome && (until.status ?? status) === status;
    });
    if (ends) this.#pause();
  }

  #pause(): void {
    this.#paused = true;
    this.#until = null;
    this.#from = null;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
