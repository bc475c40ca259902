/**
 * Which runs are done when: all that a sweep has so far, and when these are there, those that its
 * cells turn out to need besides. What is needed follows from what is there alone, never from the
 * order in which runs ended.
 */
import type { Extent, KeptRuns } from './extent.js';
import { type Plan, type SweepTask, tasksOf } from './plan.js';
import { intervalKindOf } from './record.js';
import { finishedSweep, valuesIn } from './runs.js';
import { stoppingResponse } from './stopping.js';

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

interface Going {
  underWay: UnderWay;
  /** Whether a run of the round stays missing: it is resumed later. */
  isOpen(): boolean;
  /** Called when cells need more runs than planned so far. */
  onMore(): void;
}

/** The runs that are missing, round by round. */
export async function* missingTasks(
  kept: KeptRuns,
  extent: Extent<Plan>,
  { underWay, isOpen, onMore }: Going,
): AsyncGenerator<SweepTask> {
  yield* roundOf(kept, extent, underWay);
  while ((await underWay.all()) && !isOpen() && looked(kept, extent)) {
    onMore();
    yield* roundOf(kept, extent, underWay);
  }
}

/** Each run once: two cells that are the same share their runs. */
function* roundOf(
  kept: KeptRuns,
  { plan, replicates, share }: Extent<Plan>,
  underWay: UnderWay,
): Generator<SweepTask> {
  const begun = new Set<string>();
  const isMissing = (key: string, replicate: number) => {
    if (!share(key, replicate) || kept.has(key, replicate)) return false;
    if (begun.has(`${key}-${replicate}`)) return false;
    begun.add(`${key}-${replicate}`);
    return true;
  };
  for (const task of tasksOf(plan, (cell) => replicates.of(cell), isMissing)) {
    underWay.begin();
    yield task;
  }
}

/** Whether some cell needs more runs; all that it has so far must be there. */
export function looked(kept: KeptRuns, extent: Extent): boolean {
  const { plan, replicates, share } = extent;
  const response = stoppingResponse(plan.sweep);
  const { recordsOf } = finishedSweep(kept, extent);
  const valuesOf = (cell: number) =>
    share(plan.keys[cell - 1]!, 1) ? valuesIn(recordsOf(cell), response) : null;
  return replicates.look(valuesOf, intervalKindOf(response));
}
