/**
 * Plan of a study, made before anything is spent: the runs of each arm against those that the
 * stated effects need, and the calls, tokens and money of all runs, if no call is repeated.
 */
import { modelOf, priceOf } from '../agents/deciders/ledger.js';
import { groupSpans } from '../scenario/population.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario, Sweep } from '../scenario/schema/scenario.js';
import { isExternal } from '../scenario/schema/strategies.js';
import type { Study, StudyEffect } from '../scenario/schema/study.js';
import { generateCells, getColumn, isResponse } from '../sweep/design.js';
import { generateTasks, type Plan } from '../sweep/plan.js';
import { firstReplicates } from '../sweep/stopping.js';
import { countNeeded, findDetectable, inflationOf } from './power.js';

export interface PlannedEffect {
  name: string;
  response: string;
  /** Runs in each arm of the sweep. */
  runs: number;
  rates: readonly number[] | null;
  /** Runs that each arm needs for this effect alone; null without stated rates. */
  needed: number | null;
  /** Runs that each arm needs if Holm's procedure tests this effect first. */
  needed_holm: number | null;
  /** Smallest differences from the first rate, or from one half, that the runs show. */
  detectable: { up: number | null; down: number | null };
}

export interface StudyPlan {
  cells: number;
  runs: number;
  error: number;
  power: number;
  effects: PlannedEffect[];
  cost: PlannedCost;
}

interface PlannedCost {
  /** Calls of all runs, without retries; null if the length of a run is not a number of blocks. */
  calls: number | null;
  tokens: number | null;
  money: number | null;
  /** Models without a price. */
  unpriced: string[];
}

/** Section `sweep.study`. @throws {ScenarioError} if it is missing or names no factor. */
export function expectStudy({ sweep }: Pick<Plan, 'sweep'>): Study {
  const { study } = sweep;
  if (!study) {
    throw new ScenarioError('sweep.study is missing; add its effects, see docs/studies.md');
  }
  for (const [index, effect] of study.effects.entries()) {
    const where = `sweep.study.effects.${index}`;
    const values = sweep.factors[factorAt(sweep, effect.factor, `${where}.factor`)]!.values ?? [];
    const missing = effect.between.find((value) => !values.includes(value));
    if (missing !== undefined || effect.between[0] === effect.between[1]) {
      const expected = `expected two of ${values.map(String).join(', ')}`;
      throw new ScenarioError(`${where}.between: ${effect.between.join(', ')}; ${expected}`);
    }
    if (!isResponse(responseOf(sweep, effect))) {
      const example = 'finalized_share or reported.outcome_valid';
      throw new ScenarioError(
        `${where}.response: unknown measure: ${effect.response}; use a measure such as ${example}`,
      );
    }
  }
  if (study.cluster !== undefined) factorAt(sweep, study.cluster, 'sweep.study.cluster');
  return study;
}

/** Returns a factor's position, by its column or path. @throws {ScenarioError} */
export function factorAt({ factors }: Sweep, name: string, where: string): number {
  const at = factors.findIndex((factor) => getColumn(factor) === name || factor.path === name);
  if (at >= 0) return at;
  const known = factors.map(getColumn).join(', ');
  throw new ScenarioError(`${where}: unknown factor: ${name}; expected one of ${known}`);
}

export const responseOf = ({ responses }: Sweep, { response }: StudyEffect): string =>
  response ?? responses[0]!;

/** Names an effect, such as `reported.outcome_valid: threat none to possible`. */
export const describeEffect = (sweep: Sweep, effect: StudyEffect): string => {
  const [from, to] = effect.between.map(String);
  return `${responseOf(sweep, effect)}: ${effect.factor} ${from} to ${to}`;
};

export function planStudy(plan: Plan): StudyPlan {
  const { sweep, cells, runs } = plan;
  const study = expectStudy(plan);
  const { effects, power, error } = study;
  return {
    ...{ cells, runs, error, power },
    effects: effects.map((effect) => planEffect(plan, study, effect)),
    cost: planCost(plan, study, firstReplicates(sweep)),
  };
}

function planEffect({ sweep, scenario }: Plan, study: Study, effect: StudyEffect): PlannedEffect {
  const { effects, power, error, cluster, cluster_correlation } = study;
  const at = factorAt(sweep, effect.factor, 'sweep.study');
  const cells = [...generateCells(sweep, scenario.seed)];
  const runs =
    cells.filter(({ values }) => values[at] === effect.between[0]).length * firstReplicates(sweep);
  const questions =
    cluster === undefined
      ? runs
      : (sweep.factors[factorAt(sweep, cluster, 'cluster')]!.values ?? []).length;
  const inflation = inflationOf(Math.max(1, runs / Math.max(1, questions)), cluster_correlation);
  const wanted = { error, power, inflation };
  const holm = { ...wanted, error: error / effects.length };
  const { rates = null } = effect;
  return {
    name: describeEffect(sweep, effect),
    response: responseOf(sweep, effect),
    ...{ runs, rates },
    needed: rates && countNeeded(rates, wanted),
    needed_holm: rates && countNeeded(rates, holm),
    detectable: findDetectable(rates?.[0] ?? 0.5, runs, holm),
  };
}

/** Sums the expected cost over the cells. */
function planCost(plan: Plan, { tokens }: Study, replicates: number): PlannedCost {
  const all: PlannedCost = {
    calls: 0,
    tokens: tokens ? 0 : null,
    money: tokens ? 0 : null,
    unpriced: [],
  };
  const unpriced = new Set<string>();
  // Each cell is completed again, because a factor may change the agents or the length.
  for (const { scenario } of generateTasks(
    plan,
    () => 1,
    () => true,
  )) {
    for (const { model, calls } of callsOf(scenario)) {
      if (calls === null) return { ...all, calls: null, tokens: null, money: null };
      all.calls! += calls * replicates;
      if (!tokens) continue;
      const count = { input: tokens.input * calls, output: tokens.output * calls };
      all.tokens! += (count.input + count.output) * replicates;
      const price = priceOf(scenario.budget, model);
      if (!price) unpriced.add(model);
      all.money! += price ? price(count) * replicates : 0;
    }
  }
  return { ...all, unpriced: [...unpriced].sort() };
}

/** Returns the calls of a run by group: one for each round of a deliberation and for each vote. */
function callsOf(scenario: Scenario): { model: string; calls: number | null }[] {
  const { deliberation, length } = scenario;
  return groupSpans(scenario).flatMap(({ group: { strategy }, size }) => {
    if (!isExternal(strategy)) return [];
    const votes = deliberation?.vote !== 'value' && strategy.asks.includes('vote') ? 1 : 0;
    const each = (deliberation?.rounds ?? 0) + votes;
    const calls = length.blocks === undefined ? null : length.blocks * size * each;
    return [{ model: modelOf(strategy as { model?: string }), calls }];
  });
}
