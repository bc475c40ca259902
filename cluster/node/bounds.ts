/** Limits and intervals for a cluster node, with units in the names. */
export const bounds = {
  /** Size of a batch. Further requests go into the next batch. */
  batchInputs: 256,
  batchBytes: 1024 * 1024,
  /**
   * Minimum interval between empty batches. Limits the batches that barriers cause, for example
   * when many requests name unknown keys.
   */
  emptyMs: 100,
  /**
   * Maximum number of requests waiting for a batch. Further requests are refused with QUEUE_FULL.
   */
  waitingInputs: 16_384,
  waitingBytes: 64 * 1024 * 1024,
  /** Time after which a request that has not come back from the order is answered UNCERTAIN. */
  uncertainMs: 5_000,
  /** Interval at which that time is checked, and pause before an append is retried. */
  sweepMs: 250,
  retryMs: 100,
  /** Interval at which a node announces its card. */
  cardMs: 1_000,
  /**
   * Time without contact with the order after which a node refuses writes and reports stale reads.
   */
  cutOffMs: 3_000,
  /** Time after which a known batch that has not arrived makes the node restart its stream. */
  overdueMs: 2_000,
  /** Maximum age of a node's last card for the node to count as alive when deadlines are fired. */
  aliveMs: 5_000,
  /**
   * Additional delay per rank before a node fires a deadline that nodes with lower ranks missed.
   */
  rankMs: 150,
  /** Window for comparing clocks, and the offsets at which a node warns and refuses writes. */
  clockWindowMs: 60_000,
  clockWarnMs: 500,
  clockMostMs: 2_000,
  /** Time for which a starting node waits for a card, to compare clocks. */
  greetingMs: 1_500,
  /**
   * Number of batches or bytes after which the part of the order that all nodes have stored is
   * deleted.
   */
  trimBatches: 10_000,
  trimBytes: 32 * 1024 * 1024,
  /**
   * Size of the order kept for absent nodes, if a node can get a snapshot instead of older batches.
   */
  keptBytes: 64 * 1024 * 1024,
  /** Approximate size of a batch without its requests. */
  batchOverheadBytes: 256,
  /**
   * Number of remote usage records that a starting node buffers until the first listener is added.
   */
  unheardSpendings: 32_768,
  /** Timeout for a status query, after which the last known status is returned. */
  lookMs: 1_500,
  /** Interval at which a node with a full disk checks for space before the next batch. */
  roomMs: 50,
} as const;
