/**
 * A swarm draws scenarios by number, and runs and judges each scenario until one fails. The
 * coverage counts how often each feature was drawn. A count of 0 means that the feature was not
 * tested.
 */
import { weightings } from '../../engine/protocol/schema/genesis.js';
import {
  type Job,
  type JobRunner,
  type LastingResult,
  type Outcome,
  runJobs,
} from '../run/jobs.js';
import { Latency } from '../scenario/schema/latency.js';
import { Fault, Topology } from '../scenario/schema/network.js';
import { Producing, type Scenario } from '../scenario/schema/scenario.js';
import { isExternal, Strategy } from '../scenario/schema/strategies.js';
import { draw, drawnPolicies, type Raw } from './draw.js';
import {
  expectsProgress,
  findDigestDifference,
  findFailure,
  getDigest,
  type RunFailure,
} from './failures.js';
import { shrink } from './shrink.js';

/** Options of a swarm: which scenarios it runs, and how many at a time. */
export interface SwarmOptions {
  /** Number of scenarios, numbered from `first`. */
  seeds: number;
  first?: number;
  jobs?: number;
  signal: AbortSignal;
  /** Job runner. Default: local processes, `jobs` at a time. @internal */
  spread?: JobRunner;
  /** Called before each scenario. The swarm ends if the function returns false. */
  goesOn?: () => boolean;
  onProgress?: (done: number) => void;
  onShrink?: (tried: number, agents: number) => void;
}

/** Failed scenario, as drawn and as shrunk. */
export interface SwarmFailure extends RunFailure {
  number: number;
  /** Drawn scenario, followed by the smallest scenario that fails in the same way. */
  drawn: Record<string, unknown>;
  smallest: Record<string, unknown>;
  tries: number;
}

/** Result of a swarm. */
export interface SwarmResult {
  ran: number;
  /** Number of scenarios that were run twice to compare digests. */
  twice: number;
  /** Number of scenarios that were expected to make progress. */
  expected: number;
  /** Number of scenarios that made no progress. */
  noProgress: number;
  coverage: Coverage;
  failure: SwarmFailure | null;
}

/** Interval at which a scenario is run twice. */
const TWICE = 10;
/** Limits per run. A drawn scenario takes well under a second, so a longer run hangs. */
const limits = { wallMs: 60_000, memoryMb: 1_024 } as const;
const SHRINK_TRIES = 500;

interface SwarmTask extends Job {
  number: number;
  raw: Raw;
  again: boolean;
}

interface Found extends RunFailure {
  task: SwarmTask;
}

/** Runs drawn scenarios under the auditor, and shrinks the first scenario that fails. */
export async function swarm(options: SwarmOptions): Promise<SwarmResult> {
  const { jobs, signal, spread = runJobs, onProgress, onShrink } = options;
  const state = new Judgement();
  await spread(drawing(options, state), {
    ...limits,
    ...{ jobs, signal },
    onDone: (task, outcome) => {
      state.take(task, outcome);
      onProgress?.(state.result.ran);
    },
    enough: () => state.failed,
    onDiffers: (task, message) => state.differs(task, message),
  });
  const found = state.first();
  if (!found) return state.result;
  const { task, ...failure } = found;
  const onTry = onShrink ? { onTry: onShrink } : {};
  const shrunk = await shrink(task.raw, failure, {
    ...limits,
    tries: SHRINK_TRIES,
    signal,
    ...onTry,
  });
  const { number, raw: drawn } = task;
  const { raw: smallest, tries } = shrunk;
  return { ...state.result, failure: { ...shrunk.failure, number, drawn, smallest, tries } };
}

function* drawing({ seeds, first = 1, goesOn }: SwarmOptions, state: Judgement) {
  for (let number = first; number < first + seeds; number += 1) {
    if (state.failed || goesOn?.() === false) return;
    const { raw, scenario } = draw(number);
    const task: SwarmTask = { number, raw, scenario, seed: scenario.seed, again: false };
    yield task;
    if (number % TWICE === 0) yield { ...task, again: true };
  }
}

