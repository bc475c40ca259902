/** The engine's limits, with units in names. docs/protocol.md lists those that affect clients. */
export const limits = {
  /** Depth of request JSON. JSON.parse accepts 200,000, at which encoders overflow the stack. */
  jsonDepth: 16,
  /** Size of request bodies and files. */
  bodyBytes: 64 * 1024,
  proposalBytes: 2 * 1024 * 1024,
  memeFileBytes: 1024 * 1024,
  /** A request as JSON for `debug/verify`: it grows when escaped in a string. */
  describedRequestBytes: 4 * 1024 * 1024,
  /** Total size of an agent's meme files. */
  memeQuotaBytes: 64 * 1024 * 1024,
  openBlocks: 8,
  activeAlliancesPerAgent: 5,
  allianceInvitationMs: 60_000,
  /** Engine time during which duplicate discussion and alliance requests are detected. */
  requestMemoryMs: 600_000,
  metricsIntervalMs: 5_000,
  throughputWindowMs: 60_000,
  /** Number of cached electorates. */
  electorateCache: 16,
  /** Allowed difference between a signed timestamp and the server time, in either direction. */
  skewMs: 300_000,
  /** Signatures waiting for a verifier. Further requests are refused with QUEUE_FULL. */
  verifyQueue: 65_536,
  /** Signatures in one batch for a worker. */
  verifyBatch: 256,
  /** Signatures in that batch from bulk requests: requests with more signatures than this. */
  verifyBulk: 64,
  /** Worker threads of a pool. */
  mostThreads: 256,
  /** Retries for a task whose thread died, hung or gave a wrong answer. */
  threadRetries: 3,
  /** Time without an answer after which a thread counts as hung. A large batch takes seconds. */
  threadPatienceMs: 20_000,
  /** Entries and bytes that are not yet durable. Further requests are refused with QUEUE_FULL. */
  pendingEntries: 16_384,
  pendingBytes: 64 * 1024 * 1024,
  /** Free disk space below which writes are refused, because LMDB does not survive a full disk. */
  freeSpaceBytes: 256 * 1024 * 1024,
  /** Unpacked size at which an archive block ends, after a whole entry. Unpacking takes 0.1 ms. */
  archiveBlockBytes: 32 * 1024,
  /** A segment ends at the first of these limits. */
  archiveSegmentEntries: 16_384,
  archiveSegmentBytes: 16 * 1024 * 1024,
  /** Cache sizes for unpacked blocks and for segment indexes (100 KB each). */
  archiveCacheBytes: 8 * 1024 * 1024,
  archiveIndexes: 64,
  /** Archived rows deleted per transaction. */
  archiveTrimRows: 512,
  /** Disk bytes reserved per pending byte. A vote takes 2.1. */
  diskBytesPerByte: 4,
  /** Time for which a batch waits for free disk space, and its poll interval. */
  roomPatienceMs: 30_000,
  roomRetryMs: 100,
  /** Rows per page of list reads. */
  pageRows: 1_000,
} as const;

/** Counts a batch of `size` >= 1 items. Slot k counts sizes from 2^k to 2^(k+1) - 1. */
export function countSize(sizes: number[], size: number): void {
  const slot = 31 - Math.clz32(size);
  while (sizes.length <= slot) sizes.push(0);
  sizes[slot]! += 1;
}

/** Upper bounds of the buckets, in ms. A last bucket counts all longer durations. */
export const durationBoundsMs = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
] as const;

/** Number of durations by size, and their sum. */
export class Durations {
  /**
   * Number of durations in each bucket: those above the previous bucket's bound, up to and
   * including the bucket's own bound.
   */
  readonly counts: number[] = new Array(durationBoundsMs.length + 1).fill(0);
  /** Sum of all durations, in milliseconds. */
  sumMs = 0;

  /** Counts a duration. */
  add(ms: number): void {
    let bucket = 0;
    while (bucket < durationBoundsMs.length && ms > durationBoundsMs[bucket]!) bucket += 1;
    this.counts[bucket]! += 1;
    this.sumMs += ms;
  }

  /** Adds all durations of `other`. */
  merge(other: Durations): void {
    for (const [bucket, count] of other.counts.entries()) this.counts[bucket]! += count;
    this.sumMs += other.sumMs;
  }
}
