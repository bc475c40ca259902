/** Every bound of what nodes give each other, units in the names. */
export const bounds = {
  /** A secret that is shorter can be guessed. */
  secretCharacters: 32,
  /** How far the clocks of two nodes may be apart, and for how long a proof is remembered. */
  proofMs: 60_000,
  /** Proofs that are remembered; beyond, nothing more is given for a while. */
  proofs: 1_024,
  /** Limits of a request's head, of connections without a proof, and of the time until it comes. */
  headBytes: 8_192,
  connections: 64,
  requestMs: 10_000,
  /** How often Node's server compares connections with these times; by default every 30 s. */
  checkMs: 1_000,
  /** Snapshots that are made or given at a time. */
  givenAtOnce: 1,
  /** What keeps a connection awake while a snapshot is made. */
  wakeMs: 5_000,
  /** Without a byte for so long the other side is gone. */
  silenceMs: 30_000,
  /** A snapshot may take so long, and a second more for each so many bytes. */
  wholeMs: 60_000,
  leastBytesPerS: 256 * 1024,
  /** How long whoever has found nobody waits before it asks all again. */
  retryMs: 2_000,
  /** How often it is told how far it is. */
  progressMs: 10_000,
  /** What is read of an answer that is no snapshot. */
  refusalBytes: 4_096,
} as const;

/** How long a snapshot of that size may be on its way, in milliseconds. */
export const longestMs = (bytes: number): number =>
  bounds.wholeMs + Math.ceil(bytes / bounds.leastBytesPerS) * 1_000;
