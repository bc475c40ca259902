/** Scripted agents on a live network in wall time. `populate` adds them to a local network. */

import type { Network } from '../../engine/node/network.js';
import type { MeasuredAgent } from '../measure/population.js';
import { scenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { DirectGateway, type Gateway } from '../world/gateway.js';
import { LiveWorld } from '../world/live-world.js';
import type { Observer } from '../world/observer.js';
import { type Assembly, assemble } from './assembly.js';

/** Options of agents on a live network. */
export interface LiveOptions {
  /** Replaces the scenario's seed. Keys derive from it, so the same seed gives the same agents. */
  seed?: string;
  /** Speed of the agents' time relative to wall time. */
  speed?: number;
  /** Base folder of script modules. */
  folder?: string;
  /** Time limit of one script call in milliseconds of wall time. Default: 10 s. */
  scriptMs?: number;
}

/** @throws {ScenarioError} for features that need virtual time. */
export function checkLive({ interventions }: Scenario): void {
  if (interventions.length === 0) return;
  throw scenarioError('INTERVENTIONS_ON_SERVER', {});
}

/** @throws {ScenarioError} if a script cannot be loaded, or the scenario has interventions. */
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

/** Options of `populate`. */
export interface PopulateOptions extends LiveOptions {
  /** Stops the agents. */
  signal?: AbortSignal;
  /** Called once, when all agents are registered or after a timeout. */
  onJoined?: (joined: number) => void;
}

/** Agents of a scenario on a local network. */
export interface Population {
  /**
   * Sets the speed of the agents' time relative to the network's. 0 pauses them, and resolves when
   * all their earlier requests are answered.
   */
  pace(speed: number): Promise<void>;
  /** Stops the agents. Resolves when all their requests are answered. The network stays open. */
  stop(): Promise<void>;
  /** Rejects when a script throws. Resolves after `stop`. */
  ended: Promise<void>;
}

/** Time after which missing registrations are no longer waited for. */
const JOINED_MS = 30_000;

/** Populated networks are measured by their clients, not here. */
const noObserver: Observer = {
  event() {},
  refused() {},
  published() {},
  asked() {},
  traffic() {},
  waited() {},
};

/**
 * Runs the agents of a scenario on a local network in wall time until stopped. The scenario's
 * length is ignored. Unsigned scenarios get real signatures.
 *
 * @throws {ScenarioError} if a script cannot be loaded.
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
    () => noObserver,
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
      // `ended` reports the error.
      return ended.catch(() => {});
    },
  };
}
