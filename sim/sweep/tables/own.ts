/** Which measures scripts have of their own, over all runs: columns in the order of their names. */
import { OWN } from '../record.js';
import type { Finished } from '../runs.js';

export interface OwnMeasures {
  /** As tables have them. */
  run: string[];
  groups: string[];
}

export function ownMeasures({ cells }: Finished): OwnMeasures {
  const run = new Set<string>();
  const groups = new Set<string>();
  for (const { records } of cells()) {
    for (const { reported } of records) {
      for (const name of Object.keys(reported.run)) run.add(OWN + name);
      for (const of of Object.values(reported.groups)) {
        for (const name of Object.keys(of)) groups.add(OWN + name);
      }
    }
  }
  return { run: [...run].sort(), groups: [...groups].sort() };
}
