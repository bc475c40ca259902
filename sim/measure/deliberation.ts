/**
 * Measures and tables of deliberations, and the referee: the classical algorithm with the same
 * initial values and faults, with which the outcome of each deliberation is compared.
 */
import type { Deliberations, Sample } from '../agents/deliberation/deliberations.js';
import { trimmed } from '../agents/deliberation/mocks.js';
import {
  firstChoice,
  keyOf,
  mostFrequent,
  type Stated,
  spreadOf,
} from '../agents/deliberation/statements.js';
import type { Figures } from '../agents/script/scripts.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { SharedErrors } from './correlation.js';
import type { Row } from './dictionary.js';
import { Mean } from './statistics.js';

/** Block of the run, as in blocks.csv. */
interface DeliberatedBlock {
  number: number;
  hash: string;
  status: string;
  warmup: boolean;
}

interface Context {
  scenario: Scenario;
  deliberations: Deliberations;
  blocks: readonly DeliberatedBlock[];
  startMs: number;
  groupOf(agent: number): string;
}

export interface DeliberationResults {
  /** Measures of the run, and by group. */
  run: Figures;
  groups: Record<string, Figures>;
  samples: Row<'samples.csv'>[];
  statements: Row<'statements.csv'>[];
}

/** Agent in one deliberation. */
interface Participant {
  agent: number;
  role: string;
  /** True for honest agents, and for those that a text can change. */
  honest: boolean;
  infected: boolean;
  first: Stated | null;
  last: Stated | null;
  start: Stated | null;
  agreed: boolean;
  rounds: number;
}

export function computeDeliberations(context: Context): DeliberationResults {
  const { deliberations, blocks } = context;
  const means = new Means();
  const samples: Row<'samples.csv'>[] = [];
  const statements: Row<'statements.csv'>[] = [];
  for (const block of blocks) {
    const sample = deliberations.samples.get(block.hash);
    if (!sample) continue;
    statements.push(...statementRows(block.number, sample, context));
    if (block.status === 'voting') continue;
    const own = block.warmup ? new Means() : means;
    const row = sampleRow(block.number, sample, context, own);
    samples.push(row);
    addMeasures(own, row);
  }
  const groups = Object.fromEntries(
    context.scenario.agents.flatMap(({ group }) => {
      const figures = means.figures(`@${group}`);
      return Object.keys(figures).length === 0 ? [] : [[group, figures]];
    }),
  );
  return { run: means.figures(''), groups, samples, statements };
}

/** Means by name. A name with a suffix belongs to a group. */
class Means {
  readonly errors = new SharedErrors();
  readonly #means = new Map<string, Mean>();

  add(name: string, value: number | boolean | null): void {
    const mean = this.#means.get(name) ?? new Mean();
    this.#means.set(name, mean);
    if (value !== null) mean.add(Number(value));
  }

  figures(suffix: string): Figures {
    const own = [...this.#means].filter(([name]) =>
      suffix === '' ? !name.includes('@') : name.endsWith(suffix),
    );
    return {
      ...Object.fromEntries(
        own.map(([name, mean]) => [name.slice(0, name.length - suffix.length), mean.value]),
      ),
      ...this.errors.figures(`first${suffix}`, 'first'),
      ...this.errors.figures(`last${suffix}`, 'last'),
    };
  }
}

function addMeasures(means: Means, row: Row<'samples.csv'>): void {
  for (const outcome of ['valid', 'invalid', 'timeout']) {
    means.add(`outcome_${outcome}`, row.outcome === outcome);
  }
  for (const name of ['reached', 'missed', 'impossible']) means.add(name, row.referee === name);
  means.add('deliberation_rounds', row.rounds as number);
  for (const name of ['statements', 'contradictions'] as const) {
    means.add(name, row[name] as number);
  }
  const optional = [
    ...(['spread_first', 'spread_last', 'gap_factor', 'in_hull', 'order', 'infected'] as const),
    ...(['majority_first', 'majority_last', 'flips_right', 'flips_wrong'] as const),
  ];
  for (const name of optional) if (row[name] !== null) means.add(name, row[name] as number);
}

function listParticipants(sample: Sample, { deliberations }: Context): Participant[] {
  return deliberations.participants.flatMap((agent) => {
    const seat = sample.seats.get(agent);
    if (!seat) return [];
    const own = sample.statements.filter((one) => one.agent === agent);
    const { role, start, end, injection } = seat;
    const honest = role.kind === 'honest' || role.kind === 'injected';
    const first = own[0]?.value ?? null;
    const last = end?.value ?? own.at(-1)?.value ?? null;
    const rounds = end?.rounds ?? (own.at(-1)?.round ?? 0) + 1;
    const agreed = end?.agreed ?? false;
    const infected = injection !== null;
    return [{ agent, role: role.kind, honest, infected, first, last, start, agreed, rounds }];
  });
}

