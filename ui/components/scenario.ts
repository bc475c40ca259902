/** Scenario on the page: its groups, and the names of options in its election data. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { canAsk, network } from '../data/store.js';
import { cleanText } from './labels.js';
import { data } from './requests.js';

interface Groups {
  /** Group names, in scenario order. */
  names: readonly string[];
  /** Index into `names` by agent id. */
  places: ReadonlyMap<string, number>;
}

interface Scenario {
  groups: { name: string; agents: string[] }[];
  /** Names in election data, by option; only those that differ. */
  labels?: Readonly<Record<string, string>>;
}

/** Null until a scenario is loaded, and on a server without one. */
export const groups = signal<Groups | null>(null);

const labels = signal<Readonly<Record<string, string>>>({});

/** Returns the name that an option has in election data, or its own. */
export const labelOption = (name: string): string =>
  cleanText(Object.hasOwn(labels.value, name) ? labels.value[name]! : name, 64);

/** Epoch at the last request. */
let askedEpoch: string | undefined;

/** Loads the scenario once per history, and returns its groups. */
export function useScenario(): Groups | null {
  const epoch = network.value?.epoch;
  const known = canAsk('scenario');
  useEffect(() => {
    if (!known || askedEpoch === epoch) return;
    askedEpoch = epoch;
    groups.value = null;
    labels.value = {};
    data<Scenario>('/api/v1/scenario').then(
      (found) => {
        if (askedEpoch !== epoch) return;
        groups.value = grouped(found.groups);
        labels.value = found.labels ?? {};
      },
      // Without a scenario, the view does not offer banding by group.
      () => undefined,
    );
  }, [epoch, known]);
  return groups.value;
}

function grouped(all: Scenario['groups']): Groups | null {
  const places = new Map(all.flatMap(({ agents: ids }, place) => ids.map((id) => [id, place])));
  return all.length === 0 ? null : { names: all.map(({ name }) => name), places };
}
