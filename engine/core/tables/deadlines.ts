/** When something must happen by itself: a heap of (deadline, id), total in its order. */
import TinyQueue from 'tinyqueue';

interface Due {
  deadline: number;
  id: string;
}

const order = (a: Due, b: Due) => a.deadline - b.deadline || (a.id < b.id ? -1 : 1);

export class Deadlines {
  #heap = new TinyQueue<Due>([], order);
  /** The deadline in force of each id; heap items that differ are leftovers. */
  readonly #current = new Map<string, number>();

  set(id: string, deadline: number): void {
    if (this.#current.get(id) === deadline) return;
    this.#current.set(id, deadline);
    this.#heap.push({ deadline, id });
    // Long alliances that end early would otherwise leave their item for up to 30 days.
    if (this.#heap.length > 2 * this.#current.size + 64) this.#rebuild();
  }

  remove(id: string): void {
    this.#current.delete(id);
  }

  /** The next one due, which stays. */
  next(): Readonly<Due> | null {
    for (;;) {
      const top = this.#heap.peek();
      if (!top) return null;
      if (this.#current.get(top.id) === top.deadline) return top;
      this.#heap.pop();
    }
  }

  #rebuild(): void {
    const due = [...this.#current].map(([id, deadline]) => ({ id, deadline }));
    this.#heap = new TinyQueue(due, order);
  }
}
