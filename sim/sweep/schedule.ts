/**
 * Which runs are done when: all that a sweep has so far, and when these are there, those that its
 * cells turn out to need besides. What is needed follows from what is there alone, never from the
 * order in which runs ended.
 */
import type { SweepFolder } from './folder/folder.js';
import { type Plan, type SweepTask, tasksOf } from './plan.js';
import { intervalKindOf } from './record.js';
import { readRuns, valuesIn } from './runs.js';
import { type Replicates, stoppingResponse } from './stopping.js';

/** Waits for the end of what is under way. */
export class UnderWay {
  #count = 0;
  #ended = false;
  #wake: () => void = () => {};

  begin(): void {
    this.#count += 1;
  }

  done(): void {
    this.#count -= 1;
    this.#wake();
  }

  /** Nothing that is under way will be done. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Resolves to whether all were done. */
  async all(): Promise<boolean> {
    while (this.#count > 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return !this.#ended;
  }
}

/** The runs that are missing; `onMore` is called when there turn out to be more. */
export async function* missingTasks(
  folder: SweepFolder,
  plan: Plan,
  replicates: Replicates,
  underWay: UnderWay,
  onMore: () => void,
): AsyncGenerator<SweepTask> {
  yield* roundOf(folder, plan, replicates, underWay);
  while ((await underWay.all()) && looked(folder, plan, replicates)) {
    onMore();
    yield* roundOf(folder, plan, replicates, underWay);
  }
}

/** Each run once: two cells that are the same share their runs. */
function* roundOf(
  folder: SweepFolder,
  plan: Plan,
  replicates: Replicates,
  underWay: UnderWay,
): Generator<SweepTask> {
  const begun = new Set<string>();
  const isMissing = (key: string, replicate: number) => {
    if (folder.has(key, replicate) || begun.has(`${key}-${replicate}`)) return false;
    begun.add(`${key}-${replicate}`);
    return true;
  };
  for (const task of tasksOf(plan, (cell) => replicates.of(cell), isMissing)) {
    underWay.begin();
    yield task;
  }
}

/** How many of the runs so far are there. */
export function countThere(folder: SweepFolder, { keys }: Plan, replicates: Replicates): number {
  let count = 0;
  for (const [index, key] of keys.entries()) {
    const all = replicates.of(index + 1);
    for (let replicate = 1; replicate <= all; replicate += 1) {
      if (folder.has(key, replicate)) count += 1;
    }
  }
  return count;
}

function looked(folder: SweepFolder, { sweep, keys }: Plan, replicates: Replicates): boolean {
  const response = stoppingResponse(sweep);
  const valuesOf = (cell: number, count: number) =>
    valuesIn(readRuns(folder, keys[cell - 1]!, count), response);
  return replicates.look(valuesOf, intervalKindOf(response));
}
