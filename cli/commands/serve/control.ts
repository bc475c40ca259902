/**
 * Pause, step and speed control for a served network. Control affects the scenario agents or, with
 * `--clock held`, the whole network. Control commands are not log entries.
 */
import type { ClockView, Control, ControlCommand, Until } from '../../../api/index.js';
import type { PublishedEvent } from '../../../engine/node/encode.js';
import type { Network } from '../../../engine/node/network.js';
import { formatInstant } from '../../../engine/protocol/schema/primitives.js';
import { type Refusal, refuse } from '../../../engine/protocol/schema/reason.js';
import type { Population } from '../../../sim/index.js';

export interface ControlledOptions {
  network: Network;
  /** True to pause the network as well as the agents. */
  holdsNetwork: boolean;
  /** Agent speed, or null without agents. */
  speed: number | null;
}

/** Condition for the next pause. A step pauses after the next commit. */
type Goal = { what: 'step' } | Until;

export class LiveControl implements Control {
  readonly kind = 'live';
  readonly can: Control['can'];
  readonly #network: Network;
  readonly #holdsNetwork: boolean;
  #agents: Population | null = null;
  #paused = false;
  #speed: number | null;
  #until: Until | null = null;
  /** Cancels the condition for the next pause. */
  #forgetGoal: () => void = () => {};
  readonly #listeners = new Set<() => void>();
  /** Runs commands one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ network, holdsNetwork, speed }: ControlledOptions) {
    this.#network = network;
    this.#holdsNetwork = holdsNetwork;
    this.#speed = speed;
    this.can = [
      'pause',
      'resume',
      ...(holdsNetwork ? (['step', 'until'] as const) : []),
      ...(speed === null ? [] : (['speed'] as const)),
    ];
  }

  async use(agents: Population): Promise<void> {
    this.#agents = agents;
    await this.#pace();
  }

  clock(): ClockView {
    return {
      holds: this.#holdsNetwork ? 'network' : 'agents',
      paused: this.#paused,
      speed: this.#speed ?? 1,
      until: this.#until,
      at: formatInstant(this.#network.time.now),
    };
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  do(command: ControlCommand): Promise<Refusal | null> {
    const done = this.#last.then(() => this.#do(command));
    this.#last = done.catch(() => {});
    return done;
  }

  async #do(command: ControlCommand): Promise<Refusal | null> {
    if (command.do === 'speed') return this.#setSpeed(command.speed);
    this.#forgetGoal();
    this.#until = command.do === 'until' ? command.until : null;
    this.#paused = command.do === 'pause';
    if (command.do === 'step') this.#stopAt({ what: 'step' });
    if (command.do === 'until') this.#stopAt(command.until);
    await this.#pace();
    this.#changed();
    return null;
  }

  async #setSpeed(speed: number | null): Promise<Refusal | null> {
    if (speed === null || speed > 1_000 || speed < 0.01) {
      return refuse('CONTROL_SPEED_INVALID', { speed: String(speed) }, { pointer: '/speed' });
    }
    this.#speed = speed;
    await this.#pace();
    this.#changed();
    return null;
  }

  /** Pauses agents before the network, so that agent requests receive responses. */
  async #pace(): Promise<void> {
    if (!this.#paused && this.#holdsNetwork) this.#network.time.release();
    await this.#agents?.pace(this.#paused ? 0 : (this.#speed ?? 1));
    if (this.#paused && this.#holdsNetwork) this.#network.time.hold();
  }

  #stopAt(goal: Goal): void {
    const stop = () => {
      this.#forgetGoal();
      void this.do({ do: 'pause' });
    };
    if (goal.what === 'time') {
      const timer = setTimeout(stop, goal.ms);
      this.#forgetGoal = () => clearTimeout(timer);
      return;
    }
    const forget = this.#network.onEvents((events) => {
      if (reached(goal, events)) stop();
    });
    this.#forgetGoal = forget;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Returns true if a commit meets the condition. Any commit completes a step. */
function reached(goal: Goal, events: readonly PublishedEvent[]): boolean {
  if (goal.what === 'step') return true;
  if (goal.what === 'block') return events.some(({ type }) => type === 'block_proposal');
  const { status } = goal as Until;
  return events.some((event) => event.status !== null && (status ?? event.status) === event.status);
}
