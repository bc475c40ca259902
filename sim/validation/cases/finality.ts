/** Finality as an order statistic: a block is final with the vote that makes the quorum. */
import jstat from 'jstat';
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { meanInterval, meanOf, shareInterval } from '../interval.js';
import { approving, blocksOf } from '../runs.js';
import { bftQuorum, orderStatisticMean } from '../theory.js';

/** Of every message; the least time an agent thinks; and the width of the uniform rest. */
const LATENCY_MS = 20;
const THINK_MS = 200;
const WIDTH_MS = 3_000;

async function rowsOf(electors: number, blocks: number): Promise<Row[]> {
  const traits = { ...approving, think_ms: WIDTH_MS };
  const raw = {
    agents: [{ group: 'town', count: electors, producers: 1, traits }],
    producers: { block_interval_ms: 1_000 },
    consensus: { dormant_after: 0 },
    length: { blocks },
  };
  const found = (await blocksOf(raw)).map(({ finality }) => finality);
  const quorum = bftQuorum(electors);
  const fixed = 2 * LATENCY_MS + THINK_MS;
  const p95 = fixed + WIDTH_MS * jstat.jStat.beta.inv(0.95, quorum, electors + 1 - quorum);
  const below = found.filter((ms) => ms <= p95).length;
  const from = `${found.length} blocks`;
  return [
    {
      what: `${electors} electors, quorum ${quorum}: mean finality, ms`,
      theory: fixed + orderStatisticMean(quorum, electors, WIDTH_MS),
      measured: meanOf(found),
      interval: meanInterval(found),
      from,
    },
    {
      what: `${electors} electors: share final within ${p95.toFixed(0)} ms, theory's p95`,
      theory: 0.95,
      measured: below / found.length,
      interval: shareInterval(below, found.length),
      from,
    },
  ];
}

async function rows(size: Size): Promise<Row[]> {
  const found: Row[] = [];
  for (const electors of [4, 30, 100]) {
    found.push(...(await rowsOf(electors, scaled(size, 60, 1_000))));
  }
  return found;
}

export const finality: ValidationCase = {
  name: 'finality',
  about:
    'All approve, each after a time uniform over 3 s, and messages need 20 ms: a block is final ' +
    'with the vote that makes the quorum, the k-th smallest of n uniform times, which has a beta ' +
    'distribution.',
  source: 'David and Nagaraja 2003, Order Statistics, section 2.3',
  rows,
};
