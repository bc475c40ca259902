/**
 * Imports the scenarios of k6 and the phases of Artillery. A k6 script is not run: only its object
 * `scenarios: { ... }` is evaluated, alone. A member without a counterpart is reported as a note.
 */
import { RuleError } from '../../engine/rules/rule.js';
import { createMachines } from '../../engine/rules/sandbox.js';
import { executorNames } from './executors.js';
import { loadError } from './messages.js';
import { workloadNames } from './options.js';

type Tree = Record<string, unknown>;

export interface Imported {
  file: Tree;
  notes: string[];
}

/** @throws {Failure} `IMPORT_INVALID` if the text has neither scenarios nor phases. */
export async function importLoad(text: string, yaml: unknown): Promise<Imported> {
  const tree = isTree(yaml) ? yaml : {};
  const config = isTree(tree.config) ? tree.config : tree;
  if (Array.isArray(config.phases)) return importPhases(config);
  const options = isTree(tree.options) ? tree.options : tree;
  const objectOf = async (name: string): Promise<Tree | null> => {
    if (isTree(options[name])) return options[name];
    const literal = literalIn(text, name);
    return literal === null ? null : evaluate(literal);
  };
  const scenarios = await objectOf('scenarios');
  if (scenarios) return importScenarios(scenarios, (await objectOf('thresholds')) ?? {});
  throw loadError('IMPORT_INVALID', { reason: 'no k6 scenarios and no Artillery phases' });
}

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members that load files have in the words of k6. */
const kept = new Set([
  ...['executor', 'startTime', 'gracefulStop', 'rate', 'timeUnit', 'duration', 'preAllocatedVUs'],
  ...['maxVUs', 'startRate', 'stages', 'vus', 'startVUs', 'iterations', 'maxDuration'],
]);

/** A number in k6 is milliseconds. */
const toDuration = (value: unknown): unknown => (typeof value === 'number' ? `${value}ms` : value);
const durations = new Set(['startTime', 'gracefulStop', 'timeUnit', 'duration', 'maxDuration']);

function importScenarios(all: Tree, thresholds: Tree): Imported {
  const notes: string[] = [];
  const entries = Object.entries(all).map(([name, one]) => {
    const members = isTree(one) ? one : {};
    if (!executorNames.some((known) => known === members.executor)) {
      const reason = `scenario ${name}: unknown executor ${JSON.stringify(members.executor)}`;
      throw loadError('IMPORT_INVALID', { reason });
    }
    const left = Object.keys(members).filter((key) => !kept.has(key) && key !== 'exec');
    if (left.length > 0) notes.push(`scenario ${name}: left out ${left.join(', ')}`);
    const { exec } = members;
    const isOurs = workloadNames.some((known) => known === exec);
    if (exec !== undefined && !isOurs) {
      notes.push(`scenario ${name}: exec ${String(exec)} runs votes; set exec, mix or module`);
    }
    const own = Object.entries(members).flatMap(([key, value]): [string, unknown][] => {
      if (!kept.has(key)) return [];
      if (key === 'stages' && Array.isArray(value)) {
        const stages = value.filter(isTree).map(({ duration, target }) => {
          return { duration: toDuration(duration), target };
        });
        return [[key, stages]];
      }
      return [[key, durations.has(key) ? toDuration(value) : value]];
    });
    return [name, { ...Object.fromEntries(own), ...(isOurs ? { exec } : {}) }];
  });
  const names = Object.keys(all);
  const conditions = Object.entries(thresholds).flatMap(([metric, list]) =>
    [list].flat().flatMap((one) => thresholdOf(metric, one, names) ?? note(notes, metric, one)),
  );
  const file = { scenarios: Object.fromEntries(entries) as Tree };
  return { file: { ...file, ...(conditions.length > 0 ? { thresholds: conditions } : {}) }, notes };
}

