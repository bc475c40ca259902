/**
 * Robustness audit: twins of a study, each with one change of wording that should not matter, on
 * the same seeds. A response that differs between a twin and the study shows that the wording
 * matters, and a conclusion survives if each twin shows it in the same direction. Holm's procedure
 * covers all comparisons of responses. A conclusion must hold in every twin, which needs no
 * correction.
 */
import { join } from 'node:path';
import { holm } from '../attribution/effects.js';
import { completeScenario } from '../scenario/complete.js';
import { loadScenario } from '../scenario/load.js';
import { type Change, ScenarioError, withValues } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { type Plan, planScenario } from '../sweep/plan.js';
import { getMeasure, type RunRecord } from '../sweep/runs.js';
import { computeStatistics, Sample } from '../sweep/statistics.js';
import { signFlip } from './effects.js';
import { type ReportedEffect, readRecords, reportStudy } from './report.js';

/** Change of wording, as a change of the scenario. */
export interface Twin {
  name: string;
  path: string;
  value: unknown;
}

/** Share of statements that name the option which the scenario lists first. */
const FIRST_OPTION = 'reported.first_option';
const PARAPHRASES = 3;

export function listTwins({ prompts }: Pick<Scenario, 'prompts'>): Twin[] {
  const { order = 'given', labels = 'names', paraphrase = 0, threat = 'none' } = prompts ?? {};
  const { persona } = prompts ?? {};
  const values = {
    order: order === 'reversed' ? 'given' : 'reversed',
    labels: labels === 'letters' ? 'numbers' : 'letters',
    persona: persona ? JSON.stringify({ persona }) : 'You take part in a discussion.',
    paraphrase: (paraphrase + 1) % PARAPHRASES,
    threat: threat === 'none' ? 'possible' : 'none',
  };
  return Object.entries(values).map(([name, value]) => ({ name, path: `prompts.${name}`, value }));
}

export interface Comparison {
  twin: string;
  response: string;
  /** Pairs of runs with the same seed and the same factors. */
  pairs: number;
  /** Mean of the twin minus the study, with a 95 % interval. */
  difference: number | null;
  low: number | null;
  high: number | null;
  p: number;
  p_holm: number;
  /** True if the wording changes the response, at the familywise error. */
  flagged: boolean;
}

interface SurvivingEffect {
  name: string;
  /** False if the study itself does not show the effect. */
  shown: boolean;
  /** Twins that do not show it in the same direction. */
  lost_in: string[];
  survives: boolean;
}

export interface AuditReport {
  error: number;
  comparisons: Comparison[];
  effects: SurvivingEffect[];
}

export type Arm = readonly Pick<
  RunRecord,
  'seed' | 'values' | 'verdict' | 'measures' | 'reported'
>[];

/** Compares the twins with the study, response by response. */
export function compareTwins(
  base: Arm,
  twins: ReadonlyMap<string, Arm>,
  responses: readonly string[],
  error: number,
): Comparison[] {
  const nameOf = ({ seed, values }: Arm[number]) => JSON.stringify([seed, values]);
  const before = new Map(base.map((record) => [nameOf(record), record]));
  const found = [...twins].flatMap(([twin, records]) =>
    responses.flatMap((response) => {
      const differences = records.flatMap((record) => {
        const other = before.get(nameOf(record));
        const [a, b] = [other, record].map((one) => one && getMeasure(one as RunRecord, response));
        return typeof a === 'number' && typeof b === 'number' ? [b - a] : [];
      });
      if (differences.length === 0) return [];
      const { mean, low, high } = computeStatistics(Sample.of(differences), 't_skew');
      const p = signFlip(differences);
      return [{ twin, response, pairs: differences.length, difference: mean, low, high, p }];
    }),
  );
  const adjusted = holm(found.map(({ p }) => p));
  return found.map((one, at) => {
    return { ...one, p_holm: adjusted[at]!, flagged: adjusted[at]! <= error };
  });
}

/** Plans of an audit: the study, and its twins by name. */
export interface AuditPlans {
  base: Plan;
  twins: { twin: Twin; plan: Plan }[];
}

/** Replicates of a scenario without a sweep. */
const STANDARD_REPLICATES = 20;

/**
 * Plans the study and its twins.
 * @throws {ScenarioError} if the scenario has no deliberation, whose wording the twins change.
 */