class Judgement {
  readonly result: SwarmResult = {
    ran: 0,
    twice: 0,
    expected: 0,
    noProgress: 0,
    coverage: emptyCoverage(),
    failure: null,
  };
  /** Digests from first runs that wait for their second run. */
  readonly #digests = new Map<number, string>();
  readonly #found: Found[] = [];

  get failed(): boolean {
    return this.#found.length > 0;
  }

  /** Returns the failure with the lowest number, because runs complete in random order. */
  first(): Found | null {
    return this.#found.sort((a, b) => a.task.number - b.task.number)[0] ?? null;
  }

  differs(task: SwarmTask, message: string): void {
    this.#found.push({ kind: 'nondeterminism', sign: '', message, task });
  }

  take(task: SwarmTask, outcome: Outcome<LastingResult>): void {
    const { number, scenario, again } = task;
    if (!again) this.#count(task, outcome);
    const found = again ? null : findFailure(scenario, outcome);
    if (found) this.#found.push({ ...found, task });
    if (number % TWICE !== 0) return;
    const digest = getDigest(outcome);
    const other = this.#digests.get(number);
    if (other === undefined) {
      this.#digests.set(number, digest);
      return;
    }
    this.#digests.delete(number);
    this.result.twice += 1;
    const [first, second] = again ? [other, digest] : [digest, other];
    const difference = findDigestDifference(first, second);
    if (difference) this.#found.push({ ...difference, task });
  }

  #count({ scenario }: SwarmTask, outcome: Outcome<LastingResult>): void {
    this.result.ran += 1;
    cover(this.result.coverage, scenario);
    if (expectsProgress(scenario)) this.result.expected += 1;
    if ('result' in outcome && outcome.result.verdict === 'no_progress') {
      this.result.noProgress += 1;
    }
  }
}

/** Number of drawn scenarios with each feature. */
export type Coverage = Record<string, Record<string, number>>;

interface Kinds {
  anyOf: readonly { properties: { kind: { const: string } } }[];
}

const kindsOf = (union: unknown): string[] =>
  (union as Kinds).anyOf.map(({ properties }) => properties.kind.const);

const zeros = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, 0]));

function emptyCoverage(): Coverage {
  return {
    policy: zeros(drawnPolicies),
    weights: zeros(weightings),
    // Scripts need files, mocks need a deliberation, and external deciders are not drawn.
    strategy: zeros(
      kindsOf(Strategy).filter(
        (kind) => !['script', 'mock'].includes(kind) && !isExternal({ kind }),
      ),
    ),
    fault: zeros(kindsOf(Fault)),
    // Empirical latencies need files.
    latency: zeros(Latency.properties.distribution.enum.filter((name) => name !== 'empirical')),
    topology: zeros(Topology.properties.kind.enum.filter((name) => name !== 'edges')),
    schedule: zeros(Producing.properties.schedule.enum),
    signatures: zeros(['verified', 'unverified', 'none']),
    limits: zeros(['off', 'spec']),
    stay: zeros(['throughout', 'join', 'leave']),
    uplink: zeros(['no limit', 'of all', 'of a group']),
  };
}

function cover(coverage: Coverage, scenario: Scenario): void {
  const { consensus, agents, faults, topology, links, producers, signatures, limits } = scenario;
  const drawn: Record<string, string[]> = {
    policy: [consensus.policy],
    weights: [consensus.weights],
    strategy: agents.map(({ strategy }) => strategy.kind),
    fault: faults.map(({ kind }) => kind),
    latency: [links.latency.distribution],
    topology: [topology.kind],
    schedule: [producers.schedule],
    signatures: [signatures],
    limits: [limits],
    stay: agents.flatMap(({ join, leave }) => {
      const kinds = [...(join ? ['join'] : []), ...(leave ? ['leave'] : [])];
      return kinds.length === 0 ? ['throughout'] : kinds;
    }),
    uplink: [
      ...(links.uplink_kbps === undefined ? ['no limit'] : ['of all']),
      ...agents.flatMap(({ uplink_kbps }) => (uplink_kbps === undefined ? [] : ['of a group'])),
    ],
  };
  for (const [what, kinds] of Object.entries(drawn)) {
    const counts = coverage[what]!;
    for (const kind of new Set(kinds)) counts[kind] = (counts[kind] ?? 0) + 1;
  }
}
