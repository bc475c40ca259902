/**
 * The decision rule of a network: a rule from the library, from lines or from a module, with the
 * network's parameters. Everything that depends on the rule derives from here: thresholds, the
 * number of votes until a decision, and the checks of ballots.
 */
import type { RuleLine, RuleOptions } from '../protocol/schema/genesis.js';
import type { Problem } from '../protocol/schema/validate.js';
import { nearest, utf8 } from '../protocol/text.js';
import {
  BALLOT_BYTES,
  type BallotProblem,
  type BallotSchema,
  findBallotProblem,
} from './ballots.js';
import { library } from './bundled/library.js';
import { policies } from './bundled/policies.js';
import {
  type Counts,
  type Ended,
  isWeightRule,
  type PollBlock,
  type Rule,
  RuleError,
  type Values,
  type WeightRule,
} from './rule.js';

const findRule = (name: string): Rule | undefined =>
  Object.hasOwn(library, name) ? library[name] : undefined;

/** Network parameters on which the rule depends. */
export interface RuleGenesis {
  policy: string;
  participation_bps?: number;
  rule?: RuleOptions | undefined;
}

/** Returns the rule that a module's text exports. @throws {RuleTextError} */
export type ModuleLoader = (source: string) => Rule;

let loadModule: ModuleLoader | null = null;

/** Sets the function that loads modules. The sandbox calls this once it is loaded. */
export function enableModules(load: ModuleLoader): void {
  loadModule = load;
}

/** Thrown if the text of a module does not export a rule. */
export class RuleTextError extends Error {}

/** Returns true if the rule is a module, and the sandbox that runs modules is not loaded. */
export const isUnloadedModule = ({ policy }: Pick<RuleGenesis, 'policy'>): boolean =>
  policy === 'module' && loadModule === null;

/** Thrown if this program does not run the rule of a network. */
export class RuleUnavailable extends Error {
  constructor(readonly policy: string) {
    const advice =
      policy === 'module' ? 'call prepareSandbox() first' : 'use a version that has it';
    super(`decision rule is not available here: ${policy}; ${advice}`);
  }
}

const rules = new WeakMap<object, NetworkRule>();

/** Returns a network's rule. @throws {RuleUnavailable} */
export function ruleOf(genesis: RuleGenesis): NetworkRule {
  let known = rules.get(genesis);
  if (!known) {
    known = new NetworkRule(genesis.policy, createRule(genesis), genesis);
    rules.set(genesis, known);
  }
  return known;
}

function createRule({ policy, rule }: RuleGenesis): Rule {
  if (policy === 'lines' && rule?.lines) return createLineRule(rule.lines);
  const found = policy === 'module' && rule?.source && loadModule?.(rule.source);
  const created = found || findRule(policy);
  if (!created) throw new RuleUnavailable(policy);
  return created;
}

/**
 * Returns the rule that a list of lines describes: the first inequality that holds decides, and a
 * block that no line decides expires. Lines run no code, so genesis can carry them to any program
 * in any language.
 */
function createLineRule(lines: readonly RuleLine[]): WeightRule {
  const find = createLineFinder(lines);
  return {
    title: 'The first inequality in genesis that holds decides',
    parameters: {},
    usesVetoes: lines.some((line) => line.if.vetoes !== undefined),
    decide(counts, _, over) {
      const line = lines[find(counts, over)];
      if (line) return line.then;
      return over ? 'expired' : null;
    },
  };
}

// Equal to the list in the schema, whose import would make the page load the schema library.
const terms = ['approve', 'reject', 'total', 'voted', 'electors', 'vetoes', 'one'] as const;

export type LineFinder = (counts: Readonly<Counts>, over: boolean) => number;

/** Returns a function that finds the index of the line that decides, or -1. */
export function createLineFinder(lines: readonly RuleLine[]): LineFinder {
  // Reading the factors by name takes longer than the decision, so one array contains them all.
  const factors = Float64Array.from(
    lines.flatMap((line) => terms.map((term) => line.if[term] ?? 0)),
  );
  const early = lines.map((line) => !line.over);
  return (counts, over) => {
    for (let line = 0, at = 0; line < early.length; line += 1, at += terms.length) {
      if (!over && !early[line]) continue;
      // Every partial sum is an exact integer.
      const sum =
        factors[at]! * counts.approve +
        factors[at + 1]! * counts.reject +
        factors[at + 2]! * counts.total +
        factors[at + 3]! * counts.voted +
        factors[at + 4]! * counts.electors +
        factors[at + 5]! * counts.vetoes +
        factors[at + 6]!;
      if (sum > 0) return line;
    }
    return -1;
  };
}

