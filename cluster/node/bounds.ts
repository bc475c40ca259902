/** Limits and intervals of a cluster node, with units in the names. */
export const bounds = {
  /** Size of one batch. Further requests go into the next one. */
  batchInputs: 256,
  batchBytes: 1024 * 1024,
  /**
   * Minimum interval of empty batches. It limits the batches caused by barriers, such as by many
   * requests with unknown keys.
   */
  emptyMs: 100,
  /** Requests that wait for a batch. Above this, requests are refused with QUEUE_FULL. */
  waitingInputs: 16_384,
  waitingBytes: 64 * 1024 * 1024,
  /** A request that has not come back from the order after this time is answered UNCERTAIN. */
  uncertainMs: 5_000,
  /** Interval of that check, and pause before an append is retried. */
  sweepMs: 250,
  retryMs: 100,
  /** Interval at which a node announces its card. */
  cardMs: 1_000,
  /** Without contact to the order for this long, a node refuses writes and reports stale reads. */
  cutOffMs: 3_000,
  /** A batch that is known and does not arrive for this long makes the node follow anew. */
  overdueMs: 2_000,
  /** A node whose last card is older does not count as alive when deadlines are fired. */
  aliveMs: 5_000,
  /** Delay of each further node before it fires a deadline that the earlier nodes missed. */
  rankMs: 150,
  /** Window of clock comparison, and the offsets at which a node warns and refuses writes. */
  clockWindowMs: 60_000,
  clockWarnMs: 500,
  clockMostMs: 2_000,
  /** Time for which a starting node waits for a card, to compare clocks. */
  greetingMs: 1_500,
  /** Batches, or bytes, after which the part of the order that all nodes have is deleted. */
  trimBatches: 10_000,
  trimBytes: 32 * 1024 * 1024,
  /** Kept for absent nodes if they can get a snapshot instead of older batches. */
  keptBytes: 64 * 1024 * 1024,
  /** Approximate size of a batch without its requests. */
  batchOverheadBytes: 256,
  /** Remote usage that a starting node buffers until the first listener. */
  unheardSpendings: 32_768,
  /** Timeout of a status query; after it, the last known status is returned. */
  lookMs: 1_500,
  /** Interval at which a full disk is checked before the next batch. */
  roomMs: 50,
} as const;