function sampleRow(
  block: number,
  sample: Sample,
  context: Context,
  means: Means,
): Row<'samples.csv'> {
  const { topic, statements } = sample;
  const { tolerance } = context.scenario.deliberation!;
  const all = listParticipants(sample, context);
  const honest = all.filter((one) => one.honest);
  const isOption = topic.kind === 'decision' || topic.kind === 'option';
  for (const { first } of isOption ? honest : []) {
    if (first !== null) means.add('first_option', first === topic.options[0]);
  }
  const lasts = honest.map(({ last }) => last);
  const isCommon = areEqual(lasts, tolerance);
  const isEnded = honest.every(({ agreed }) => agreed);
  const isAgreed = isCommon && isEnded;
  const starts = honest.map(({ start, first }) => start ?? first);
  const isInitial = lasts.some((last) =>
    starts.some((start) => areEqual([last, start], tolerance)),
  );
  const isOver = isCommon || context.scenario.deliberation!.until !== 'rounds';
  const outcome = !isEnded || !isOver ? 'timeout' : isCommon && isInitial ? 'valid' : 'invalid';
  const inHull = topic.kind === 'number' ? isInside(lasts, starts) : null;
  const spreads = spreadsByRound(sample, honest);
  const injected = all.filter(({ role }) => role === 'injected');
  const isReached = outcome === 'valid' || (isAgreed && inHull === true);
  return {
    block,
    question: topic.text,
    truth: topic.truth === null ? null : keyOf(topic.truth),
    agents: all.length,
    honest: honest.length,
    outcome,
    value: isCommon && lasts.length > 0 ? keyOf(lasts[0]) : null,
    majority_value_first: majorityValue(all.map(({ first }) => first)),
    majority_value_last: majorityValue(all.map(({ last }) => last)),
    rounds: Math.max(0, ...honest.map(({ rounds }) => rounds)),
    statements: statements.length,
    contradictions: countContradictions(sample),
    spread_first: topic.kind === 'number' ? spreadOf(starts) : null,
    spread_last: topic.kind === 'number' ? spreadOf(lasts) : null,
    gap_factor: gapFactor(spreads),
    in_hull: inHull === null ? null : Number(inHull),
    order: orderOf(sample, all.length),
    infected:
      injected.length === 0
        ? null
        : injected.filter(({ infected }) => infected).length / injected.length,
    ...rightFigures(sample, all, context, means),
    ...judge(sample, all, { ...context, isReached }),
  };
}

/** Returns the most frequent value as JSON; null without statements or with a tie. */
function majorityValue(values: readonly (Stated | null)[]): string | null {
  const found = mostFrequent(values.filter((value) => value !== null));
  return found ? keyOf(found.value) : null;
}

function areEqual(values: readonly Stated[], tolerance: number): boolean {
  if (values.includes(null)) return false;
  if (tolerance > 0) return (spreadOf(values) ?? 0) <= tolerance;
  return new Set(values.map(keyOf)).size <= 1;
}

/** True if all numbers lie between the smallest and the largest of others. */
function isInside(values: readonly Stated[], others: readonly Stated[]): boolean {
  const bounds = others.map(Number);
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)];
  return values.every((value) => value !== null && Number(value) >= low && Number(value) <= high);
}

function countContradictions({ statements }: Sample): number {
  const made = new Set(statements.map(({ agent, round }) => `${agent}/${round}`));
  return statements.length - made.size;
}

function spreadsByRound({ statements }: Sample, honest: readonly Participant[]): number[] {
  const agents = new Set(honest.map(({ agent }) => agent));
  const byRound: number[][] = [];
  for (const { agent, round, value } of statements) {
    if (!agents.has(agent) || typeof value !== 'number') continue;
    byRound[round] ??= [];
    byRound[round].push(value);
  }
  return byRound.filter((values) => values !== undefined).map((values) => spreadOf(values)!);
}

/** Spread of the last round as a share of that of the round before. */
function gapFactor(spreads: readonly number[]): number | null {
  const [before = 0, last = 0] = spreads.slice(-2);
  return spreads.length < 2 || before === 0 ? null : last / before;
}

/** Mean size of the lead of one of two options, over the second half of the rounds. */
function orderOf({ topic, statements }: Sample, agents: number): number | null {
  if (topic.options.length !== 2) return null;
  const leads: number[] = [];
  for (const { round, value } of statements) {
    leads[round] = (leads[round] ?? 0) + (value === topic.options[0] ? 1 : -1);
  }
  const mean = new Mean();
  for (const lead of leads.slice(Math.floor(leads.length / 2))) {
    mean.add(Math.abs(lead ?? 0) / agents);
  }
  return mean.value;
}

