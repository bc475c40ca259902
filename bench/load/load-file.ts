/** Load files, with checks. The files that a load file names must be inside its folder. */
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { describePattern } from '../../engine/protocol/patterns.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import { fileInside } from '../../sim/scenario/files.js';
import {
  fileProblemError,
  finding,
  invalid,
  type Problem,
  scenarioError,
} from '../../sim/scenario/problem.js';
import {
  findSchemaProblems,
  findSizeProblem,
  formatValue,
  MOST_PROBLEMS,
} from '../../sim/scenario/shape.js';
import { readYaml } from '../../sim/scenario/yaml.js';
import { parseThreshold, type Threshold } from './conditions.js';
import { type ExecutorName, executorNames, lengthMs, peak, planned, planOf } from './executors.js';
import { describeMix } from './findings.js';
import { Fault, LoadFile, name, Server, scenarioSchemas } from './load-schema.js';
import { loadError } from './messages.js';
import {
  type FaultPlan,
  kinds,
  type LoadOptions,
  loadDefaults,
  type Mix,
  type Payload,
  parseDuration,
  type Scenario,
  type ServerPlan,
  sharesOf,
  workloadOf,
} from './options.js';

const namePattern = new RegExp(name);

/** Members of any scenario, after the check against its executor. */
interface ScenarioMembers {
  executor: ExecutorName;
  startTime?: string;
  gracefulStop?: string;
  exec?: string;
  mix?: Mix;
  module?: string;
  data?: string;
  arrivals?: Scenario['law'] | { trace: string };
  think?: string | { from: string; to: string };
}

/** A problem of a value, thrown while a file is read. */
class Invalid extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.text);
    this.problem = problem;
  }
}

const fail = (path: string[], what: Pick<Problem, 'code' | 'text'>): never => {
  throw new Invalid({ path, ...what });
};

function findProblems(value: unknown): Problem[] {
  const size = findSizeProblem(value);
  if (size) return [size];
  const problems = findSchemaProblems(LoadFile, value);
  const { scenarios, servers, faults } = Object(value) as Partial<LoadFile>;
  for (const [list, all] of Object.entries({ scenarios, servers, faults })) {
    if (problems.some(({ path }) => path[0] === list)) continue;
    for (const [key, one] of Object.entries(all ?? {})) {
      const path = [list, key];
      if (!namePattern.test(key)) problems.push({ path, ...invalid(key, describePattern(name)!) });
      else if (list === 'scenarios') problems.push(...findScenarioProblems(one, path));
      else problems.push(...findSchemaProblems(list === 'servers' ? Server : Fault, one, path));
    }
  }
  return problems.slice(0, MOST_PROBLEMS);
}

function findScenarioProblems(scenario: unknown, path: string[]): Problem[] {
  const { executor } = Object(scenario) as { executor?: unknown };
  if (executorNames.includes(executor as ExecutorName)) {
    return findSchemaProblems(scenarioSchemas[executor as ExecutorName], scenario, path);
  }
  const expected = `one of ${executorNames.join(', ')}`;
  const what =
    executor === undefined
      ? finding('MISSING', { expected })
      : invalid(formatValue(executor), expected);
  return [{ path: [...path, 'executor'], ...what }];
}

const ms = (text: string): number => parseDuration(text)!;
const msOr = (text: string | undefined, standard: number) => (text ? ms(text) : standard);

const MOST_BYTES = fileBounds.text;

class Reader {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  text(file: string, path: string[], what: string): string {
    const found = fileInside(file, this.#folder, what);
    if (!('file' in found)) return fail(path, found);
    return readBounded(found.file, MOST_BYTES).toString();
  }

  scenario(key: string, all: ScenarioMembers): Scenario {
    const path = ['scenarios', key];
    const given = (['exec', 'mix', 'module'] as const).filter((one) => all[one] !== undefined);
    if (given.length > 1) {
      const values = { given: given.join(', '), names: 'exec, mix, module' };
      fail(path, finding('EXPECTED_ONE', values));
    }
    const plan = planOf(all.executor, all);
    if (lengthMs(plan) === 0) fail(path, invalid('0 s long', 'a positive duration'));
    const isOpen = plan.of === 'arrivals';
    if (all.arrivals !== undefined && !isOpen) {
      const condition = 'an executor of arrivals';
      fail([...path, 'arrivals'], finding('ONLY_WITH', { condition }));
    }
    if (all.think !== undefined && isOpen) {
      fail([...path, 'think'], finding('ONLY_WITH', { condition: 'an executor of virtual users' }));
    }
    if (all.data !== undefined && all.module === undefined) {
      fail([...path, 'data'], finding('ONLY_WITH', { condition: 'module' }));
    }
    return {
      ...{ name: key, executor: all.executor, plan },
      startMs: ms(all.startTime ?? '0s'),
      stopMs: ms(all.gracefulStop ?? '30s'),
      law: this.#law(all.arrivals ?? 'uniform', path),
      think: thinkOf(all.think),
      ...this.#requests(all, path),
    };
  }

