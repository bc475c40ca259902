/** Scripted agents on a live network in wall time. `populate` adds them to a local network. */
import type { Network } from '../../engine/node/network.js';
import { scenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { DirectGateway, type Gateway } from '../world/gateway.js';
import { LiveWorld } from '../world/live-world.js';
import type { Observer } from '../world/observer.js';
import { type Assembly, assemble, type ObserverOf } from './assembly.js';
import type { SimOptions } from './options.js';

/** Options for agents on a live network. */
export interface LiveOptions extends Pick<SimOptions, 'seed' | 'folder' | 'scriptMs'> {
  /** Speed of agent time relative to wall time. */
  speed?: number;
}

/** @throws {ScenarioError} for features that need virtual time. */
export function assertLive({ interventions }: Scenario): void {
  if (interventions.length === 0) return;
  throw scenarioError('INTERVENTIONS_ON_SERVER', {});
}

/** @throws {ScenarioError} if a script cannot be loaded, or the scenario has interventions. */
export async function assembleLive<O extends Observer>(
  gateway: Gateway,
  scenario: Scenario,
  { seed = scenario.seed, speed = 1, folder, scriptMs }: LiveOptions,
  observerOf: ObserverOf<O>,
): Promise<Assembly<LiveWorld, O>> {
  assertLive(scenario);
  return assemble({
    scenario,
    seed,
    folder,
    scriptMs,
    networkId: gateway.networkId,
    ...(gateway.genesis ? { genesis: gateway.genesis } : {}),
    seq: gateway.seq,
    startMs: () => gateway.now(),
    observerOf,
    worldOf: (society) => new LiveWorld({ ...society, head: gateway.head, gateway, speed }),
  });
}

/** Options for `populate`. */
export interface PopulateOptions extends LiveOptions {
  /** Stops the agents. */
  signal?: AbortSignal;
  /** Called once, when all agents are registered or after a timeout. */
  onJoined?: (joined: number) => void;
}

/** Scenario agents on a local network. */
export interface Population {
  /**
   * Sets the speed of agent time relative to network time. 0 pauses the agents, and the promise
   * then resolves when all their earlier requests are answered.
   */
  pace(speed: number): Promise<void>;
  /** Stops the agents. Resolves when all their requests are answered. The network stays open. */
  stop(): Promise<void>;
  /** Rejects when a script throws. Resolves after `stop`. */
  ended: Promise<void>;
}

/** Time after which the run no longer waits for missing registrations. */
const JOINED_MS = 30_000;

/** Ignores everything, because clients measure populated networks. */
const noObserver: Observer = {
  event() {},
  refused() {},
  published() {},
  decided() {},
  ignored() {},
  asked() {},
  traffic() {},
  waited() {},
};

/**
 * Runs a scenario's agents on a local network in wall time until stopped. The scenario's length is
 * ignored. Agents in unsigned scenarios get real signatures.
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
