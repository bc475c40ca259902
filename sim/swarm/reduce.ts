/** Ways to make a scenario smaller or plainer: each lists what to try, largest step first. */
import type { Raw } from './terms.js';

/** From a scenario to smaller ones; nothing is changed in place. */
export type Reducer = (raw: Raw) => Raw[];

const groupsOf = (raw: Raw) => raw.agents as Raw[];
const faultsOf = (raw: Raw) => (raw.faults ?? []) as Raw[];
const without = <T>(list: readonly T[], index: number): T[] => list.toSpliced(index, 1);

/** With the group go the faults that hit it alone, and whoever censors it. */
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

/** Sections as a whole, then their members one by one, down to what a file need not say. */
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

/** Without the member of that name; where it is a section, also without each of its members. */
function settingsWithout(from: Raw, name: string): Raw[] {
  if (!(name in from)) return [];
  const { [name]: section, ...rest } = from;
  if (typeof section !== 'object' || section === null || Array.isArray(section)) return [rest];
  const members = Object.keys(section);
  const plainer = members.flatMap((member) => settingsWithout(section as Raw, member));
  return [rest, ...plainer.map((one) => ({ ...from, [name]: one }))];
}

/** To a few at once, to half, by a few: some failures show among every third or so count only. */
function smaller(count: number): number[] {
  const counts = [1, 2, 3, 4, 5, 6, Math.floor(count / 2), count - 3, count - 2, count - 1];
  return [...new Set(counts)].filter((one) => one >= 1 && one < count);
}

export const reducers: readonly Reducer[] = [
  fewerGroups,
  fewerAgents,
  fewerFaults,
  plainStrategies,
  shorter,
  fewerSettings,
];