  #law(law: NonNullable<ScenarioMembers['arrivals']>, path: string[]): Scenario['law'] {
    if (typeof law === 'string') return law;
    const { trace } = law as { trace: string };
    const at = [...path, 'arrivals', 'trace'];
    const lines = this.text(trace, at, 'a list of times').split(/\r?\n/);
    const times = lines.flatMap((line, index) => {
      if (line.trim() === '' || line.startsWith('#')) return [];
      const seconds = Number(line.split(',')[0]);
      if (Number.isFinite(seconds) && seconds >= 0) return 1_000 * seconds;
      const detail = 'is not a time in seconds';
      return fail(at, finding('INVALID_LINE', { file: trace, line: index + 1, detail }));
    });
    return times.sort((a, b) => a - b);
  }

  #requests(
    { exec = 'votes', mix, module, data }: ScenarioMembers,
    path: string[],
  ): Pick<Scenario, 'mix' | 'script'> {
    if (module === undefined) {
      const own = mix ?? workloadOf(exec).mix;
      if (Object.values(own).some((weight) => weight > 0)) return { mix: own, script: null };
      return fail([...path, 'mix'], invalid('empty', 'one kind with a positive weight'));
    }
    const source = this.text(module, [...path, 'module'], 'a module');
    const rows = data === undefined ? [] : this.#rows(data, [...path, 'data']);
    const votes = /\bdo:\s*['"`]vote['"`]/.test(source);
    return { mix: { script: 1 }, script: { file: module, source, rows, votes } };
  }

  /** Reads the rows of a data file. The first line of a CSV file names the columns. */
  #rows(file: string, path: string[]): unknown[] {
    const text = this.text(file, path, 'a data file');
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
    try {
      if (/\.json$/i.test(file)) return [JSON.parse(text)].flat();
      if (!/\.csv$/i.test(file)) return lines.map((line) => JSON.parse(line) as unknown);
    } catch {
      fail(path, invalid(file, 'JSON'));
    }
    const [head = '', ...rest] = lines.map((line) => line.replace(/^\uFEFF/, ''));
    const names = splitCsv(head);
    return rest.map((line) => {
      const cells = splitCsv(line);
      return Object.fromEntries(names.map((column, index) => [column, cells[index] ?? '']));
    });
  }
}

/** Splits a line of CSV. A field may be in quotes, with doubled quotes inside. */
const splitCsv = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );

function thinkOf(think: ScenarioMembers['think']): Scenario['think'] {
  if (think === undefined) return null;
  if (typeof think === 'string') return { fromMs: ms(think), toMs: ms(think) };
  return { fromMs: ms(think.from), toMs: ms(think.to) };
}

/** Largest value of the built-in workloads that the scenarios use. */
function largest(file: LoadFile, member: 'agents' | 'batch', standard: number): number {
  const all = Object.values(file.scenarios) as ScenarioMembers[];
  const values = all.flatMap(({ exec = 'votes', mix, module }) =>
    mix || module ? standard : workloadOf(exec)[member],
  );
  return Math.max(...values);
}

/** Plans the faults, and refuses those without what their action needs. */
const faultsOf = ({ faults = {}, servers = {} }: LoadFile, endMs: number): FaultPlan[] =>
  Object.entries(faults as Record<string, Fault>).map(([key, fault]) => {
    const { action, server, at, duration = '0s', ...rest } = fault;
    const path = ['faults', key];
    const needed = action === 'run' ? 'command' : action === 'signal' ? 'signal' : null;
    if (needed !== null && fault[needed] === undefined) {
      fail([...path, needed], finding('MISSING', { expected: `it, for action ${action}` }));
    }
    const known = Object.keys(servers);
    if (action !== 'run' && !known.includes(server ?? '')) {
      const expected = `one of ${known.join(', ') || 'the members of servers'}`;
      fail([...path, 'server'], invalid(server ?? 'none', expected));
    }
    if (ms(at) >= endMs) fail([...path, 'at'], invalid(at, `less than ${endMs / 1_000} s`));
    const times = { atMs: ms(at), durationMs: ms(duration) };
    if ((action === 'pause' || action === 'slow') && times.durationMs === 0) {
      fail([...path, 'duration'], invalid(duration, 'a positive duration'));
    }
    return { name: key, action, server: action === 'run' ? null : server!, ...times, ...rest };
  });

/** A load file with everything that it names. */
export interface LoadPlan {
  servers: Record<string, ServerPlan>;
  /** Working directory of commands. */
  folder: string;
  options: Omit<LoadOptions, 'url' | 'seed' | 'keepAgents'> & { url?: string; seed?: string };
  thresholds: Threshold[];
}

