/** Scripted agents on a network of this process, until they are told to stop. */
import type { Network } from '../../../engine/internal.js';
import type { Observer } from '../../measure/index.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import { DirectGateway } from '../../world/gateway/direct.js';
import { assembleLive, type LiveOptions } from './live-run.js';

/** How a network is filled with the agents of a scenario. */
export interface PopulateOptions extends LiveOptions {
  /** Stops them. */
  signal?: AbortSignal;
  /** Called once: when the network knows all agents, or as many as it does after a while. */
  onJoined?: (joined: number) => void;
}

/** The agents of a scenario on a network of this process. */
export interface Population {
  /**
   * From now on their time passes so many times as fast as the network's; 0 holds them, and then it
   * resolves when nothing that they asked before is under way.
   */
  pace(speed: number): Promise<void>;
  /** Resolves when nothing of theirs is under way any more; the network stays open. */
  stop(): Promise<void>;
  /** Rejects when a script throws; resolves at the stop. */
  ended: Promise<void>;
}

/** Time of the agents after which those that have not joined are not waited for. */
const JOINED_MS = 30_000;

/** A live network is measured by whoever looks at it: nothing is kept here. */
const nobody: Observer = {
  event() {},
  refused() {},
  published() {},
  asked() {},
  traffic() {},
  waited() {},
};

/**
 * Lets the agents of a scenario act on a network of this process, in wall time, until it is
 * stopped. The scenario's length is of no account; a scenario without signatures gets real ones.
 *
 * @throws {ScenarioError} when a script cannot be loaded.
 */
export async function populate(
  network: Network,
  scenario: Scenario,
  { signal, onJoined, ...options }: PopulateOptions = {},
): Promise<Population> {
  const signed: Scenario = { ...scenario, signatures: 'verified' };
  const { world, agents, scripts } = await assembleLive(
    new DirectGateway(network),
    signed,
    options,
    () => nobody,
  );
  const expected = agents.filter(({ joinsMs }) => joinsMs < JOINED_MS).length;
  let stopped = false;
  let told = false;
  const goesOn = () => {
    const joined = told ? 0 : world.joined;
    if (!told && (joined >= expected || world.now > world.startMs + JOINED_MS)) {
      told = true;
      onJoined?.(joined);
    }
    return !stopped && !signal?.aborted;
  };
  const ended = world.run(goesOn).finally(() => scripts?.close());
  return {
    ended,
    pace(speed) {
      world.setPace(speed);
      return speed === 0 ? world.settled() : Promise.resolve();
    },
    stop() {
      stopped = true;
      // Why they ended before is told by `ended`.
      return ended.catch(() => {});
    },
  };
}
