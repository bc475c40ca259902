/** At which share of the electorate each policy stops finalizing, and starts to be captured. */
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { shareInterval } from '../interval.js';
import { approving, blocksOf, finalizedOf, whim, whimOf } from '../runs.js';
import { bftQuorum, binomialTail } from '../theory.js';

const ELECTORS = 31;

/** Approve whatever comes. */

type Policy = 'bft' | 'majority';

/** So many of 31 against all others: the same outcome each time. */
async function against(policy: Policy, rejecting: number, blocks: number): Promise<Row> {
  const town = { group: 'town', count: ELECTORS - rejecting, producers: 1, traits: approving };
  const other = { group: 'other', count: rejecting, strategy: { kind: 'bloc' } };
  const raw = {
    agents: [town, other],
    producers: { block_interval_ms: 1_000 },
    consensus: { policy, dormant_after: 0, voting_period_ms: 10_000 },
    length: { blocks },
  };
  const found = await blocksOf(raw);
  const approve = ELECTORS - rejecting;
  const enough = policy === 'bft' ? approve >= bftQuorum(ELECTORS) : approve > rejecting;
  return {
    what: `${policy}: ${approve} approve, ${rejecting} reject: share finalized`,
    theory: enough ? 1 : 0,
    measured: finalizedOf(found) / found.length,
    interval: null,
    from: `${found.length} blocks`,
  };
}

/** Everybody approves by a coin of one chance: the quorum is a tail of the binomial. */
async function byCoin(policy: Policy, threshold: number, blocks: number): Promise<Row> {
  const raw = {
    agents: [{ group: 'town', count: ELECTORS, producers: 1, traits: whim(threshold) }],
    producers: { block_interval_ms: 1_000 },
    consensus: { policy, dormant_after: 0 },
    length: { blocks },
  };
  const found = await blocksOf(raw);
  const quorum = policy === 'bft' ? bftQuorum(ELECTORS) : Math.floor(ELECTORS / 2) + 1;
  const chance = whimOf(threshold);
  const finalized = finalizedOf(found);
  return {
    what: `${policy}: each of ${ELECTORS} approves with ${chance.toFixed(4)}: share finalized`,
    theory: binomialTail(ELECTORS, chance, quorum),
    measured: finalized / found.length,
    interval: shareInterval(finalized, found.length),
    from: `${found.length} blocks`,
  };
}

async function rows(size: Size): Promise<Row[]> {
  const few = scaled(size, 5, 100);
  const many = scaled(size, 100, 2_000);
  const found: Row[] = [];
  for (const rejecting of [10, 11]) found.push(await against('bft', rejecting, few));
  for (const rejecting of [15, 16]) found.push(await against('majority', rejecting, few));
  for (const threshold of [26, 33, 40]) found.push(await byCoin('bft', threshold, many));
  for (const threshold of [46, 51, 56]) found.push(await byCoin('majority', threshold, many));
  return found;
}

export const thresholds: ValidationCase = {
  name: 'thresholds',
  about:
    'A `bft` block needs more than two thirds of the weight, a `majority` block more approving ' +
    'than rejecting. With a fixed number against it the outcome is certain; where each elector ' +
    'tosses a coin, the share of finalized blocks is a tail of the binomial distribution.',
  source: 'docs/protocol.md, section 7; binomial distribution',
  rows,
};
