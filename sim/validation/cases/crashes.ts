/** Producers that crash: the slots that stay empty, in turn and drawn. */
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { meanInterval, meanOf, shareInterval } from '../interval.js';
import { approving, blocksOf } from '../runs.js';

const PRODUCERS = 10;
const CRASHED = 3;
const SLOT_MS = 2_000;
/** Before it everybody has joined; the crash begins half a second before a slot. */
const FROM_MS = 24_500;

function scenarioOf(schedule: string, slots: number) {
  const traits = { ...approving, think_ms: 300 };
  const whole = { start_ms: FROM_MS, length_ms: (slots + 10) * SLOT_MS };
  return {
    agents: [
      { group: 'voters', count: 21, traits },
      { group: 'steady', count: PRODUCERS - CRASHED, producers: PRODUCERS - CRASHED, traits },
      { group: 'crashing', count: CRASHED, producers: CRASHED, traits },
    ],
    producers: { schedule, block_interval_ms: SLOT_MS },
    faults: [{ kind: 'crash', ...whole, whom: [{ group: 'crashing' }] }],
    consensus: { dormant_after: 0 },
    length: { virtual_ms: FROM_MS + slots * SLOT_MS },
  };
}

async function inSlots(schedule: string, slots: number) {
  const blocks = await blocksOf(scenarioOf(schedule, slots));
  return blocks.filter(({ proposed }) => proposed >= FROM_MS).map(({ proposed }) => proposed);
}

async function rows(size: Size): Promise<Row[]> {
  const slots = scaled(size, 100, 2_000);
  const from = `${slots} slots`;
  const theory = (PRODUCERS - CRASHED) / PRODUCERS;
  const inTurn = await inSlots('round_robin', slots);
  const drawn = await inSlots('random', slots);
  const gaps = drawn.slice(1).map((at, index) => (at - drawn[index]!) / SLOT_MS);
  const what = `${CRASHED} of ${PRODUCERS} producers crashed`;
  return [
    {
      what: `${what}, slots in turn: share with a block`,
      ...{ theory, measured: inTurn.length / slots, interval: null, from },
    },
    {
      what: `${what}, slots drawn: share with a block`,
      ...{ theory, measured: drawn.length / slots, interval: shareInterval(drawn.length, slots) },
      from,
    },
    {
      what: `${what}, slots drawn: mean slots from block to block`,
      ...{ theory: 1 / theory, measured: meanOf(gaps), interval: meanInterval(gaps), from },
    },
  ];
}

export const crashes: ValidationCase = {
  name: 'crashes',
  about:
    'A slot whose producer has crashed stays empty. In turn, that is exactly their share; where ' +
    'the producer of each slot is drawn, the number of blocks is binomial and the wait for the ' +
    'next one geometric.',
  source: 'binomial and geometric distribution',
  rows,
};
