/** A town that finalizes a block every five seconds; the given sections replace the defaults. */
import { completeScenario, type Scenario } from 'folkmoot/sim';
import { nearby, quiet, type Raw } from '../fixture.js';

export const town = (sections: Raw = {}): Scenario =>
  completeScenario({
    title: 'a town',
    signatures: 'none',
    agents: [
      { group: 'town', count: 7, producers: 1, strategy: { kind: 'honest' }, traits: { care: 1 } },
    ],
    social: quiet,
    links: nearby,
    topology: { kind: 'complete' },
    producers: { schedule: 'round_robin', block_interval_ms: 5_000 },
    consensus: { voting_period_ms: 30_000 },
    ...sections,
  });