function rightFigures(
  { topic }: Sample,
  all: readonly Participant[],
  { groupOf }: Context,
  means: Means,
) {
  const { truth } = topic;
  if (truth === null) {
    const none = { right_first: null, right_last: null, majority_first: null, majority_last: null };
    return { ...none, flips_right: null, flips_wrong: null };
  }
  const isRight = (value: Stated | null) =>
    value !== null && keyOf(firstChoice(value, topic)) === keyOf(firstChoice(truth, topic));
  const majority = (values: readonly (Stated | null)[]) => {
    const stated = values.filter((value) => value !== null);
    return Number(
      isRight(mostFrequent(stated.map((one) => firstChoice(one, topic)))?.value ?? null),
    );
  };
  for (const { agent, first, last, honest } of all) {
    for (const suffix of [`@${groupOf(agent)}`, ...(honest ? [''] : [])]) {
      if (first !== null) means.add(`accuracy_first${suffix}`, isRight(first));
      if (last !== null) means.add(`accuracy_last${suffix}`, isRight(last));
    }
  }
  addErrors(means.errors, all, groupOf, isRight);
  const honest = all.filter((one) => one.honest && one.first !== null);
  const right = honest.filter(({ first }) => isRight(first));
  const wrong = honest.filter(({ first }) => !isRight(first));
  const shareOf = (some: readonly Participant[], holds: (value: Stated | null) => boolean) =>
    some.length === 0 ? null : some.filter(({ last }) => holds(last)).length / some.length;
  return {
    right_first: right.length,
    right_last: honest.filter(({ last }) => isRight(last)).length,
    majority_first: majority(all.map(({ first }) => first)),
    majority_last: majority(all.map(({ last }) => last)),
    flips_right: shareOf(wrong, isRight),
    flips_wrong: shareOf(right, (last) => !isRight(last)),
  };
}

/** Adds the answers of the honest agents, and those of each group. */
function addErrors(
  errors: SharedErrors,
  all: readonly Participant[],
  groupOf: (agent: number) => string,
  isRight: (value: Stated | null) => boolean,
): void {
  const groups = new Set(all.map(({ agent }) => groupOf(agent)));
  const sets: [suffix: string, agents: readonly Participant[]][] = [
    ['', all.filter(({ honest }) => honest)],
    ...[...groups].map((group): [string, Participant[]] => {
      return [`@${group}`, all.filter(({ agent }) => groupOf(agent) === group)];
    }),
  ];
  for (const [suffix, agents] of sets) {
    for (const name of ['first', 'last'] as const) {
      const stated = agents.filter((one) => one[name] !== null);
      errors.add(
        `${name}${suffix}`,
        stated.map((one) => isRight(one[name])),
      );
    }
  }
}

/**
 * Compares with the classical algorithm. Agreement of n agents that all see each other is possible
 * with f faulty ones if n > 3f (Pease, Shostak and Lamport 1980), and with n > 2f if those are only
 * silent in synchronous rounds with a majority. On other graphs it is claimed without faults only.
 */
function judge(
  sample: Sample,
  all: readonly Participant[],
  { scenario, isReached, deliberations }: Context & { isReached: boolean },
) {
  const { deliberation, topology } = scenario;
  const n = deliberations.participants.length;
  const faulty = all.filter(({ honest }) => !honest);
  const seesAll = deliberation!.sees === 'all' && topology.kind === 'complete';
  const areSilent = faulty.every(({ role }) => role === 'silent');
  const isPossible = faulty.length === 0 || (seesAll && n > (areSilent ? 2 : 3) * faulty.length);
  const referee = isReached ? 'reached' : isPossible ? 'missed' : 'impossible';
  if (sample.topic.kind !== 'number') {
    const firsts = all.flatMap(({ first }) =>
      first === null ? [] : [firstChoice(first, sample.topic)],
    );
    const majority = mostFrequent(firsts);
    return { referee, referee_value: majority ? keyOf(majority.value) : null };
  }
  const values = runMsr(sample, all, deliberation!.rounds);
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return { referee, referee_value: values.length === 0 ? null : keyOf(mean) };
}

/**
 * Runs W-MSR on a complete graph: honest agents begin with their initial values, and faulty agents
 * repeat their statements. Returns the final values of the honest agents.
 */
function runMsr(sample: Sample, all: readonly Participant[], rounds: number): number[] {
  const faulty = all.filter(({ honest }) => !honest);
  const saidBy = (agent: number, round: number): number[] => {
    const own = sample.statements.filter((one) => one.agent === agent && one.round <= round);
    return own.length === 0 ? [] : [Number(own.at(-1)!.value)];
  };
  let values = all.filter(({ honest }) => honest).map(({ start, first }) => Number(start ?? first));
  for (let round = 0; round < rounds; round += 1) {
    const others = faulty.flatMap(({ agent }) => saidBy(agent, round));
    values = values.map((own, at) => {
      const seen = [...values.slice(0, at), ...values.slice(at + 1), ...others];
      const used = trimmed([own, ...seen], faulty.length);
      return used.reduce((sum, value) => sum + value, 0) / used.length;
    });
  }
  return values;
}

function statementRows(
  block: number,
  { topic, statements, seats }: Sample,
  { startMs, groupOf }: Context,
): Row<'statements.csv'>[] {
  const right = topic.truth === null ? null : keyOf(firstChoice(topic.truth, topic));
  return statements.map(({ agent, round, value, reason, note, stop, seen, at }) => ({
    block,
    round,
    agent,
    group: groupOf(agent),
    role: seats.get(agent)!.role.kind,
    value: keyOf(value),
    reason: reason ?? null,
    note: note ?? null,
    stop: Number(stop ?? false),
    right: right === null ? null : Number(keyOf(firstChoice(value, topic)) === right),
    seen: seen.join(' '),
    at_ms: at - startMs,
  }));
}
