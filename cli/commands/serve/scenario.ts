/** `folkmoot serve --scenario`: scripted agents on the network that is served. */
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { Logger } from 'pino';
import type { Network } from '../../../engine/node/network.js';
import type { GenesisOptions } from '../../../engine/node/open-store.js';
import type { Genesis } from '../../../engine/protocol/schema/genesis.js';
import type { Store } from '../../../engine/store/store.js';
import type { Population } from '../../../sim/index.js';
import { speed } from '../../options/options.js';
import type { WantedScenario } from '../../options/scenario.js';
import { UsageError } from '../../output/exit.js';

export interface ServeScenarioFlags {
  scenario?: string;
  speed?: number;
  seed?: string;
  clock: 'wall' | 'held';
  control?: boolean;
}

export function addScenarioOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--scenario <file>', 'populate it with the agents of this scenario').env(
        'FOLKMOOT_SCENARIO',
      ),
    )
    .addOption(
      new Option('--speed <x>', "how fast the agents' time passes; 1 = wall time")
        .env('FOLKMOOT_SPEED')
        .argParser(speed),
    )
    .addOption(
      new Option('--seed <text>', "the agents' keys and chance follow from it").env(
        'FOLKMOOT_SEED',
      ),
    );
}

export const scenarioHelp = `
With --scenario the agents live here, without limits on their rate, until the server stops; the
scenario's length is of no account. A new folder takes its consensus unless options say otherwise.
--speed makes agents think, wait and hear faster; the network's own periods (voting, alliances)
stay what they are. The same seed gives the same agents again when the server comes back.`;

/** @throws {ScenarioError} what is wrong with the file. */
export async function resolveScenario(flags: ServeScenarioFlags): Promise<WantedScenario | null> {
  if (flags.scenario === undefined) {
    if (flags.control && flags.clock !== 'held') {
      throw new UsageError('--control is for the agents of a --scenario, or with --clock held');
    }
    const [stray] = (['speed', 'seed'] as const).filter((name) => flags[name] !== undefined);
    if (stray) throw new UsageError(`--${stray} is for the agents of a --scenario`);
    return null;
  }
  const { wantedScenario } = await import('../../options/scenario.js');
  return wantedScenario(flags.scenario, flags.seed === undefined ? {} : { seed: flags.seed });
}

/**
 * What the network in a folder is opened with: a new one has the scenario's consensus and an id
 * that is drawn, with what is `asked` for in their place; one that was begun has its own.
 * @throws {UsageError} when it is one whose agents do not sign.
 */
export async function resolveGenesis(
  folder: string,
  asked: Partial<GenesisOptions>,
  wanted: WantedScenario | null,
): Promise<GenesisOptions> {
  const stored = await storedGenesis(folder);
  const named = { network_id: stored?.network_id ?? drawnId(), ...asked };
  if (stored?.signatures === 'none') {
    const what = `${folder} holds a simulation whose agents did not sign (signatures: none)`;
    throw new UsageError(`${what}; it can be replayed, not served: expected another folder`);
  }
  if (stored || !wanted) return named;
  const { toGenesisOptions } = await import('../../../sim/run/options.js');
  return { ...toGenesisOptions({ ...wanted.scenario, signatures: 'verified' }), ...named };
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Fifty random bits: what is signed for one network must not hold on another that somebody
 * started without a name.
 */
function drawnId(): string {
  const drawn = [...randomBytes(10)].map((byte) => letters[byte % letters.length]);
  return `devnet-${drawn.join('')}`;
}

/**
 * Null where no network was begun, or none that can be read: opening it says what is wrong.
 * @throws {StoreError} `UNREADABLE`: the next try may find a network, of a name nobody asked for.
 */
async function storedGenesis(path: string): Promise<Genesis | null> {
  const { decodeEntry, splitStored } = await import('../../../engine/protocol/log.js');
  const { openLmdbStore } = await import('../../../engine/store/lmdb.js');
  const { SCHEMA_VERSION, tables } = await import('../../../engine/protocol/schema/record.js');
  const { StoreError } = await import('../../../engine/store/store.js');
  let store: Store | undefined;
  try {
    store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
    const { body } = decodeEntry(splitStored(store.entry(0)!).bytes);
    return JSON.parse(Buffer.from(body).toString()) as Genesis;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'UNREADABLE') throw error;
    return null;
  } finally {
    await store?.close();
  }
}

/** Lets the agents in. @throws {ScenarioError} when a script of it cannot be loaded. */
export async function startScenario(
  network: Network,
  { scenario, folder }: WantedScenario,
  flags: ServeScenarioFlags,
  log: Logger,
): Promise<Population> {
  const { populate } = await import('../../../sim/index.js');
  const agents = scenario.population;
  const population = await populate(network, scenario, {
    speed: flags.speed ?? 1,
    ...(folder === undefined ? {} : { folder }),
    onJoined: (joined) => log.info({ joined, agents }, `${joined} of ${agents} agents joined`),
  });
  population.ended.catch((error) => {
    log.error({ err: error }, 'the agents of the scenario stopped; the server goes on');
  });
  return population;
}
