/**
 * Runs that a page starts: variants of one scenario, one at a time, in a process of their own. Each
 * variant is paired with the scenario as given, at the same seed. Both then have the same random
 * draws, so their difference is the effect of the change. The watched run is not touched.
 */
import type { ControlCommand, RunMaker, RunsView, StartedRun } from '../../api/contract/control.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { type Job, JobWorker } from '../run/jobs.js';
import { findValueProblem, listParameters } from '../scenario/parameters.js';
import { type Change, ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { computeStatistics, Sample, subtractRounded } from './statistics.js';

export interface LaboratoryOptions {
  /** The scenario as given. */
  scenario: Scenario;
  /** Returns the command line that runs it with this seed and these changes. */
  commandLine(seed: string, changes: readonly Change[]): string;
  /** Completes the scenario with changed values. @throws {ScenarioError} */
  make(changes: readonly Change[]): Promise<Pick<Job, 'scenario' | 'folder'>>;
}

/** Limits of each started run. */
const limits = { wallMs: 600_000, memoryMb: 2_048 };

/** Most agents of a started run, unless the scenario itself has more. */
const MOST_AGENTS = 10_000;

/** Most runs of a laboratory, which keeps all their measures. */
const MOST_RUNS = 200;

type Command = Extract<ControlCommand, { do: 'run' }>;
type Made = Awaited<ReturnType<LaboratoryOptions['make']>>;

interface Variant {
  run: StartedRun;
  job: Made;
}

export class Laboratory implements RunMaker {
  readonly #options: LaboratoryOptions;
  readonly #worker = new JobWorker(limits);
  readonly #runs: StartedRun[] = [];
  readonly #listeners = new Set<() => void>();
  #parameters: ReturnType<typeof listParameters> | null = null;
  #comparisons: RunsView['comparisons'] | null = null;
  #abort: AbortController | null = null;
  /** True while a command is checked, which takes turns of the event loop. */
  #starts = false;

  constructor(options: LaboratoryOptions) {
    this.#options = options;
  }

  /** True once a reader with the control token has seen the parameters. */
  used = false;

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  view(mayStart: boolean): RunsView {
    this.used ||= mayStart;
    const { seed } = this.#options.scenario;
    return {
      ...{ seed, parameters: this.#known, runs: this.#runs },
      comparisons: this.#compared,
    };
  }

  /** Starts a variant, after the scenario as given at the same seed. Returns a refusal, or null. */
  async start(command: Command): Promise<Refusal | null> {
    const busy = this.#runs.find(({ state }) => state === 'running' || state === 'waiting');
    if (busy || this.#starts) {
      return refuse('CONTROL_RUN_BUSY', { run: busy?.number ?? this.#runs.length + 1 });
    }
    if (this.#runs.length + 2 > MOST_RUNS) {
      return refuse('CONTROL_RUN_INVALID', { problem: `more than ${MOST_RUNS} runs` });
    }
    const { seed = this.#options.scenario.seed, changes = [], from_entry = null } = command;
    const problem = this.#findProblem(changes, from_entry);
    if (problem) return refuse('CONTROL_RUN_INVALID', { problem });
    const isBase = changes.length === 0 && from_entry === null;
    const before = this.#runs.find((one) => isGiven(one) && one.seed === seed);
    this.#starts = true;
    this.used = true;
    try {
      const wanted = [
        ...(isBase || (before && before.state === 'done') ? [] : [{ changes: [], at: null }]),
        { changes, at: from_entry },
      ];
      const variants: Variant[] = [];
      for (const { changes: own, at } of wanted) {
        variants.push(await this.#variant(seed, own, at, this.#runs.length + variants.length + 1));
      }
      this.#runs.push(...variants.map(({ run }) => run));
      void this.#runAll(variants);
      return null;
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      return refuse('CONTROL_RUN_INVALID', { problem: error.message.slice(0, 400) });
    } finally {
      this.#starts = false;
    }
  }

  /** Ends the run in progress and those that wait. */
  cancel(): void {
    this.#abort?.abort();
  }

  async close(): Promise<void> {
    this.cancel();
    await this.#worker.close();
  }

  get #known() {
    this.#parameters ??= listParameters(this.#options.scenario);
    return this.#parameters;
  }

  /** Any client can ask for the comparison, so it is computed once after each run. */
  get #compared() {
    this.#comparisons ??= compare(this.#runs);
    return this.#comparisons;
  }

  #findProblem(changes: StartedRun['changes'], from: number | null): string | null {
    for (const { path, value } of changes) {
      const known = this.#known.find((one) => one.path === path);
      if (!known) return `unknown parameter: ${path.slice(0, 100)}`;
      if (from !== null && !known.later) return `${path} cannot change during a run`;
      const problem = findValueProblem(known, value);
      if (problem) return `${path}: ${String(value).slice(0, 40)}; ${problem}`;
    }
    return null;
  }

  async #variant(
    seed: string,
    changes: StartedRun['changes'],
    from: number | null,
    number: number,
  ): Promise<Variant> {
    const { scenario: given, make, commandLine } = this.#options;
    const values = from === null ? asValues(changes) : asFork(given, changes, from, number);
    const job = await make([['seed', seed, 'seed'], ...values]);
    const most = Math.max(MOST_AGENTS, given.population);
    if (job.scenario.population > most) {
      const problem = `${job.scenario.population} agents; expected at most ${most}`;
      throw new ScenarioError(problem);
    }
    const run: StartedRun = {
      ...{ number, seed, changes: [...changes], from_entry: from, state: 'waiting' },
      command: commandLine(seed, values),
    };
    return { run, job };
  }

  async #runAll(variants: readonly Variant[]): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    for (const { run, job } of variants) {
      if (abort.signal.aborted) Object.assign(run, { state: 'cancelled' });
      else await this.#run(run, job, abort.signal);
      this.#changed();
    }
    this.#abort = null;
  }

  async #run(run: StartedRun, { scenario, folder }: Made, signal: AbortSignal): Promise<void> {
    run.state = 'running';
    this.#changed();
    const started = performance.now();
    const job = { scenario, seed: scenario.seed, ...(folder === undefined ? {} : { folder }) };
    const outcome = await this.#worker.run(job, signal).catch((error: Error) => ({
      failure: { message: error.message },
    }));
    run.wall_ms = Math.round(performance.now() - started);
    if (signal.aborted) run.state = 'cancelled';
    else if ('failure' in outcome) {
      Object.assign(run, { state: 'failed', why: outcome.failure.message.slice(0, 400) });
    } else {
      const { digest, verdict, measures, reported } = outcome.result;
      const own = Object.entries(reported.run).map(([name, value]) => [`reported.${name}`, value]);
      const all = { ...measures, ...Object.fromEntries(own) };
      Object.assign(run, { state: 'done', digest, verdict, measures: all });
    }
  }

  #changed(): void {
    this.#comparisons = null;
    for (const listener of this.#listeners) listener();
  }
}

