/** Completes the parameters of a new network, and parses those in entry 0. Runs in browsers. */
import type { Entry } from '../protocol/schema/entry.js';
import { type Genesis, genesisDefaults } from '../protocol/schema/genesis.js';
import { findGenesisShapeProblem } from '../protocol/schema/validate.js';
import { findGenesisProblem } from '../rules/genesis-problem.js';
import { isUnloadedModule } from '../rules/network-rule.js';
import { defineStoreErrors } from '../store/messages.js';

const genesisError = defineStoreErrors({
  OLDER_SCHEMA: {
    OLD_GENESIS: `genesis has no {member}, so the log is from an older version of folkmoot;
      replay it with that version`,
  },
  CORRUPT: {
    GENESIS_NOT_JSON: 'entry 0 (genesis) is not JSON',
    GENESIS_INVALID: 'invalid genesis: {pointer} {reason}',
  },
});

/** Network parameters: the name, and values that differ from {@link genesisDefaults}. */
export type GenesisOptions = Partial<Genesis> & Pick<Genesis, 'network_id'>;

/** @throws {TypeError} if a parameter is out of range. */
export function completeGenesis(options: GenesisOptions): Genesis {
  const genesis = { ...genesisDefaults, ...options };
  const problem = findGenesisProblem(genesis);
  if (problem)
    throw new TypeError(`invalid genesis parameter: ${problem.pointer} ${problem.message}`);
  return genesis;
}

/**
 * Programs that only read a log need not run its rule, so a module is checked only if the sandbox
 * is loaded.
 *
 * @throws {StoreError} if the parameters are missing, invalid or from an older version.
 */
export function parseGenesis(entry: Entry): Genesis {
  let genesis: unknown;
  try {
    genesis = JSON.parse(Buffer.from(entry.body).toString());
  } catch (cause) {
    throw genesisError('GENESIS_NOT_JSON', {}, { cause });
  }
  const member = lacking(genesis);
  if (member) throw genesisError('OLD_GENESIS', { member });
  const problem = findGenesisShapeProblem(genesis) ?? findLoadedProblem(genesis as Genesis);
  if (problem) {
    const { pointer, message: reason } = problem;
    throw genesisError('GENESIS_INVALID', { pointer, reason });
  }
  return genesis as Genesis;
}

const findLoadedProblem = (genesis: Genesis) =>
  isUnloadedModule(genesis) ? null : findGenesisProblem(genesis);

/** Returns the missing member if the genesis lacks only a member that schema version 2 added. */
function lacking(genesis: unknown): string | undefined {
  const { dormant_share_max, leak_periods } = genesisDefaults;
  const added = { dormant_share_max, leak_periods };
  if (typeof genesis !== 'object' || genesis === null) return undefined;
  if (findGenesisProblem({ ...added, ...genesis })) return undefined;
  return Object.keys(added).find((name) => !(name in genesis));
}
