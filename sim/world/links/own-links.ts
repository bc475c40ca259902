/** Links between two that are made to differ from all others, from an instant on; both ways. */

export interface OwnLink {
  from: number;
  /** Of 2^32; left out, as it was before. */
  loss?: number;
  /** Times the latency; left out, as it was before. */
  factor?: number;
}

const likeOthers: Omit<OwnLink, 'from'> = {};

export class OwnLinks {
  readonly #links = new Map<string, OwnLink[]>();

  set(a: number, b: number, link: OwnLink): void {
    const key = keyOf(a, b);
    const before = this.#links.get(key) ?? [];
    this.#links.set(key, [...before, { ...before.at(-1), ...link }]);
  }

  /** What holds for a message that is sent at an instant. */
  at(a: number, b: number, at: number): Omit<OwnLink, 'from'> {
    return this.#links.get(keyOf(a, b))?.findLast(({ from }) => from <= at) ?? likeOthers;
  }
}

const keyOf = (a: number, b: number) => (a < b ? `${a} ${b}` : `${b} ${a}`);
