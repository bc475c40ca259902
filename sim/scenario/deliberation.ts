/**
 * Defaults and checks of scenarios with deliberations. Their agents see each other, do nothing but
 * deliberate, and have time for all rounds, unless the scenario says something else.
 */
import { canonical } from '../../engine/protocol/canonical.js';
import { at, invalid, missing, onlyWith, type Problems } from './problem.js';
import { type Deliberation, LONGEST_TEXT, mockKinds, type Role } from './schema/deliberation.js';
import type { Scenario } from './schema/scenario.js';
import { isExternal } from './schema/strategies.js';
import { formatValue } from './shape.js';

/** Question about a block, with the values that answer it. */
export interface Topic {
  kind: Deliberation['value']['kind'];
  /** Question for deciders; empty if the scenario has none. */
  text: string;
  /** Possible values of decisions, options, rankings and scores; empty for other kinds. */
  options: readonly string[];
  least: number;
  most: number;
  whole: boolean;
  /** Right value; null for a question without a right value. */
  truth: unknown;
  /** True if an option is drawn as the right value of each block. */
  isDrawn: boolean;
}

/** Largest value as JSON. A statement with its reason fits in one remark. */
const LARGEST_VALUE = 1_000;

/** Returns the topic of a question, without a drawn right value. */
export function createTopic(
  { question = '', value, truth }: Deliberation,
  asked: Question | undefined,
  ofBlock: readonly string[] = [],
): Topic {
  const { kind, whole = false, least = 0, most = kind === 'scores' ? 10 : 100 } = value;
  const named = asked?.options ?? value.options ?? ofBlock;
  const chosen = kind === 'decision' ? ['approve', 'reject'] : named;
  const options = kind === 'number' || kind === 'text' ? [] : chosen;
  const standard = kind === 'decision' ? 'approve' : undefined;
  const text = asked?.text ?? question;
  const right = [asked?.truth, truth, standard].find((one) => one !== undefined);
  const isDrawn = right === undefined && options.length > 0;
  return { kind, text, options, least, most, whole, truth: right ?? null, isDrawn };
}

/** Describes the values that are allowed; null if the value is one. */
export function findValueProblem(value: unknown, topic: Topic): string | null {
  const problem = findKindProblem(value, topic);
  if (problem !== null || canonical(value).length <= LARGEST_VALUE) return problem;
  return `a value of at most ${LARGEST_VALUE} characters as JSON`;
}

function findKindProblem(value: unknown, topic: Topic): string | null {
  const { options, least, most } = topic;
  const isOption = (one: unknown) => typeof one === 'string' && options.includes(one);
  switch (topic.kind) {
    case 'decision':
    case 'option':
      return isOption(value) ? null : `one of ${options.join(', ')}`;
    case 'ranking': {
      const fits =
        Array.isArray(value) &&
        value.length > 0 &&
        value.every(isOption) &&
        new Set(value).size === value.length;
      return fits ? null : `a list of different options, best first: ${options.join(', ')}`;
    }
    case 'scores':
      return areScores(value, topic) ? null : `points from ${least} to ${most} by option`;
    case 'number': {
      const fits = topic.whole ? Number.isSafeInteger(value) : Number.isFinite(value);
      if (fits && (value as number) >= least && (value as number) <= most) return null;
      return `${topic.whole ? 'an integer' : 'a number'} from ${least} to ${most}`;
    }
    case 'text': {
      const fits = typeof value === 'string' && value.length > 0 && value.length <= LONGEST_TEXT;
      return fits && value.isWellFormed() ? null : `a text of at most ${LONGEST_TEXT} characters`;
    }
  }
}

function areScores(value: unknown, { options, least, most }: Topic): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  const fits = ([name, points]: [string, unknown]) =>
    options.includes(name) &&
    Number.isSafeInteger(points) &&
    (points as number) >= least &&
    (points as number) <= most;
  return entries.length > 0 && entries.every(fits);
}

type Question = NonNullable<Deliberation['questions']>[number];

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

/** Adds the voting period, which depends on other values of the filled scenario. */
export function completeDeliberation(scenario: Scenario, isPeriodGiven: boolean): void {
  const { deliberation, consensus } = scenario;
  if (!deliberation || isPeriodGiven) return;
  consensus.voting_period_ms = deliberationMs(scenario) + VOTING_MS;
}

/** Longest time from a proposal to the vote. */
function deliberationMs({ deliberation, population }: Scenario): number {
  const { rounds, round_ms, turns } = deliberation!;
  return ((turns === 'one' ? rounds * population : rounds) + 2) * round_ms;
}

/** Number of agents above which each round has many statements. */
const MOST_PARTICIPANTS = 2_000;