/** Reads a load file. @throws {ScenarioError} with file, line and path of at most 20 problems. */
export function readLoadFile(path: string): LoadPlan {
  const { value, lineOf } = readYaml(path, {
    unreadable: (detail) => scenarioError('UNREADABLE', { file: path, detail }),
    invalid: (place) => scenarioError('NOT_YAML', { file: path, ...place }),
  });
  const refuse = (...problems: Problem[]) => fileProblemError(problems, { file: path, lineOf });
  const problems = findProblems(value);
  if (problems.length > 0) throw refuse(...problems);
  try {
    const text = readFileSync(path, 'utf8');
    const file = { path, text, lineOf };
    return planFile(value as LoadFile, dirname(resolve(path)), file);
  } catch (error) {
    if (error instanceof Invalid) throw refuse(error.problem);
    throw error;
  }
}

function planFile(
  file: LoadFile,
  folder: string,
  { path, text, lineOf }: { path: string; text: string; lineOf(path: string[]): number },
): LoadPlan {
  const reader = new Reader(folder);
  const scenarios = Object.entries(file.scenarios).map(([key, one]) =>
    reader.scenario(key, one as ScenarioMembers),
  );
  const endMs = Math.max(...scenarios.map(({ startMs, plan }) => startMs + lengthMs(plan)));
  const warmupMs = ms(file.warmup ?? '0s');
  if (warmupMs >= endMs) fail(['warmup'], invalid(file.warmup!, `less than ${endMs / 1_000} s`));
  const rates = scenarios.filter(({ plan }) => plan.of === 'arrivals');
  const arrivals = rates.reduce((sum, { plan }) => sum + planned(plan, lengthMs(plan)), 0);
  const users = scenarios.filter(({ plan }) => plan.of === 'users');
  const mixes = [...new Set(scenarios.map(({ mix }) => describeMix(mix)))];
  const faults = faultsOf(file, endMs);
  const servers = Object.entries((file.servers ?? {}) as Record<string, Server>).map(
    ([key, one]) => [key, { autostart: true, ...one, ready: one.ready ?? null }] as const,
  );
  return {
    ...{ servers: Object.fromEntries(servers), folder },
    options: {
      ...(faults.length > 0 ? { faults, keepGoing: true } : {}),
      ...(file.url === undefined ? {} : { url: file.url.replace(/\/+$/, '') }),
      ...(file.seed === undefined ? {} : { seed: String(file.seed) }),
      workload: `${basename(path)}: ${mixes.join(' + ')}`.slice(0, 200),
      ...{ scenarios, file: text },
      rate: rates.length > 0 ? (1_000 * arrivals) / endMs : null,
      concurrency: rates.length > 0 ? null : users.reduce((sum, { plan }) => sum + peak(plan), 0),
      agents: file.agents ?? largest(file, 'agents', 100),
      batch: file.batch ?? largest(file, 'batch', 10),
      ...{ durationMs: endMs - warmupMs, warmupMs },
      timeoutMs: msOr(file.timeout, loadDefaults.timeoutMs),
      finalityTimeoutMs: msOr(file.finalityTimeout, loadDefaults.finalityTimeoutMs),
      connections: file.connections ?? loadDefaults.connections,
      ...payloadOf(file, reader),
    },
    thresholds: (file.thresholds ?? []).map((one, index) => {
      const whole = typeof one === 'string' ? { threshold: one } : one;
      const line = lineOf(['thresholds', String(index)]);
      return {
        condition: parseThreshold(whole.threshold, `${path}:${line}`),
        abortOnFail: whole.abortOnFail ?? false,
        delayMs: ms(whole.delayAbortEval ?? '0s'),
      };
    }),
  };
}

/** Returns the part of one generator: its share of each rate. @throws {Failure} `NOT_SHARED` */
export function shareOf(options: LoadOptions): LoadOptions {
  const { shard, scenarios = [] } = options;
  if (!shard) return options;
  const others = scenarios.filter(
    ({ plan, mix }) =>
      plan.of === 'users' || !sharesOf(mix).every(({ kind }) => kinds[kind].isShared),
  );
  if (others.length > 0) throw loadError('NOT_SHARED', { name: others[0]!.name });
  const share = (value: number) => value / shard.count;
  return {
    ...options,
    rate: options.rate === null ? null : share(options.rate),
    scenarios: scenarios.map((one) => {
      const segments = one.plan.segments.map(({ ms: lengthOf, from, to }) => {
        return { ms: lengthOf, from: share(from), to: share(to) };
      });
      return { ...one, plan: { ...one.plan, segments } };
    }),
  };
}

function payloadOf(file: LoadFile, reader: Reader): { payload?: Payload } {
  const { payload, transactions } = file;
  if (payload === undefined && transactions === undefined) return {};
  const sizes = typeof payload === 'number' ? [payload] : payload;
  if (sizes && 'from' in sizes && sizes.from > sizes.to) {
    fail(['payload', 'to'], invalid(sizes.to, `at least ${sizes.from}`));
  }
  const lines =
    transactions === undefined
      ? []
      : reader
          .text(transactions, ['transactions'], 'a text file')
          .split(/\r?\n/)
          .filter((line) => line !== '');
  return { payload: { ...(sizes ? { sizes } : {}), ...(lines.length > 0 ? { lines } : {}) } };
}
