/**
 * Scripted agents on a live network, in wall time: how they are assembled for any network, and how
 * they populate one of this process until they are told to stop.
 */

import type { Network } from '../../engine/node/network.js';
import type { MeasuredAgent } from '../measure/population.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { DirectGateway, type Gateway } from '../world/gateway.js';
import { LiveWorld } from '../world/live-world.js';
import type { Observer } from '../world/observer.js';
import { type Assembly, assemble } from './assembly.js';

/** How agents act on a live network. */
export interface LiveOptions {
  /** Instead of the scenario's. Keys follow from it, so the same agents come again. */
  seed?: string;
  /** How many times as fast as wall time the agents' time passes. */
  speed?: number;
  /** Where script modules are found. */
  folder?: string;
  /** What one call of a script may take, in milliseconds of the wall; default: 10 s. */
  scriptMs?: number;
}

/** @throws {ScenarioError} for what can be in virtual time only. */
export function checkLive({ interventions }: Scenario): void {
  if (interventions.length === 0) return;
  const why = 'others live there, and no two runs are the same';
  throw new ScenarioError(`interventions cannot be on a server: ${why}; expected none`);
}

/** @throws {ScenarioError} when a script cannot be loaded, or the scenario has interventions. */
export async function assembleLive<O extends Observer>(
  gateway: Gateway,
  scenario: Scenario,
  { seed = scenario.seed, speed = 1, folder, scriptMs }: LiveOptions,
  observerOf: (agents: readonly MeasuredAgent[], startMs: number) => O,
): Promise<Assembly<LiveWorld, O>> {
  checkLive(scenario);
  return assemble({
    scenario,
    seed,
    folder,
    scriptMs,
    networkId: gateway.networkId,
    seq: gateway.seq,
    startMs: () => gateway.now(),
    observerOf,
    worldOf: (society) => new LiveWorld({ ...society, head: gateway.head, gateway, speed }),
  });
}

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
      return speed === 0 ? world.waitIdle() : Promise.resolve();
    },
    stop() {
      stopped = true;
      // Why they ended before is told by `ended`.
      return ended.catch(() => {});
    },
  };
}