export function* deliberationProblems(scenario: Scenario): Problems {
  const { deliberation, consensus, population } = scenario;
  if (!deliberation) return yield* outsideProblems(scenario);
  if (population > MOST_PARTICIPANTS) {
    const expected = `at most ${MOST_PARTICIPANTS} with a deliberation`;
    yield at('population', invalid(population, expected));
  }
  const least = deliberationMs(scenario);
  if (least + VOTING_MS > MOST_VOTING_MS) {
    const expected = `rounds that end within ${MOST_VOTING_MS} ms`;
    yield at('deliberation.round_ms', invalid(deliberation.round_ms, expected));
  }
  if (consensus.voting_period_ms < least) {
    const expected = `at least ${least}, the time for all rounds`;
    yield at('consensus.voting_period_ms', invalid(consensus.voting_period_ms, expected));
  }
  yield* kindProblems(scenario);
  yield* truthProblems(scenario);
  yield* roleProblems(scenario);
}

/** Rejects members that need a deliberation. */
function* outsideProblems({ agents, prompts }: Scenario): Problems {
  const only = onlyWith('a deliberation');
  if (prompts !== undefined) yield at('prompts', only);
  for (const [index, { role, strategy }] of agents.entries()) {
    if (role !== undefined) yield at(`agents.${index}.role`, only);
    if (strategy.kind === 'mock') yield at(`agents.${index}.strategy.kind`, only);
  }
}

const kindsWithOptions = ['option', 'ranking', 'scores'];

function* kindProblems({ deliberation, producers, agents }: Scenario): Problems {
  const { value, questions, tolerance } = deliberation!;
  const { kind, options, least, most } = value;
  const needsOptions = kindsWithOptions.includes(kind);
  const eachHas = questions?.every((question) => question.options !== undefined);
  if (needsOptions && !options && !producers.options && !eachHas) {
    const expected = `2 to 16 options for values of kind ${kind}`;
    yield at('deliberation.value.options', missing(expected));
  }
  if (!needsOptions && options) {
    yield at('deliberation.value.options', onlyWith(`kind ${kindsWithOptions.join(', ')}`));
  }
  if (least !== undefined && most !== undefined && least > most) {
    yield at('deliberation.value.least', invalid(least, `at most ${most}`));
  }
  if (tolerance !== 0 && kind !== 'number') {
    yield at('deliberation.tolerance', onlyWith('kind number'));
  }
  const count = kind === 'decision' ? 2 : (options ?? producers.options ?? []).length;
  for (const [index, { strategy }] of agents.entries()) {
    if (strategy.kind !== 'mock') continue;
    const kinds = mockKinds[strategy.model];
    const path = `agents.${index}.strategy.model`;
    if (kinds && !kinds.includes(kind)) {
      yield at(path, onlyWith(`deliberation.value.kind ${kinds.join(' or ')}`));
    }
    if (strategy.model === 'conformist' && count !== 2) yield at(path, onlyWith('two options'));
  }
}

/** Kinds of roles that pursue a goal. */
const goals: readonly Role['kind'][] = ['liar', 'equivocating', 'colluding'];

/** Checks the right values, and the values of stubborn models. */
function* truthProblems(scenario: Scenario): Problems {
  const { deliberation, agents } = scenario;
  const { truth, questions = [] } = deliberation!;
  const given: [path: string, value: unknown, question?: Question][] = [
    ...questions.map((one, at): [string, unknown, Question] => {
      return [`deliberation.questions.${at}.truth`, one.truth, one];
    }),
    ['deliberation.truth', truth],
    ...agents.map(({ strategy }, at): [string, unknown] => {
      return [`agents.${at}.strategy.value`, strategy.kind === 'mock' ? strategy.value : undefined];
    }),
  ];
  for (const [path, value, question] of given) {
    if (value === null && path.endsWith('truth')) continue;
    const problem = findAnyProblem(value, scenario, question);
    if (problem !== null) yield at(path, invalid(formatValue(value), problem));
  }
  return null;
}

/** Describes the values that a question allows; with several questions, that any of them allows. */
function findAnyProblem(
  value: unknown,
  { deliberation, producers }: Scenario,
  question?: Question,
): string | null {
  if (value === undefined) return null;
  const asked = question ? [question] : (deliberation!.questions ?? [undefined]);
  const problems = asked.map((one) => {
    return findValueProblem(value, createTopic(deliberation!, one, producers.options));
  });
  return problems.includes(null) ? null : problems[0]!;
}

function* roleProblems(scenario: Scenario): Problems {
  for (const [index, { role, strategy }] of scenario.agents.entries()) {
    if (role === undefined) continue;
    const path = `agents.${index}.role`;
    const { kind, goal, trigger } = role;
    if (goal !== undefined && !goals.includes(kind)) {
      yield at(`${path}.goal`, onlyWith(`kind ${goals.join(', ')}`));
    }
    if ((kind === 'injected') !== (trigger !== undefined)) {
      const isMissing = trigger === undefined;
      const what = isMissing ? missing('a text with kind injected') : onlyWith('kind injected');
      yield at(`${path}.trigger`, what);
    }
    const problem = findAnyProblem(goal, scenario);
    if (problem !== null) yield at(`${path}.goal`, invalid(formatValue(goal), problem));
    if (strategy.kind === 'mock' || strategy.kind === 'script' || isExternal(strategy)) continue;
    yield at(path, onlyWith('strategy mock, script, http, exec or mcp'));
  }
}
