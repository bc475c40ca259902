/** What happens by itself, and when: a heap. What was put off or is over, its owner skips. */

/** At one instant alliances come before blocks, and blocks before metrics. */
const ranks = { alliance: 0, block: 1, metrics: 2 } as const;

export interface Deadline {
  due: number;
  of: keyof typeof ranks;
  /** Of the alliance or block. */
  id: string;
}

function isBefore(a: Deadline, b: Deadline): boolean {
  if (a.due !== b.due) return a.due < b.due;
  if (a.of !== b.of) return ranks[a.of] < ranks[b.of];
  return a.id < b.id;
}

export class Deadlines {
  readonly #heap: Deadline[] = [];

  add(deadline: Deadline): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(deadline);
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (isBefore(heap[above]!, deadline)) break;
      heap[place] = heap[above]!;
      place = above;
    }
    heap[place] = deadline;
  }

  first(): Deadline | undefined {
    return this.#heap[0];
  }

  removeFirst(): void {
    const last = this.#heap.pop();
    if (last && this.#heap.length > 0) this.#sink(last);
  }

  #sink(deadline: Deadline): void {
    const heap = this.#heap;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      const right = heap[below + 1];
      if (right && isBefore(right, heap[below]!)) below += 1;
      if (isBefore(deadline, heap[below]!)) break;
      heap[place] = heap[below]!;
      place = below;
    }
    heap[place] = deadline;
  }
}
