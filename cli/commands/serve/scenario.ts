/** `folkmoot serve --scenario`: simulated agents on a live network. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import type { Logger } from 'pino';
import type { GenesisOptions } from '../../../engine/admit/genesis.js';
import type { Network } from '../../../engine/node/network.js';
import type { Genesis } from '../../../engine/protocol/schema/genesis.js';
import type { Store } from '../../../engine/store/store.js';
import type { Population } from '../../../sim/index.js';
import type { GivenParameters } from '../../../sim/rules/chosen-rule.js';
import { speed } from '../../options/options.js';
import { expectModule } from '../../options/rule.js';
import type { WantedScenario } from '../../options/scenario.js';
import { UsageError } from '../../output/exit.js';

export interface ServeScenarioFlags {
  scenario?: string;
  speed?: number;
  seed?: string;
  clock: 'wall' | 'held';
  control?: boolean;
}

export const scenarioOptions = (): Option[] => [
  new Option('--scenario <file>', 'add the agents of this scenario'),
  new Option('--speed <x>', 'agent speed, as a factor of wall time').argParser(speed),
  new Option('--seed <text>', 'random seed of the agents'),
];

export const scenarioHelp = `
--scenario adds simulated agents, without rate limits, until the server stops.
The length of the scenario does not apply. A new data folder takes the consensus
of the scenario, unless options override it. --speed changes the agents only,
not the periods of the network (voting, alliances). After a restart, the same
seed gives the same agents.`;

/** @throws {UsageError} for options that need a scenario. */
export function assertScenarioOptions(flags: ServeScenarioFlags): void {
  if (flags.scenario !== undefined) return;
  if (flags.control && flags.clock !== 'held') {
    const required = '--scenario or --clock held';
    throw new UsageError('OPTION_REQUIRES', { option: '--control', required });
  }
  const [stray] = (['speed', 'seed'] as const).filter((name) => flags[name] !== undefined);
  if (stray) {
    throw new UsageError('OPTION_REQUIRES', { option: `--${stray}`, required: '--scenario' });
  }
}

/** @throws {ScenarioError} @throws {UsageError} */
export async function resolveScenario(flags: ServeScenarioFlags): Promise<WantedScenario | null> {
  if (flags.scenario === undefined) return null;
  const { wantedScenario } = await import('../../options/scenario.js');
  return wantedScenario(flags.scenario, flags.seed === undefined ? {} : { seed: flags.seed });
}

interface GenesisFlags {
  data: string;
  /** File with the decision rule. */
  rule?: string;
  parameter?: GivenParameters;
}

/**
 * Returns the genesis options for a folder. A new network gets the scenario's consensus settings
 * and a random id, which `asked` can override. An existing network keeps its genesis.
 * @throws {UsageError} for a network without signatures, or with a module but without --rule.
 */
export async function resolveGenesis(
  { data: folder, rule, parameter }: GenesisFlags,
  asked: Partial<GenesisOptions>,
  wanted: WantedScenario | null,
): Promise<GenesisOptions> {
  const { holdsOutput } = await import('../../../report/folder.js');
  if (!existsSync(join(folder, 'data.mdb')) && holdsOutput(folder)) {
    throw new UsageError('SAVED_RUN', { folder });
  }
  const stored = await storedGenesis(folder);
  const named = { network_id: stored?.network_id ?? drawnId(), ...asked };
  if (stored?.signatures === 'none') throw new UsageError('UNSIGNED_NETWORK', { folder });
  const genesis = stored || !wanted ? named : { ...(await optionsOf(wanted)), ...named };
  const known = stored ?? genesis;
  if (rule === undefined && known.policy === 'module') {
    const where = stored ? folder : 'the network of this scenario';
    throw new UsageError('MODULE_REQUIRES_RULE', { where });
  }
  const own = rule === undefined ? {} : await readRule(rule, known);
  return { ...genesis, ...own, ...(await setParameters(parameter, { ...known, ...own })) };
}

async function optionsOf({ scenario }: WantedScenario): Promise<GenesisOptions> {
  const { toGenesisOptions } = await import('../../../sim/run/options.js');
  return toGenesisOptions({ ...scenario, signatures: 'verified' });
}

/**
 * Reads a module. Keeps the parameters of a network that has the same text.
 * @throws {UsageError} if the file contains no rule.
 */
async function readRule(
  file: string,
  { policy, rule: known }: Partial<GenesisOptions>,
): Promise<Pick<GenesisOptions, 'policy' | 'rule'>> {
  const { source } = await expectModule('--rule', file);
  const isKnown = policy === 'module' && known?.source === source;
  return { policy: 'module', rule: isKnown ? known : { source } };
}

/** Adds parameters to the rule. @throws {UsageError} if the rule has no such parameters. */
async function setParameters(
  given: GivenParameters | undefined,
  { policy = 'bft', rule: known }: Partial<GenesisOptions>,
): Promise<Pick<GenesisOptions, 'rule'>> {
  if (given === undefined) return {};
  const { genesisDefaults } = await import('../../../engine/protocol/schema/genesis.js');
  const { findGenesisProblem } = await import('../../../engine/rules/genesis-problem.js');
  const rule = { ...known, parameters: { ...known?.parameters, ...given } };
  const problem = findGenesisProblem({ ...genesisDefaults, network_id: 'any', policy, rule });
  if (problem === null) return { rule };
  const [value, text] = [problem.pointer.split('/').at(-1)!, problem.message];
  throw new UsageError('INVALID_ARGUMENT', { option: '--parameter', value, problem: text });
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567';

/** Draws 50 random bits, so that a signature for one unnamed network is invalid on every other. */
function drawnId(): string {
  const drawn = [...randomBytes(10)].map((byte) => letters[byte % letters.length]);
  return `devnet-${drawn.join('')}`;
}

/**
 * Reads a folder's genesis. Returns null for a missing or damaged network, because opening the
 * folder reports the error.
 * @throws {StoreError} `UNREADABLE`, because a retry may find an existing network.
 */
async function storedGenesis(path: string): Promise<Genesis | null> {
  const { readGenesis } = await import('../../../engine/node/open-store.js');
  const { openLmdbStore } = await import('../../../engine/store/lmdb.js');
  const { SCHEMA_VERSION, tables } = await import('../../../engine/protocol/schema/record.js');
  const { StoreError } = await import('../../../engine/store/messages.js');
  let store: Store | undefined;
  try {
    store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
    return readGenesis(store);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'UNREADABLE') throw error;
    return null;
  } finally {
    await store?.close();
  }
}

/** Starts the agents. @throws {ScenarioError} if a script cannot be loaded. */
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
    log.error({ err: error }, 'scenario agents stopped; the server continues');
  });
  return population;
}