function note(notes: string[], metric: string, one: unknown): [] {
  const text = isTree(one) ? one.threshold : one;
  notes.push(`threshold left out: ${metric}: ${String(text)}`);
  return [];
}

/** Translates a threshold of k6, such as `p(99)<200` of http_req_duration. */
function thresholdOf(selected: string, one: unknown, scenarios: readonly string[]): unknown {
  const [, metric, scenario] =
    /^(\w+)(?:\{\s*scenario\s*:\s*([\w .-]*[\w-])\s*\})?$/.exec(selected) ?? [];
  const of = scenario === undefined ? '' : `{scenario:${scenario}}`;
  if (scenario !== undefined && !scenarios.includes(scenario)) return null;
  const { threshold, ...rest } = isTree(one) ? one : { threshold: one };
  const [, figure = '', percentile, operator = '', bound = ''] =
    /^\s*(p\((\d+(?:\.\d+)?)\)|med|max|rate)\s*(<=?|>=?)\s*(\d+(?:\.\d+)?)\s*$/.exec(
      String(threshold),
    ) ?? [];
  const names: Record<string, string> = { med: 'p50', max: 'max', '99.9': 'p999' };
  for (const one of ['50', '90', '95', '99']) names[one] = `p${one}`;
  let text: string | null = null;
  if (metric === 'http_req_failed' && figure === 'rate') {
    text = `errors${of}${operator}${Number((100 * Number(bound)).toPrecision(12))}%`;
  } else if (metric === 'http_req_duration' && figure !== 'rate') {
    const name = names[percentile ?? figure];
    if (name) text = `${name}${of}${operator}${bound}ms`;
  }
  if (text === null) return null;
  const { abortOnFail, delayAbortEval } = rest as Tree;
  if (abortOnFail === undefined) return text;
  const delay = delayAbortEval === undefined ? {} : { delayAbortEval: toDuration(delayAbortEval) };
  return { threshold: text, abortOnFail, ...delay };
}

const unitsS = { ms: 0.001, milli: 0.001, '': 1, s: 1, m: 60, h: 3_600 };

/** A number in Artillery is seconds. Units may be words, such as `2 minutes`. */
const inSeconds = (value: unknown): number => {
  const [, digits, unit = ''] =
    /^\s*(\d+(?:\.\d+)?)\s*(?:(ms|milli|s|m|h)[a-z]*)?\s*$/.exec(String(value)) ?? [];
  return toMilliseconds(Number(digits) * unitsS[unit as keyof typeof unitsS]);
};

/** Rounds seconds, because load files have no shorter times. */
const toMilliseconds = (seconds: number): number => Math.round(1_000 * seconds) / 1_000;

/** @throws {Failure} `IMPORT_INVALID` if the value is not a rate. */
function rateOf(value: unknown, what: string): number {
  const rate = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof rate === 'number' && rate >= 0 && Number.isFinite(rate)) return rate;
  const reason = `${what} is ${JSON.stringify(value) ?? 'missing'} (expected a number)`;
  throw loadError('IMPORT_INVALID', { reason });
}

