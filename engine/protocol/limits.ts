/**
 * Every bound of the engine in one table, units in the names. Those that a caller may
 * need to know are in docs/protocol.md too; nothing else in the engine grows with traffic.
 */
export const limits = {
  /** Nesting of request JSON; deeper overflows encoders (JSON.parse itself takes 200,000). */
  jsonDepth: 16,
  /** A request body, in bytes, by what it carries. */
  bodyBytes: 64 * 1024,
  proposalBytes: 2 * 1024 * 1024,
  memeFileBytes: 1024 * 1024,
  /** All meme files of one agent together. */
  memeQuotaBytes: 64 * 1024 * 1024,
  openBlocks: 8,
  activeAlliancesPerAgent: 5,
  allianceInvitationMs: 60_000,
  /** How long a discussion or alliance request is remembered, in engine time. */
  requestMemoryMs: 600_000,
  metricsIntervalMs: 5_000,
  throughputWindowMs: 60_000,
  /** Electorates of closed blocks kept at hand, so that a late vote costs no decoding. */
  electorateCache: 16,
  /** How far a signed timestamp may be from the edge's clock, either way. */
  skewMs: 300_000,
  /** Signatures waiting for a verifier; beyond, the caller is refused: QUEUE_FULL. */
  verifyQueue: 65_536,
  /** Signatures in one batch for a worker. */
  verifyBatch: 256,
  /** Of these, how many may come from requests larger than this many signatures themselves. */
  verifyBulk: 64,
  /** How often a batch whose worker died is tried again. */
  verifyRetries: 3,
  /** Entries and bytes applied but not durable yet; beyond, the caller is refused so. */
  pendingEntries: 16_384,
  pendingBytes: 64 * 1024 * 1024,
  /** Free space below which writes are refused, because LMDB does not survive a full disk. */
  freeSpaceBytes: 256 * 1024 * 1024,
  /** What a block of an archive unpacks to, if one entry is not more: a tenth of a millisecond. */
  archiveBlockBytes: 32 * 1024,
  /** A segment ends with whichever comes first. */
  archiveSegmentEntries: 16_384,
  archiveSegmentBytes: 16 * 1024 * 1024,
  /** Unpacked blocks, and indexes of segments (some 100 KB each), kept at hand. */
  archiveCacheBytes: 8 * 1024 * 1024,
  archiveIndexes: 64,
  /** Rows deleted in one transaction once a segment holds them. */
  archiveTrimRows: 512,
  /** What a waiting byte of an entry or file is counted as on the disk; a vote takes 2.1. */
  diskBytesPerByte: 4,
  /** How long a batch waits for room that others took, and how often it looks. */
  roomPatienceMs: 30_000,
  roomRetryMs: 100,
  /** Rows per page of the added list reads. */
  pageRows: 1_000,
} as const;

/** Counts a batch of `size` items, 1 or more: slot k counts sizes from 2^k to 2^(k+1) - 1. */
export function countSize(sizes: number[], size: number): void {
  const slot = 31 - Math.clz32(size);
  while (sizes.length <= slot) sizes.push(0);
  sizes[slot]! += 1;
}
