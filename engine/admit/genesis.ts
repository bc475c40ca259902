/** Parses the parameters in entry 0. Safe in a browser. */
import type { Entry } from '../protocol/schema/entry.js';
import { type Genesis, genesisDefaults } from '../protocol/schema/genesis.js';
import { genesisProblem } from '../protocol/schema/validate.js';
import { StoreError } from '../store/store.js';

/** @throws {StoreError} for missing, invalid or older parameters. */
export function parseGenesis(entry: Entry): Genesis {
  let genesis: unknown;
  try {
    genesis = JSON.parse(Buffer.from(entry.body).toString());
  } catch (cause) {
    throw new StoreError('CORRUPT', 'entry 0 (genesis) is not JSON', { cause });
  }
  const added = lacking(genesis);
  if (added) {
    const why = `entry 0 (genesis) has no ${added}: the log is of an older folkmoot`;
    throw new StoreError(
      'OLDER_SCHEMA',
      `${why}, whose rules were others; replay it with that one`,
    );
  }
  const problem = genesisProblem(genesis);
  if (problem) throw new StoreError('CORRUPT', `genesis ${problem.pointer} ${problem.message}`);
  return genesis as Genesis;
}

/** Returns a member that schema version 2 added, if it is the only problem of the genesis. */
function lacking(genesis: unknown): string | undefined {
  const { dormant_share_max, leak_periods } = genesisDefaults;
  const added = { dormant_share_max, leak_periods };
  if (typeof genesis !== 'object' || genesis === null) return undefined;
  if (genesisProblem({ ...added, ...genesis })) return undefined;
  return Object.keys(added).find((name) => !(name in genesis));
}
