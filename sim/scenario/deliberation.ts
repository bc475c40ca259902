/**
 * Defaults and checks of scenarios with deliberations. Their agents see each other, do nothing but
 * deliberate, and have time for all rounds, unless the scenario says something else.
 */
import { type Finding, finding, invalid, type Problem } from './problem.js';
import { type Deliberation, mockKinds, type Role } from './schema/deliberation.js';
import type { Scenario } from './schema/scenario.js';
import { isExternal } from './schema/strategies.js';

type Raw = Record<string, unknown>;

const isRaw = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds members to a section, unless they are present. */
const withDefaults = (section: unknown, defaults: Raw): unknown =>
  section === undefined || isRaw(section) ? { ...defaults, ...section } : section;

const quiet = () => ({ rate: 0 });

/** Adds the defaults of scenarios with a deliberation to a scenario as written. */
export function withDeliberation(raw: unknown): unknown {
  if (!isRaw(raw) || !isRaw(raw.deliberation)) return raw;
  const social = { memes: quiet(), discussion: quiet(), alliances: quiet(), breaks: quiet() };
  return {
    ...raw,
    prompts: raw.prompts ?? {},
    social: withDefaults(raw.social, social),
    topology: withDefaults(raw.topology, { kind: 'complete' }),
    links: withDefaults(raw.links, {
      latency: { distribution: 'constant', mean_ms: 50, spread_ms: 0 },
    }),
  };
}

/** Longest voting period of a network. */
const MOST_VOTING_MS = 86_400_000;
/** Default time for the votes after the last round. */
const VOTING_MS = 10_000;

/** Adds the values that depend on other values of the filled scenario. */
export function completeDeliberation(scenario: Scenario, isPeriodGiven: boolean): void {
  const { deliberation, agents, consensus } = scenario;
  if (!deliberation) return;
  if (!isPeriodGiven) consensus.voting_period_ms = deliberationMs(scenario) + VOTING_MS;
  for (const { strategy } of agents) {
    if (isExternal(strategy) && !strategy.asks.includes('deliberate')) {
      strategy.asks = [...strategy.asks, 'deliberate'];
    }
  }
}

/** Longest time from a proposal to the vote. */
function deliberationMs({ deliberation, population }: Scenario): number {
  const { rounds, round_ms, turns } = deliberation!;
  return ((turns === 'one' ? rounds * population : rounds) + 2) * round_ms;
}

/** Agents after which the number of statements per round is no longer small. */
const MOST_PARTICIPANTS = 2_000;

type Found = [path: string, what: Finding] | null;

export function findDeliberationProblem(scenario: Scenario): Problem | null {
  const found = problemIn(scenario);
  if (!found) return null;
  const [path, what] = found;
  return { path: path.split('.'), ...what };
}

function problemIn(scenario: Scenario): Found {
  const { deliberation, consensus, population } = scenario;
  if (!deliberation) return withoutDeliberation(scenario);
  if (population > MOST_PARTICIPANTS) {
    return ['population', invalid(population, `at most ${MOST_PARTICIPANTS} with a deliberation`)];
  }
  const least = deliberationMs(scenario);
  if (least + VOTING_MS > MOST_VOTING_MS) {
    const expected = `rounds that end within ${MOST_VOTING_MS} ms`;
    return ['deliberation.round_ms', invalid(deliberation.round_ms, expected)];
  }
  if (consensus.voting_period_ms < least) {
    const expected = `at least ${least}, the time for all rounds`;
    return ['consensus.voting_period_ms', invalid(consensus.voting_period_ms, expected)];
  }
  return findValueProblem(scenario) ?? findRolesProblem(scenario);
}

function withoutDeliberation({ agents, prompts }: Scenario): Found {
  const only = finding('ONLY_WITH', { condition: 'a deliberation' });
  if (prompts !== undefined) return ['prompts', only];
  for (const [index, { role, strategy }] of agents.entries()) {
    if (role !== undefined) return [`agents.${index}.role`, only];
    if (strategy.kind === 'mock') return [`agents.${index}.strategy.kind`, only];
  }
  return null;
}

const kindsWithOptions = ['option', 'ranking', 'scores'];

function findValueProblem({ deliberation, producers, agents }: Scenario): Found {
  const { value, questions } = deliberation!;
  const { kind, options, least, most } = value;
  const needsOptions = kindsWithOptions.includes(kind);
  const eachHas = questions?.every((question) => question.options !== undefined);
  if (needsOptions && !options && !producers.options && !eachHas) {
    const expected = `2 to 16 options for values of kind ${kind}`;
    return ['deliberation.value.options', finding('MISSING', { expected })];
  }
  if (!needsOptions && options) {
    const condition = `kind ${kindsWithOptions.join(', ')}`;
    return ['deliberation.value.options', finding('ONLY_WITH', { condition })];
  }
  if (least !== undefined && most !== undefined && least > most) {
    return ['deliberation.value.least', invalid(least, `at most ${most}`)];
  }
  const count = kind === 'decision' ? 2 : (options ?? producers.options ?? []).length;
  for (const [index, { strategy }] of agents.entries()) {
    if (strategy.kind !== 'mock') continue;
    const { model } = strategy;
    const kinds = mockKinds[model];
    const path = `agents.${index}.strategy.model`;
    if (kinds && !kinds.includes(kind)) {
      const condition = `deliberation.value.kind ${kinds.join(' or ')}`;
      return [path, finding('ONLY_WITH', { condition })];
    }
    if (model === 'conformist' && count !== 2) {
      return [path, finding('ONLY_WITH', { condition: 'two options' })];
    }
  }
  return null;
}

/** Kinds of roles that pursue a goal. */
const goals: readonly Role['kind'][] = ['liar', 'equivocating', 'colluding'];

function findRolesProblem({ agents, deliberation }: Scenario): Found {
  for (const [index, { role, strategy }] of agents.entries()) {
    if (role === undefined) continue;
    const path = `agents.${index}.role`;
    if (role.goal !== undefined && !goals.includes(role.kind)) {
      return [`${path}.goal`, finding('ONLY_WITH', { condition: `kind ${goals.join(', ')}` })];
    }
    const isInjected = role.kind === 'injected';
    if (isInjected !== (role.trigger !== undefined)) {
      const expected = 'a text with kind injected';
      const condition = 'kind injected';
      const what = isInjected
        ? finding('MISSING', { expected })
        : finding('ONLY_WITH', { condition });
      return [`${path}.trigger`, what];
    }
    const problem = role.goal === undefined ? null : findGoalProblem(role.goal, deliberation!);
    if (problem !== null) return [`${path}.goal`, invalid(JSON.stringify(role.goal), problem)];
    if (strategy.kind === 'mock' || strategy.kind === 'script' || isExternal(strategy)) continue;
    const condition = 'strategy mock, script, http, exec or mcp';
    return [path, finding('ONLY_WITH', { condition })];
  }
  return null;
}

/** Checks goals of the kinds that have one form. The others are checked when they are stated. */
function findGoalProblem(goal: unknown, { value }: Deliberation): string | null {
  const { kind, options, least = 0, most = 100, whole } = value;
  if (kind === 'decision') return oneOf(goal, ['approve', 'reject']);
  if (kind === 'option') return options ? oneOf(goal, options) : null;
  if (kind !== 'number') return null;
  const fits = typeof goal === 'number' && goal >= least && goal <= most;
  return fits && !(whole && !Number.isSafeInteger(goal)) ? null : `from ${least} to ${most}`;
}

const oneOf = (value: unknown, names: readonly string[]): string | null =>
  names.includes(value as string) ? null : `one of ${names.join(', ')}`;