export function findRuleProblem(genesis: RuleGenesis): Problem | null {
  const { policy, rule = {} } = genesis;
  const found = findMemberProblem(genesis);
  if (found) return found;
  if (policy === 'module') return findModuleProblem(rule);
  if (policy !== 'lines' && !findRule(policy)) {
    const known = [...policies, 'lines', 'module'];
    const near = nearest(policy, known);
    const message = `names no rule; use ${near ?? `one of ${known.join(', ')}`}`;
    return { pointer: '/policy', message, value: JSON.stringify(policy) };
  }
  return findParameterProblem(createRule(genesis), rule.parameters ?? {});
}

/**
 * Returns a problem if `rule` lacks `lines` or `source` although the policy needs it, or has one
 * that the policy does not use. Otherwise returns null.
 */
export function findMemberProblem({ policy, rule = {} }: RuleGenesis): Problem | null {
  const needs = { lines: 'lines', module: 'source' }[policy];
  for (const member of ['lines', 'source'] as const) {
    const pointer = `/rule/${member}`;
    if (member === needs && rule[member] === undefined) {
      return { pointer, message: `is missing; the policy ${policy} needs it` };
    }
    if (member !== needs && rule[member] !== undefined) {
      return { pointer, message: `does not belong to the policy ${policy}; leave it out` };
    }
  }
  return null;
}

function findModuleProblem({ source, parameters = {} }: RuleOptions): Problem | null {
  const pointer = '/rule/source';
  if (loadModule === null) {
    const message =
      'needs the sandbox for modules, which is not loaded; call prepareSandbox() first';
    return { pointer, message };
  }
  try {
    return findParameterProblem(loadModule(source!), parameters);
  } catch (error) {
    if (error instanceof RuleTextError) return { pointer, message: error.message };
    throw error;
  }
}

function findParameterProblem(
  { parameters }: Rule,
  given: Readonly<Record<string, number>>,
): Problem | null {
  for (const [name, value] of Object.entries(given)) {
    const pointer = `/rule/parameters/${name}`;
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (!parameter) {
      const known = Object.keys(parameters).join(', ') || 'none';
      return { pointer, message: `is not a parameter of the rule; its parameters: ${known}` };
    }
    const { minimum, maximum } = parameter;
    if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) continue;
    const message = `must be an integer from ${minimum} to ${maximum}`;
    return { pointer, message, value: JSON.stringify(value) };
  }
  return null;
}

type Reached = (status: Ended | null) => boolean;

/** Weights that decide a block; null where no weight does. */
export interface Thresholds {
  finalize: number | null;
  reject: number | null;
  /** Weight that must vote, if the block stays undecided until the end of voting. */
  turnout: number | null;
}

/** Maximum number of results that `needed` caches. */
const MOST_NEEDED = 4_096;

export class NetworkRule {
  readonly values: Values;
  /** Optional members of votes and proposals that the rule does not read. */
  readonly unreadMembers: readonly string[];
  /** Results of `needed` for the last size of an electorate. */
  #needed = { total: -1, electors: -1, byReject: new Map<number, number>() };

  constructor(
    /** Name in genesis. */
    readonly name: string,
    readonly rule: Rule,
    genesis: Omit<RuleGenesis, 'policy'>,
  ) {
    const given = genesis.rule?.parameters ?? {};
    // `participation_bps` is older than `rule`, so it is a network parameter.
    const older: Values = { participation_bps: genesis.participation_bps ?? Number.NaN };
    this.values = Object.fromEntries(
      Object.entries(rule.parameters).map(([name, { default: standard }]) => {
        const known = Number.isNaN(older[name] ?? Number.NaN) ? standard : older[name]!;
        return [name, given[name] ?? known];
      }),
    );
    this.unreadMembers = [
      ...(this.takesBallots ? [] : ['ballot']),
      ...(this.usesOptions ? [] : ['options']),
    ];
  }

  get usesVetoes(): boolean {
    return isWeightRule(this.rule) && this.rule.usesVetoes === true;
  }

  get usesOptions(): boolean {
    return !isWeightRule(this.rule) && this.rule.usesOptions === true;
  }

  /** True if votes may carry a ballot. */
  get takesBallots(): boolean {
    return !isWeightRule(this.rule) && this.rule.ballot !== undefined;
  }

  /** Schema of a vote's ballot; null if votes have no ballots. */
  get ballotSchema(): BallotSchema | null {
    return isWeightRule(this.rule) ? null : (this.rule.ballot ?? null);
  }

  /** True if the counted weights alone decide. */
  get isByWeight(): boolean {
    return isWeightRule(this.rule);
  }

