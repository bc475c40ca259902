/**
 * Long work in pieces, between turns of the event loop: an agent's one after another, those of
 * many agents in rotation, so that nobody's history holds up the others.
 */

/** `waits` is for something that will add it again. */
export type Progress = 'more' | 'waits' | 'done';
export type Work = () => Progress;

/** Pieces take about a millisecond; after so long, others have their turn. */
const TURN_MS = 4;

export class Turns {
  /** Whose turn is next comes first. */
  readonly #queues = new Map<string, Work[]>();
  #next: NodeJS.Immediate | null = null;

  add(agent: string, work: Work): void {
    const queue = this.#queues.get(agent);
    if (!queue) this.#queues.set(agent, [work]);
    else if (!queue.includes(work)) queue.push(work);
    this.#next ??= setImmediate(() => this.#turn());
  }

  close(): void {
    this.#queues.clear();
    if (this.#next) clearImmediate(this.#next);
  }

  #turn(): void {
    this.#next = null;
    const until = performance.now() + TURN_MS;
    do this.#piece();
    while (this.#queues.size > 0 && performance.now() < until);
    if (this.#queues.size > 0) this.#next ??= setImmediate(() => this.#turn());
  }

  #piece(): void {
    const [first] = this.#queues;
    if (!first) return;
    const [agent, queue] = first;
    const work = queue[0]!;
    // Taken off before it runs: it may add itself again.
    this.#queues.delete(agent);
    const progress = work();
    if (progress !== 'more') queue.shift();
    const added = this.#queues.get(agent)?.filter((other) => !queue.includes(other)) ?? [];
    this.#queues.delete(agent);
    if (queue.length + added.length > 0) this.#queues.set(agent, [...queue, ...added]);
  }
}
