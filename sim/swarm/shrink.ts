/**
 * Shrinks a failing scenario. Tries smaller and simpler variants, largest step first, and keeps
 * each variant that fails in the same way, until no variant does or the tries are used up. Greedy
 * and deterministic.
 */
import { type JobLimits, JobWorker } from '../run/jobs.js';
import { completeScenario } from '../scenario/complete.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Raw } from './draw.js';
import {
  findDigestDifference,
  findFailure,
  getDigest,
  isSame,
  type RunFailure,
} from './failures.js';

interface ShrinkOptions extends JobLimits {
  /** Maximum number of runs. */
  tries: number;
  signal: AbortSignal;
  onTry?: (tried: number, agents: number) => void;
}

interface Shrunk {
  raw: Raw;
  /** Failure in the smallest scenario; it has the kind and the signature of the original one. */
  failure: RunFailure;
  tries: number;
}

export async function shrink(
  raw: Raw,
  failure: RunFailure,
  options: ShrinkOptions,
): Promise<Shrunk> {
  const worker = new JobWorker(options);
  const best: Shrunk = { raw, failure, tries: 0 };
  const goesOn = () => best.tries < options.tries && !options.signal.aborted;
  const accept = async (candidate: Raw): Promise<boolean> => {
    const scenario = completed(candidate);
    if (!scenario) return false;
    best.tries += 1;
    const run = () => worker.run({ scenario, seed: scenario.seed }, options.signal);
    const outcome = await run();
    const found =
      failure.kind === 'nondeterminism'
        ? findDigestDifference(getDigest(outcome), getDigest(await run()))
        : findFailure(scenario, outcome);
    // An aborted run looks like a crash.
    if (options.signal.aborted || !found || !isSame(failure, found)) return false;
    Object.assign(best, { raw: candidate, failure: found });
    options.onTry?.(best.tries, scenario.population);
    return true;
  };
  try {
    await shrinkGreedily(raw, reducers, { goesOn, accept });
  } finally {
    await worker.close();
  }
  return best;
}

/**
 * Replaces a case by its variants that `accept` takes, until it takes none. A reducer returns the
 * variants of a case, largest step first.
 */
export async function shrinkGreedily<Case>(
  start: Case,
  reducers: readonly ((from: Case) => readonly Case[])[],
  { goesOn, accept }: { goesOn(): boolean; accept(variant: Case): Promise<boolean> },
): Promise<void> {
  let best = start;
  for (let before: Case | null = null; before !== best && goesOn(); ) {
    before = best;
    for (const reducer of reducers) {
      for (let index = 0; goesOn(); ) {
        const variant = reducer(best)[index];
        if (!variant) break;
        if (await accept(variant)) best = variant;
        else index += 1;
      }
    }
  }
}

/** Completes a variant. Returns null for an invalid variant, for example one without producers. */
function completed(raw: Raw): Scenario | null {
  try {
    return completeScenario(raw);
  } catch (error) {
    if (error instanceof ScenarioError) return null;
    throw error;
  }
}

/** Returns smaller variants of a scenario. A reducer must not change its argument. */
type Reducer = (raw: Raw) => Raw[];

const groupsOf = (raw: Raw) => raw.agents as Raw[];
const faultsOf = (raw: Raw) => (raw.faults ?? []) as Raw[];
const without = <T>(list: readonly T[], index: number): T[] => list.toSpliced(index, 1);

/**
 * Removes groups, together with the faults that name the group. A strategy that censors the group
 * is replaced by the personality.
 */
const fewerGroups: Reducer = (raw) => {
  const groups = groupsOf(raw);
  if (groups.length === 1) return [];
  return groups.map(({ group }, index) => {
    const agents = without(groups, index).map((one) => {
      const { against } = (one.strategy ?? {}) as Raw;
      return against === group ? { ...one, strategy: { kind: 'personality' } } : one;
    });
    const faults = faultsOf(raw).filter(({ whom }) => {
      return (whom as Raw[]).every((selector) => selector.group !== group);
    });
    return { ...raw, agents, faults };
  });
};

const fewerAgents: Reducer = (raw) => {
  const groups = groupsOf(raw);
  return groups.flatMap((group, index) => {
    return smaller(group.count as number).map((count) => {
      return { ...raw, agents: groups.with(index, { ...group, count }) };
    });
  });
};

const fewerFaults: Reducer = (raw) => {
  const faults = faultsOf(raw);
  return faults.map((_, index) => ({ ...raw, faults: without(faults, index) }));
};

const plainStrategies: Reducer = (raw) => {
  const groups = groupsOf(raw);
  return groups.flatMap((group, index) => {
    const { kind } = (group.strategy ?? { kind: 'personality' }) as Raw;
    const plainer = kind === 'personality' ? [] : kind === 'honest' ? plain.slice(1) : plain;
    return plainer.map((strategy) => {
      return { ...raw, agents: groups.with(index, { ...group, strategy }) };
    });
  });
};

const plain = [{ kind: 'honest' }, { kind: 'personality' }] as const;

const shorter: Reducer = (raw) => {
  const length = raw.length as { blocks?: number; until?: { reaches: number } };
  const { blocks = 0, until } = length;
  const counted = smaller(blocks).map((count) => ({ ...length, blocks: count }));
  const reached = smaller(until?.reaches ?? 0).map((reaches) => {
    return { ...length, until: { ...until, reaches } };
  });
  const { virtual_ms: _, ...untimed } = length as Raw;
  const times = 'virtual_ms' in length ? [untimed] : [];
  return [...times, ...counted, ...reached].map((one) => ({ ...raw, length: one }));
};

/** Sections to remove whole, then member by member, so that only required values remain. */
const sections = [
  'social',
  'topology',
  'links',
  'producers',
  'consensus',
  'signatures',
  'limits',
  'patience_periods',
  'faults',
];

const fewerSettings: Reducer = (raw) => [
  ...sections.flatMap((name) => settingsWithout(raw, name)),
  ...groupsOf(raw).flatMap((group, index) => {
    return ['traits', 'personality', 'capabilities', 'producers', 'uplink_kbps', 'join', 'leave']
      .flatMap((name) => settingsWithout(group, name))
      .map((plainer) => ({ ...raw, agents: groupsOf(raw).with(index, plainer) }));
  }),
];

/** Removes a member. For a section, removes each of its members too. */
function settingsWithout(from: Raw, name: string): Raw[] {
  if (!(name in from)) return [];
  const { [name]: section, ...rest } = from;
  if (typeof section !== 'object' || section === null || Array.isArray(section)) return [rest];
  const members = Object.keys(section);
  const plainer = members.flatMap((member) => settingsWithout(section as Raw, member));
  return [rest, ...plainer.map((one) => ({ ...from, [name]: one }))];
}

/**
 * Returns the counts to try: small counts, then half, then slightly less, because some failures
 * need a certain count.
 */
function smaller(count: number): number[] {
  const counts = [1, 2, 3, 4, 5, 6, Math.floor(count / 2), count - 3, count - 2, count - 1];
  return [...new Set(counts)].filter((one) => one >= 1 && one < count);
}

const reducers: readonly Reducer[] = [
  fewerGroups,
  fewerAgents,
  fewerFaults,
  plainStrategies,
  shorter,
  fewerSettings,
];
