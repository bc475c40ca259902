/** Who is of which group of the scenario, where the server knows of one. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { agents, knows, network } from '../../data/store.js';
import { data } from '../server/api.js';

interface Groups {
  /** In the order of the scenario. */
  names: readonly string[];
  /** By id of the agent: the place of its group. */
  places: ReadonlyMap<string, number>;
}

/** Null where no scenario is known, or as long as it is not. */
export const groups = signal<Groups | null>(null);

/** The history that was asked about last. */
let asked: string | undefined;

/** Asks once. */
export function useGroups(): Groups | null {
  const epoch = network.value?.epoch;
  const known = knows('scenario');
  useEffect(() => {
    if (!known || asked === epoch) return;
    asked = epoch;
    groups.value = null;
    data<{ groups: { name: string; agents: string[] }[] }>('/api/v1/scenario').then(
      ({ groups: all }) => {
        if (asked === epoch) groups.value = grouped(all);
      },
      // Then there is nothing to choose.
      () => undefined,
    );
  }, [epoch, known]);
  return groups.value;
}

function grouped(all: readonly { name: string; agents: string[] }[]): Groups | null {
  const places = new Map(all.flatMap(({ agents: ids }, place) => ids.map((id) => [id, place])));
  return all.length === 0 ? null : { names: all.map(({ name }) => name), places };
}

/** Who came from elsewhere is of none. */
const NONE = 'of no group';

export function groupOf(number: number): string {
  const known = groups.value;
  const place = known?.places.get(agents.rows[number]?.id ?? '');
  return place === undefined ? NONE : known!.names[place]!;
}

/** All of them, those of none at the end. */
export const groupNames = (): string[] => [...(groups.value?.names ?? []), NONE];