export function planAudit(
  file: string,
  { set = [], replicates }: { set?: readonly Change[]; replicates?: number } = {},
): AuditPlans {
  const loaded = loadScenario(file, [...set]);
  if (!loaded.scenario.deliberation) {
    const how = 'add a section deliberation, see docs/deliberation.md';
    throw new ScenarioError(`deliberation is missing: an audit changes its wording; ${how}`);
  }
  const { sweep } = loaded.scenario;
  const own = sweep ?? {
    factors: [{ path: 'prompts.paraphrase', name: 'audited', values: [0] }],
    replicates: STANDARD_REPLICATES,
    audit: 'none',
    responses: ['reported.accuracy_first', 'reported.outcome_valid'],
  };
  const repeated = replicates === undefined ? own : { ...own, replicates };
  const planOf = (changes: readonly Change[]): Plan => {
    const { paraphrase = 0 } = loaded.scenario.prompts ?? {};
    const values: Change[] = sweep
      ? [...changes]
      : [...changes, ['sweep.factors.0.values', [pathValue(changes, paraphrase)]]];
    const raw = withValues(withValues(loaded.raw, [['sweep', repeated]]), values);
    const scenario = completeScenario(raw, loaded.folder);
    return planScenario({ ...loaded, raw, scenario });
  };
  const varied = new Set((sweep?.factors ?? []).map(({ path }) => path));
  const twins = listTwins(loaded.scenario).filter(({ path }) => !varied.has(path));
  return {
    base: planOf([]),
    twins: twins.map((twin) => ({ twin, plan: planOf([[twin.path, twin.value]]) })),
  };
}

/** The single factor of a scenario without a sweep has the value that its arm uses. */
const pathValue = (changes: readonly Change[], standard: number): unknown =>
  changes.find(([path]) => path === 'prompts.paraphrase')?.[1] ?? standard;

export const armFolder = (out: string, name: string): string => join(out, name);

/** Reports an audit from the folders of its arms. */
export function reportAudit(out: string, { base, twins }: AuditPlans): AuditReport {
  const { sweep } = base.scenario;
  const { study, responses } = sweep!;
  const error = study?.error ?? 0.05;
  const recordsOf = (name: string, { scenario }: Plan) =>
    readRecords(armFolder(out, name), scenario).map((record) => ({
      ...record,
      // The factor of a scenario without a sweep differs between the arms.
      values: Object.fromEntries(
        Object.entries(record.values).filter(([key]) => key !== 'audited'),
      ),
    }));
  const arms = new Map(twins.map(({ twin, plan }) => [twin.name, recordsOf(twin.name, plan)]));
  const all = [...new Set([FIRST_OPTION, ...responses])];
  const comparisons = compareTwins(recordsOf('base', base), arms, all, error);
  if (!study) return { error, comparisons, effects: [] };
  const reports = twins.map(({ twin }) => {
    return { name: twin.name, effects: reportStudy(armFolder(out, twin.name)).effects };
  });
  const effects = reportStudy(armFolder(out, 'base')).effects.map((effect, at) => {
    const lost_in = reports
      .filter(({ effects: others }) => !isSame(effect, others[at]!))
      .map(({ name }) => name);
    const { name, shown } = effect;
    return { name, shown, lost_in, survives: shown && lost_in.length === 0 };
  });
  return { error, comparisons, effects };
}

const isSame = (a: ReportedEffect, b: ReportedEffect): boolean =>
  b.shown && Math.sign(a.difference ?? 0) === Math.sign(b.difference ?? 0);

/**
 * Returns the scenario of the probe: each agent is asked once, in its usual wording, what it takes
 * the experiment to be about.
 */
export function probeScenario({ scenario, base, folder }: Plan): Scenario {
  const { rounds: _, questions: __, truth: ___, ...deliberation } = scenario.deliberation!;
  const probe = {
    ...deliberation,
    question:
      'Before you go on: what do you think this experiment is about, and what is it meant to show?',
    value: { kind: 'text' },
    rounds: 1,
    until: 'rounds',
  };
  const changes: Change[] = [
    ['deliberation', probe],
    ['length', { blocks: 1 }],
  ];
  return completeScenario(withValues(base, changes), folder);
}
