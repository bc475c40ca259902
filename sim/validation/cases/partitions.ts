/** A partition that leaves less than a quorum stops finality; healing restores it. */
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { approving, type BlockRow, blocksOf, finalizedOf } from '../runs.js';
import { bftQuorum } from '../theory.js';

const ELECTORS = 31;
const PERIOD_MS = 5_000;
const FROM_MS = 20_000;

const between = (blocks: readonly BlockRow[], from: number, to: number): number => {
  const within = blocks.filter(({ proposed, closed }) => proposed >= from && closed <= to);
  return finalizedOf(within) / within.length;
};

async function cut(off: number, lengthMs: number): Promise<Row[]> {
  const traits = { ...approving, think_ms: 300 };
  const healed = FROM_MS + lengthMs;
  const whom = [{ group: 'cut' }];
  const blocks = await blocksOf({
    agents: [
      { group: 'rest', count: ELECTORS - off, producers: 1, traits },
      { group: 'cut', count: off, traits },
    ],
    producers: { block_interval_ms: 1_000 },
    faults: [{ kind: 'partition', start_ms: FROM_MS, length_ms: lengthMs, whom }],
    consensus: { dormant_after: 0, voting_period_ms: PERIOD_MS },
    length: { virtual_ms: healed + lengthMs },
    patience_periods: 10_000,
  });
  const enough = ELECTORS - off >= bftQuorum(ELECTORS);
  const what = `${off} of ${ELECTORS} cut off`;
  const row = { interval: null, from: `${blocks.length} blocks` };
  const after = between(blocks, healed + PERIOD_MS, healed + lengthMs);
  return [
    {
      what: `${what}: share finalized meanwhile`,
      ...{ theory: enough ? 1 : 0, measured: between(blocks, FROM_MS, healed), ...row },
    },
    { what: `${what}: share finalized after healing`, theory: 1, measured: after, ...row },
  ];
}

async function rows(size: Size): Promise<Row[]> {
  const lengthMs = scaled(size, 60_000, 600_000);
  return [...(await cut(10, lengthMs)), ...(await cut(11, lengthMs))];
}

export const partitions: ValidationCase = {
  name: 'partitions',
  about:
    'While a partition cuts off a third of the electorate or more, `bft` finalizes nothing, ' +
    'below a third it goes on, and after healing every block is final again.',
  source: 'Dwork, Lynch and Stockmeyer 1988, Consensus in the presence of partial synchrony',
  rows,
};
