/** The measures of a script's own: asked for at the end of a run, and checked. */
import { ScenarioError } from '../../scenario/problem.js';
import type { World } from '../port/world.js';
import type { ScriptReport, ScriptReportBlock, ScriptReportView } from './interface.js';
import { type Notes, who } from './notes.js';
import { oneLine } from './one-line.js';

/** Numbers by name; null where one cannot be said. */
export type Figures = Record<string, number | null>;

/** Measures that scripts of the scenario made: of the run, and of each group. */
export interface Reported {
  run: Figures;
  /** By the names of the groups that have any. */
  groups: Record<string, Figures>;
  /** Warnings about measures that were not finite, as a mean over no blocks. */
  missing?: string[];
}

/** A group whose script has measures. */
export interface Reporter {
  path: string;
  group: string;
  notes: Notes;
  report: ScriptReport;
}

/** The run at its end. */
export interface ReportedEnd {
  world: World;
  blocks: readonly ScriptReportBlock[];
}

/** Calls a function of a script, which is named so. */
type AskReport = (what: string, call: () => Figures) => Figures;

/** Receives a warning about a measure that became a missing value. */
type Warn = (text: string) => void;

/** Each script once for the run, by the first of its groups, and once for each group. */
export function reportedBy(
  reporters: readonly Reporter[],
  end: ReportedEnd,
  taken: ReadonlySet<string>,
  ask: AskReport,
): Reported {
  const reported: Reported = { run: {}, groups: {} };
  const warnings: string[] = [];
  const warn: Warn = (text) => warnings.push(text);
  const asked: AskReport = (what, call) => {
    try {
      return ask(what, call);
    } catch (cause) {
      if (cause instanceof ScenarioError) throw cause;
      throw new ScenarioError(`script ${what}: ${oneLine(cause)}`, { cause });
    }
  };
  for (const path of new Set(reporters.map((one) => one.path))) {
    const those = reporters.filter((one) => one.path === path);
    const what = `${path}: report for the run`;
    const own = new Set([...taken, ...Object.keys(reported.run)]);
    const figures = asked(what, () => {
      return figuresOf(those[0]!.report(viewOf(null, those, end)), own, { what, warn });
    });
    Object.assign(reported.run, figures);
  }
  for (const one of reporters) {
    const what = `${one.path}: report for group ${one.group}`;
    const figures = asked(what, () => {
      return figuresOf(one.report(viewOf(one.group, [one], end)), taken, { what, warn });
    });
    if (Object.keys(figures).length > 0) reported.groups[one.group] = figures;
  }
  if (warnings.length > 0) reported.missing = warnings;
  return reported;
}

function viewOf(
  group: string | null,
  those: readonly Reporter[],
  { world, blocks }: ReportedEnd,
): ScriptReportView {
  return Object.freeze({
    group,
    nowMs: world.now - world.startMs,
    groups: Object.freeze(those.map(({ notes, group: name }) => notes.final(name, world))),
    blocks,
    neighboursOf: (agent: number) => Object.freeze([...world.neighbours(agent)]),
    ...who(world),
  });
}

const NAME = /^[a-z][a-z0-9_]{0,31}$/;

/**
 * Checks the measures of a script. A number that is not finite is a missing value with a warning: a
 * script of a short run divides by zero blocks, and the run is still good.
 *
 * @throws {ScenarioError} naming the first value that cannot be a measure.
 */
function figuresOf(
  given: unknown,
  taken: ReadonlySet<string>,
  { what, warn }: { what: string; warn: Warn },
): Figures {
  if (given === null || given === undefined) return {};
  const wrong = (text: string) => new ScenarioError(`script ${what}: ${text}`);
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw wrong(`it gave ${oneLine(given)}; expected numbers by name, at once`);
  }
  const figures: Figures = {};
  for (const [name, value] of Object.entries(given)) {
    if (!NAME.test(name)) throw wrong(`it names a measure ${name}; expected ${NAME.source}`);
    if (taken.has(name)) throw wrong(`it names a measure ${name}, which is there already`);
    if (value !== null && typeof value !== 'number') {
      throw wrong(`its measure ${name} is ${oneLine(value)}; expected a number, or null`);
    }
    const isKnown = value === null || Number.isFinite(value);
    if (!isKnown) warn(`${what}: measure ${name} is ${value}, which counts as missing`);
    figures[name] = isKnown ? value : null;
  }
  return figures;
}