/** Each phase becomes a scenario that starts at the end of the preceding one. */
function importPhases({ phases, target, ensure, ...rest }: Tree): Imported {
  const notes = Object.keys(rest).map((key) => `left out ${key}`);
  const scenarios: Tree = {};
  let startS = 0;
  for (const [index, phase] of (phases as unknown[]).entries()) {
    const { duration, arrivalRate, rampTo, arrivalCount, pause, maxVusers, name } = isTree(phase)
      ? phase
      : {};
    const where = `phase ${index + 1}`;
    const seconds = inSeconds(pause ?? duration);
    if (!(seconds > 0)) {
      throw loadError('IMPORT_INVALID', { reason: `${where}: no duration` });
    }
    const startTime = startS > 0 ? { startTime: `${startS}s` } : {};
    startS = toMilliseconds(startS + seconds);
    if (pause !== undefined) continue;
    const common = { ...startTime, ...(maxVusers === undefined ? {} : { maxVUs: maxVusers }) };
    const length = `${seconds}s`;
    const rate = (value: unknown, what: string) => rateOf(value, `${where}: ${what}`);
    const constant = { executor: 'constant-arrival-rate', duration: length };
    let own: Tree;
    if (rampTo !== undefined) {
      const stages = [{ duration: length, target: rate(rampTo, 'rampTo') }];
      const startRate = rate(arrivalRate ?? 0, 'arrivalRate');
      own = { executor: 'ramping-arrival-rate', startRate, stages };
    } else if (arrivalCount === undefined) {
      own = { ...constant, rate: rate(arrivalRate, 'arrivalRate') };
    } else own = { ...constant, rate: rate(arrivalCount, 'arrivalCount'), timeUnit: length };
    scenarios[nameOf(name, index, scenarios)] = { ...own, ...common };
  }
  const thresholds = ensured(ensure, notes);
  const file = {
    ...(typeof target === 'string' ? { url: target } : {}),
    ...{ scenarios, ...(thresholds.length > 0 ? { thresholds } : {}) },
  };
  return { file, notes };
}

/** Returns the name of a phase, or its number if the name is taken or not one of load files. */
const nameOf = (name: unknown, index: number, taken: Tree): string =>
  typeof name === 'string' &&
  /^(?!phase-\d+$)[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$/.test(name) &&
  !Object.hasOwn(taken, name)
    ? name
    : `phase-${index + 1}`;

function ensured(ensure: unknown, notes: string[]): string[] {
  const { thresholds = [], ...old } = isTree(ensure) ? ensure : {};
  const all = [...(Array.isArray(thresholds) ? thresholds.filter(isTree) : []), old];
  return all.flatMap((one) =>
    Object.entries(one).flatMap(([key, bound]) => {
      const name = key.replace(/^http\.response_time\./, '').replace('median', 'p50');
      if (key === 'maxErrorRate') return [`errors<=${String(bound)}%`];
      if (/^(?:p50|p90|p95|p99|p999|max)$/.test(name)) return [`${name}<=${String(bound)}ms`];
      notes.push(`left out ensure.${key}`);
      return [];
    }),
  );
}

/** Texts and comments, in which brackets mean nothing, and brackets. */
const tokens = /\/\/[^\n]*|\/\*.*?\*\/|(["'`])(?:\\.|(?!\1).)*\1|[[{(]|[\]})]/gs;

/** Returns the text of the object after `name:` in a script, or null. */
function literalIn(text: string, name: string): string | null {
  const start = new RegExp(`\\b${name}['"]?\\s*:\\s*(?=\\{)`).exec(text);
  if (!start) return null;
  const rest = text.slice(start.index + start[0].length);
  let depth = 0;
  for (const { 0: token, index } of rest.matchAll(tokens)) {
    if (/^[[{(]$/.test(token)) depth += 1;
    if (/^[\]})]$/.test(token)) depth -= 1;
    if (depth === 0) return rest.slice(0, index + 1);
  }
  throw loadError('IMPORT_INVALID', { reason: `no end of ${name}` });
}

const FUEL = 5_000_000;

/** Evaluates an object in the sandbox, which reaches nothing outside of it. */
async function evaluate(literal: string): Promise<Tree> {
  const machine = (await createMachines())();
  const read = (run: () => string): unknown => {
    const reply = run();
    if (reply[0] === 'V') return JSON.parse(reply.slice(1) || 'null');
    const text = reply[0] === 'T' ? machine.call('thrown', FUEL, null) : reply;
    throw loadError('IMPORT_INVALID', { reason: text.slice(1).split('\n')[0]! });
  };
  try {
    read(() => machine.load(`export default { read: () => (${literal}) }`, FUEL));
    return read(() => machine.call('["call","read",[]]', FUEL, null)) as Tree;
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    throw loadError('IMPORT_INVALID', { reason: `the scenarios exceed a limit: ${error.fault}` });
  }
}
