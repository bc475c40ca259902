/** Audited random lives: engine and model never differ. */
import fc from 'fast-check';
import { createVerifier, type GenesisOptions, Network, virtualClock } from 'folkmoot';
import { Auditor, violationText } from 'folkmoot/sim';
import { type Attempt, attempts, genesis } from '../../engine/random/random.js';
import { START_MS } from '../../support/citizens.js';
import { counts, heavy } from '../../support/counts.js';
import { auditedLife } from './life.js';

const verifier = createVerifier('off');

async function audit(options: GenesisOptions, script: Attempt[], reached?: Set<string>) {
  const clock = virtualClock(START_MS);
  const network = await Network.open({ memory: true, genesis: options, verifier, clock });
  const auditor = new Auditor(network.genesis);
  const audited = { network, clock, auditor, ...(reached ? { reached } : {}) };
  const violation = await auditedLife(audited, script);
  await network.close();
  expect(violation && violationText(violation)).toBeNull();
}

test('audit: random runs obey every rule', async () => {
  const life = fc.asyncProperty(genesis, attempts(counts.commandsPerSequence), (options, script) =>
    audit(options, script),
  );
  await fc.assert(life, { numRuns: counts.commandSequences });
});

/** All refusals in the engine's check tables, except those of corners.test.ts. */
const refusals = {
  register: 'AGENT_EXISTS',
  status: 'UNKNOWN_AGENT NOT_OWNER REPLAYED',
  vote:
    'UNKNOWN_BLOCK NOT_VALIDATOR NOT_IN_ELECTORATE ALREADY_VOTED VOTING_CLOSED NOT_ACTIVE ' +
    'UNKNOWN_MEME equivocation',
  propose:
    'NOT_PRODUCER NOT_ACTIVE STALE_PARENT OPEN_BLOCK TOO_MANY_OPEN NO_VALIDATORS DUPLICATE_TX',
  meme: 'NOT_ACTIVE',
  discuss: 'UNKNOWN_BLOCK VOTING_CLOSED NOT_ACTIVE UNKNOWN_MEME',
  alliance_propose: 'NOT_ACTIVE SCHEMA UNKNOWN_TARGET TOO_MANY_ALLIANCES',
  alliance_respond:
    'UNKNOWN_ALLIANCE ALREADY_ANSWERED NOT_INVITED ALLIANCE_CLOSED NOT_ACTIVE TOO_MANY_ALLIANCES',
  alliance_leave: 'UNKNOWN_ALLIANCE NOT_MEMBER NOT_FORMED ALLIANCE_CLOSED NOT_ACTIVE',
};
const ends = {
  bft: 'finalized rejected expired orphaned',
  veto: 'finalized rejected expired orphaned alone',
  majority: 'finalized rejected expired orphaned tied',
  alliance: 'proposed active lapsed dissolved expired',
  reputation: 'block_finalized block_rejected equivocation',
};

/** Lives of the seed below that together reach all refusals; more follow if they do not. */
const richest = [7, 10, 28, 31, 32, 36, 37, 38, 43, 47, 50, 54, 58, 59];

test('audit: random runs exercise every rule', heavy, async () => {
  const results = Object.entries(refusals).flatMap(([kind, reasons]) =>
    `accepted duplicate ${reasons}`.split(' ').map((reason) => `${kind} ${reason}`),
  );
  const others = Object.entries(ends).flatMap(([what, words]) =>
    words.split(' ').map((word) => `${what} ${word}`),
  );
  const wanted = [...results, ...others, 'dormant', 'displaced', 'network_metrics'];
  const sample = fc.sample(fc.tuple(genesis, attempts(120)), { numRuns: 60, seed: 26 });
  const reached = new Set<string>();
  for (const index of new Set([...richest, ...sample.keys()])) {
    await audit(...sample[index]!, reached);
    if (wanted.every((one) => reached.has(one))) return;
  }
  expect(wanted.filter((one) => !reached.has(one))).toEqual([]);
});
