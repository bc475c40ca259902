/** What indices are made of, and what they are: for a run of a sweep as for any function. */

/** A response by samples: of a trajectory or a block, at each of its points; null if unsaid. */
export interface Response {
  samples: readonly (readonly (number | null)[])[];
}

export interface IndexEstimate {
  /** Samples that it is made of. */
  n: number;
  value: number | null;
  /** The 95 % interval; null where there is none. */
  low: number | null;
  high: number | null;
}

export interface IndexRow extends IndexEstimate {
  /** From 0, in the order of the design. */
  factor: number;
  /** first, total; mean, mean_absolute, deviation. */
  index: string;
}
