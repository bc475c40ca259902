/** The genesis of a scenario's network. */
import type { GenesisOptions } from '../../engine/internal.js';
import type { Scenario } from '../scenario/schema/scenario.js';

export function genesisOf({ consensus, signatures }: Scenario): GenesisOptions {
  const { participation, dormant_share, ...rest } = consensus;
  return {
    network_id: 'folkmoot-sim',
    ...rest,
    dormant_share_max: Math.round(dormant_share * 10_000),
    participation_bps: Math.round(participation * 10_000),
    ...(signatures === 'none' ? { signatures } : {}),
  };
}