const asValues = (changes: StartedRun['changes']): Change[] =>
  changes.map(({ path, value }) => [path, value, path]);

/** A fork is the scenario with interventions at an entry; without a change, it draws anew. */
function asFork(
  { interventions }: Scenario,
  changes: StartedRun['changes'],
  from: number,
  number: number,
): Change[] {
  const at = { at_entry: from };
  const added =
    changes.length === 0
      ? [{ kind: 'redraw', seed: `fork-${number}`, ...at }]
      : changes.map(({ path, value }) => ({ kind: 'set', path, value, ...at }));
  return [['interventions', [...interventions, ...added], 'fork']];
}

const isGiven = ({ changes, from_entry }: StartedRun): boolean =>
  changes.length === 0 && from_entry === null;

/** Compares every variant with the scenario as given, over the seeds that both ran with. */
function compare(runs: readonly StartedRun[]): RunsView['comparisons'] {
  const done = runs.filter(({ state }) => state === 'done');
  const given = new Map(done.filter(isGiven).map((run) => [run.seed, run]));
  const paired = done.filter((run) => !isGiven(run) && given.has(run.seed));
  return groupVariants(paired).map((those) => {
    const { changes, from_entry } = those[0]!;
    const pairs = those.map((run) => [given.get(run.seed)!.measures!, run.measures!] as const);
    const names = Object.keys(those[0]!.measures!);
    const rows = names.flatMap((measure) => {
      const known = pairs.flatMap(([before, after]) => {
        const [a = null, b = null] = [before[measure], after[measure]];
        return a === null || b === null ? [] : [{ a, b }];
      });
      if (known.length === 0) return [];
      const mean = (values: number[]) => Sample.of(values).moments()!.mean;
      const differences = known.map(({ a, b }) => subtractRounded(b, a));
      const { mean: difference, low, high } = computeStatistics(Sample.of(differences), 't_skew');
      return {
        ...{ measure, pairs: known.length, given: mean(known.map(({ a }) => a)) },
        ...{ changed: mean(known.map(({ b }) => b)), difference: difference!, low, high },
      };
    });
    return { changes, from_entry, runs: those.map(({ number }) => number), measures: rows };
  });
}

function groupVariants(runs: readonly StartedRun[]): StartedRun[][] {
  const groups = new Map<string, StartedRun[]>();
  for (const run of runs) {
    const key = JSON.stringify([run.changes, run.from_entry]);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()];
}
