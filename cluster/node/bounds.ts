/** Every bound of a network of several nodes, units in the names. */
export const bounds = {
  /** A batch that a node appends: what comes meanwhile is the next one. */
  batchInputs: 256,
  batchBytes: 1024 * 1024,
  /**
   * How soon after an empty batch a node appends the next one, where no requests go: whoever asks
   * for barriers, with many unknown keys say, gets no more of them.
   */
  emptyMs: 100,
  /** Requests that wait for a batch; beyond, the caller is refused: QUEUE_FULL. */
  waitingInputs: 16_384,
  waitingBytes: 64 * 1024 * 1024,
  /** What has not come of the order after so long is answered UNCERTAIN: it may have been done. */
  uncertainMs: 5_000,
  /** How often it is looked at, and how soon an append is tried again. */
  sweepMs: 250,
  retryMs: 100,
  /** How often a node tells of itself. */
  cardMs: 1_000,
  /** Without a word of the order for so long a node takes no writes, and says that it is old. */
  cutOffMs: 3_000,
  /** Batches that are there and do not come for so long are asked for anew. */
  overdueMs: 2_000,
  /** A node is alive, for who fires a deadline, as long as its last card is no older. */
  aliveMs: 5_000,
  /** How much later each further node fires a deadline that nobody before it has fired. */
  rankMs: 150,
  /** Clocks are compared over so long; from there on it is told, and nothing is written. */
  clockWindowMs: 60_000,
  clockWarnMs: 500,
  clockMostMs: 2_000,
  /** How long a node that starts waits for a card of another, to know its clock by. */
  greetingMs: 1_500,
  /** What all nodes have is let go of after so many batches, or bytes. */
  trimBatches: 10_000,
  trimBytes: 32 * 1024 * 1024,
  /** What is kept for a node that is away, where it can have a snapshot in place of the rest. */
  keptBytes: 64 * 1024 * 1024,
  /** What a batch takes beside its requests, as far as that matters here. */
  batchOverheadBytes: 256,
  /** What a node that begins remembers of what agents spent, until somebody counts it. */
  unheardSpendings: 32_768,
  /** How long who asks for all nodes waits for the order to tell; then for what was known. */
  lookMs: 1_500,
  /** How soon a full disk is looked at again, before a batch is applied. */
  roomMs: 50,
} as const;
