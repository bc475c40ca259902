/** How long one request may take, whichever transport carries it. */

/** How long one request may take, in milliseconds. */
export interface ExchangeLimits {
  /** From a request's head to the last byte of its answer. */
  requestMs: number;
  /** From a connection's first byte to the end of a head. */
  headMs: number;
  /** How long a stop waits for what is in flight. */
  stopMs: number;
}

export const exchangeLimits: Readonly<ExchangeLimits> = {
  requestMs: 30_000,
  headMs: 10_000,
  stopMs: 10_000,
};