  /** Returns a weight rule's decision, or null if undecided. @throws {RuleError} if it fails. */
  decide(counts: Readonly<Counts>, over: boolean): Ended | null {
    return isWeightRule(this.rule) ? this.rule.decide(counts, this.values, over) : null;
  }

  /** Returns the decision on a hypothetical block, or null if it is undecided. */
  decideTrial(counts: Readonly<Counts>, over: boolean): Ended | null {
    try {
      return this.decide(counts, over);
    } catch (error) {
      if (error instanceof RuleError) return null;
      throw error;
    }
  }

  /**
   * Returns the smallest approving weight that finalizes a block with these rejections if no group
   * vetoes; `total + 1` if no weight does, and 0 if the rule does not decide by weight.
   */
  needed({ reject, total, electors }: Pick<Counts, 'reject' | 'total' | 'electors'>): number {
    if (!isWeightRule(this.rule)) return 0;
    // Cached, because each vote calls this, and successive electorates mostly have the same size.
    let known = this.#needed;
    const isKnown = known.total === total && known.electors === electors;
    if (!isKnown || known.byReject.size >= MOST_NEEDED) {
      known = { total, electors, byReject: new Map() };
      this.#needed = known;
    }
    let weight = known.byReject.get(reject);
    if (weight === undefined) {
      const trial = { approve: 0, reject, total, voted: electors, electors, vetoes: 0 };
      weight = bisect(0, total + 1, (approve) => {
        trial.approve = approve;
        return this.decideTrial(trial, true) === 'finalized';
      });
      known.byReject.set(reject, weight);
    }
    return weight;
  }

  /**
   * Returns the smallest approving weight that finalizes a block if all other electors reject it;
   * `total + 1` if no weight does, and null if the rule does not decide by weight.
   */
  quota(total: number, electors: number): number | null {
    if (!isWeightRule(this.rule)) return null;
    return bisect(0, total + 1, (approve) => {
      const counts = { approve, reject: total - approve, total, voted: electors, electors };
      return this.decideTrial({ ...counts, vetoes: 0 }, true) === 'finalized';
    });
  }

  /**
   * Returns the approving weight that finalizes a block and the rejecting weight that rejects it,
   * both before the end of voting. If no approving weight does, returns the turnout that the rule
   * requires. A member is null if no such weight exists.
   */
  thresholds(total: number, electors: number): Thresholds {
    const trial = { approve: 0, reject: 0, total, voted: 0, electors, vetoes: 0 };
    const reached = (over: boolean, side: 'approve' | 'reject', isReached: Reached) => {
      const weight = bisect(0, total + 1, (value) =>
        isReached(this.decideTrial({ ...trial, [side]: value }, over)),
      );
      return this.isByWeight && weight <= total ? weight : null;
    };
    const finalize = reached(false, 'approve', (status) => status === 'finalized');
    const reject = reached(false, 'reject', (status) => status === 'rejected');
    const turnout = reached(true, 'approve', (status) => status !== 'expired');
    return { finalize, reject, turnout: finalize === null ? turnout : null };
  }

  /**
   * Returns the number of approvals that finalize a block before its deadline, if all electors have
   * the same weight. Returns `electors` if the rule decides only after all electors have voted.
   */
  approvalsToClose(electors: number): number {
    return bisect(1, electors, (approve) => {
      const counts = { approve, reject: 0, total: electors, voted: approve, electors, vetoes: 0 };
      return this.decideTrial(counts, approve === electors) === 'finalized';
    });
  }

  /** Returns the first problem in a vote's ballot, or null. Absent ballots are valid. */
  findBallotProblem(ballot: unknown, block: PollBlock): BallotProblem | null {
    const { rule } = this;
    if (ballot === undefined || isWeightRule(rule) || !rule.ballot) return null;
    if (utf8(JSON.stringify(ballot)).length > BALLOT_BYTES) {
      return { pointer: '', problem: `must have at most ${BALLOT_BYTES} bytes` };
    }
    const found = findBallotProblem(rule.ballot, ballot);
    if (found || !rule.accepts) return found;
    try {
      if (rule.accepts(ballot as never, this.values, block)) return null;
    } catch {
      // A rule that throws does not accept the ballot.
    }
    return { pointer: '', problem: 'is not valid for this block; compare its options' };
  }
}

/** Returns the smallest integer in [low, high] for which `holds`; `high` if none does. */
export function bisect(low: number, high: number, holds: (value: number) => boolean): number {
  let [least, most] = [low, high];
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    if (holds(middle)) most = middle;
    else least = middle + 1;
  }
  return least;
}
