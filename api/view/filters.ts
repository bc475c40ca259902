/**
 * What is taken off the values of a column before it is packed, as PNG does with its lines: what is
 * left is small, or repeats itself. Safe in a browser.
 */

/** What a filter may look at: the same when it is taken off and when it is put on again. */
export interface Beside {
  /** Whom each value is about; null where that is the column itself. */
  who: Float64Array | null;
  /** Numbers of all agents by their ids, and where in that order each stands. */
  order: Uint32Array;
  rank: Uint32Array;
}

interface Filter {
  /** What is left of the values; null where it cannot be used. */
  off(values: Float64Array, beside: Beside): Float64Array | null;
  /** From what is left to the values, in place. */
  on(left: Float64Array, beside: Beside): void;
}

/** Differences of both signs as whole numbers from 0. */
const folded = (value: number) => (value < 0 ? -2 * value - 1 : 2 * value);
const unfolded = (value: number) => (value % 2 === 1 ? -(value + 1) / 2 : value / 2);

const plain: Filter = { off: (values) => values, on: () => {} };

/** Differences from the value before. */
const step: Filter = {
  off: (values) => values.map((value, index) => folded(value - (values[index - 1] ?? 0))),
  on(left) {
    let last = 0;
    for (let index = 0; index < left.length; index += 1) {
      last += unfolded(left[index]!);
      left[index] = last;
    }
  },
};

/** Differences from what the same agent had last. */
const own: Filter = {
  off(values, { who }) {
    if (!who) return null;
    const last = new Map<number, number>();
    return values.map((value, index) => {
      const before = last.get(who[index]!) ?? 0;
      last.set(who[index]!, value);
      return folded(value - before);
    });
  },
  on(left, { who }) {
    const last = new Map<number, number>();
    for (let index = 0; index < left.length; index += 1) {
      const agent = who![index]!;
      const value = (last.get(agent) ?? 0) + unfolded(left[index]!);
      last.set(agent, value);
      left[index] = value;
    }
  },
};

/** Of agents: what happens to many by one entry is told in the order of their ids. */
const ranked: Filter = {
  off(values, beside) {
    const { who, rank } = beside;
    if (who || values.some((value) => value >= rank.length)) return null;
    return step.off(
      values.map((value) => rank[value]!),
      beside,
    );
  },
  on(left, beside) {
    step.on(left, beside);
    for (let index = 0; index < left.length; index += 1) left[index] = beside.order[left[index]!]!;
  },
};

/** Files name them by their place here. */
export const filters: readonly Filter[] = [plain, step, own, ranked];
