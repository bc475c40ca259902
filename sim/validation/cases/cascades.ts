/** Information cascades: how often all follow the first few into a wrong decision. */
import { simulate } from '../../run/simulate.js';
import { loadScenario } from '../../scenario/read/load.js';
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { shareInterval } from '../interval.js';

/** The walk of signals ends two steps from where it began: on the wrong side with this chance. */
const wrongOf = (right: number): number =>
  ((1 - right) * (1 - right)) / (right * right + (1 - right) * (1 - right));

async function row(accuracy: number, blocks: number): Promise<Row> {
  const { scenario, folder } = loadScenario('cascade', [
    ['agents.town.strategy.parameters.accuracy', accuracy],
    ['length', { blocks }],
    ['sweep', null],
  ]);
  const { reported } = await simulate(scenario, { folder, store: 'memory', audit: false });
  const { wrong_cascades: measured, cascades } = reported.groups.town!;
  const all = Math.round(cascades! * blocks);
  const wrong = Math.round(measured! * all);
  return {
    what: `signals right with ${accuracy}: share of cascades that are wrong`,
    theory: wrongOf(accuracy),
    measured: measured!,
    interval: shareInterval(wrong, all),
    from: `${all} cascades`,
  };
}

async function rows(size: Size): Promise<Row[]> {
  const found: Row[] = [];
  for (const accuracy of [0.5, 0.6, 0.8]) found.push(await row(accuracy, scaled(size, 60, 2_000)));
  return found;
}

export const cascades: ValidationCase = {
  name: 'cascades',
  about:
    'Each of 30 voters has a signal that is right with the chance q and sees the votes before ' +
    'its own; as soon as two more stand on one side, all join it. The cascade is wrong with the ' +
    'chance (1 - q)^2 / (q^2 + (1 - q)^2). The scenario is the shipped `cascade`.',
  source: 'Bikhchandani, Hirshleifer and Welch 1992, Journal of Political Economy 100(5)',
  rows,
};
