/**
 * Repetition counts for random tests: `quick` by default, `full` with FOLKMOOT_TEST_COUNTS=full.
 * FOLKMOOT_ENDURANCE_SECONDS sets the duration of the endurance test.
 */

export const full = process.env.FOLKMOOT_TEST_COUNTS === 'full';

/** Time limit for a fast test that computes for seconds, with a reserve for a busy machine. */
export const heavy = { timeout: full ? 3_600_000 : 300_000 };

function pick<T>(row: { quick: T; full: T }): T {
  return full ? row.full : row.quick;
}

export const counts = {
  /** Points at which a recorded study is killed. */
  killedStudies: pick({ quick: 8, full: 20 }),
  /** Robustness audits of a mock model with a planted bias, and of one without. */
  audits: pick({ quick: 12, full: 200 }),
  /** Cases per differential property. The reference checks about 900 signatures per second. */
  fuzzSignatures: pick({ quick: 250, full: 5_000 }),
  /** Inputs for comparing the two SHA-256 implementations. */
  fuzzHashes: pick({ quick: 500, full: 10_000 }),
  /** Values for comparing the two canonical encoders. */
  canonicalValues: pick({ quick: 1_000, full: 100_000 }),
  /** Values for comparing a generated encoder with the general one, per schema. */
  encodedValues: pick({ quick: 150, full: 20_000 }),
  /** Random logs whose stored bytes are compared with their definition. */
  loggedEntries: pick({ quick: 25, full: 2_000 }),
  /** Random runs whose requests write hex in random case, over HTTP and in process. */
  casedLives: pick({ quick: 4, full: 200 }),
  /** Certificates with a changed bit or member. */
  forgedBytes: pick({ quick: 120, full: 100_000 }),
  forgedMembers: pick({ quick: 80, full: 20_000 }),
  /** Cassettes with a changed byte, or truncated. */
  damagedCassettes: pick({ quick: 20, full: 2_000 }),
  /** Random lives for historical reads. */
  histories: pick({ quick: 4, full: 300 }),
  /** Entries per scenario at which a snapshot is compared with the engine's reads. */
  pictures: pick({ quick: 8, full: 200 }),
  /** Random lives of three nodes with a faulty order. */
  clusterLives: pick({ quick: 2, full: 200 }),
  /** Faults of real processes under load: each kind once, then random kinds. */
  clusterFaults: pick({ quick: 4, full: 30 }),
  /** Random histories of operations, on a real and on a simulated etcd. */
  etcdHistories: pick({ quick: 300, full: 10_000 }),
  /** Random network sessions with pauses. */
  heldSessions: pick({ quick: 15, full: 2_000 }),
  /** Random row batches per property. */
  spans: pick({ quick: 40, full: 20_000 }),
  /** Near-valid durations, timestamps and tags. */
  texts: pick({ quick: 400, full: 100_000 }),
  /** Random command sequences, and their length. */
  commandSequences: pick({ quick: 8, full: 1_000 }),
  commandsPerSequence: pick({ quick: 120, full: 250 }),
  /** Random polls. Each vote in a poll is changed in turn, and the network recounts the poll. */
  recountedPolls: pick({ quick: 6, full: 300 }),
  /** Random lives for comparing measures. */
  measuredLives: pick({ quick: 6, full: 400 }),
  /** Largest sweep with a report. */
  largeHypercube: pick({
    quick: { factors: 4, responses: 4 },
    full: { factors: 10, responses: 12 },
  }),
  /** Random scenarios, completed, written and read as YAML and JSON. */
  randomScenarios: pick({ quick: 30, full: 2_000 }),
  /** Simulated ablations with a known effect. */
  pairedTrials: pick({ quick: 2_000, full: 50_000 }),
  /** Sequences of interim tests, for the false positive rate. */
  sequences: pick({ quick: 300, full: 20_000 }),
  /** Random interventions, compared with the run without them. */
  randomInterventions: pick({ quick: 12, full: 1_000 }),
  /** Runs killed with SIGKILL: at each named point, and at random. */
  killsAtPoints: pick({ quick: 1, full: 3 }),
  killsAtRandom: pick({ quick: 2, full: 20 }),
  /** Kills of a live server under load, each followed by a restart. */
  killsUnderLoad: pick({ quick: 3, full: 40 }),
  /** Blocks with repeated votes. The server is killed at every third block. */
  repeatedBlocks: pick({ quick: 6, full: 90 }),
  /** Copies of a folder with one flipped bit. */
  flippedBits: pick({ quick: 8, full: 500 }),
  /** Individual changed bytes in a folder and in an exported page. */
  flippedBytes: pick({ quick: 60, full: 2_000 }),
  /**
   * Servers that receive a signal right after listening. Three times as many receive a signal
   * during startup.
   */
  earlySignals: pick({ quick: 2, full: 20 }),
  /** Power cuts on a live server, and on servers and stores during startup. */
  powerCuts: pick({ quick: 2, full: 20 }),
  /** Disk operations per power cut in the first seconds of a folder. */
  everyNote: pick({ quick: 9, full: 1 }),
  /** Blocks and voters in a small and a large folder, for comparing memory use. */
  slope: pick({ quick: { agents: 60, blocks: 15 }, full: { agents: 1_000, blocks: 340 } }),
  /** Blocks and voters in a folder for a watched replay (full: a million entries). */
  longLog: pick({ quick: { agents: 300, blocks: 300 }, full: { agents: 1_000, blocks: 1_340 } }),
  /** Servers under load with random disk faults. */
  randomFaults: pick({ quick: 4, full: 150 }),
  /** WebSocket connections to one server, and voters on a block. */
  subscribers: pick({ quick: 200, full: 1_000 }),
  voters: pick({ quick: 500, full: 2_500 }),
  /** Killed sweeps, shards and merges, and scenarios in a swarm. */
  killedSweeps: pick({ quick: 2, full: 20 }),
  swarmSeeds: pick({ quick: 6, full: 200 }),
  /** Drawn scenarios, run with and without a log. */
  unrecordedRuns: pick({ quick: 12, full: 200 }),
  /** Designs with known sensitivity indices. */
  indexedDesigns: pick({ quick: 20, full: 200 }),
  /** Cells with a known mean, for interval coverage. */
  coverageTrials: pick({ quick: 2_000, full: 20_000 }),
  /** Seconds of schema-based fuzzing per transport. */
  fuzzSeconds: Number(process.env.FOLKMOOT_FUZZ_SECONDS ?? pick({ quick: 4, full: 600 })),
  /** Seconds per WebSocket flood. */
  floodSeconds: pick({ quick: 1, full: 20 }),
  /** Events per request. */
  floodHistory: pick({ quick: 100, full: 3_000 }),
  /** Seconds at five times a server's capacity. */
  overloadSeconds: pick({ quick: 3, full: 60 }),
  /** Minutes of virtual time with writes at the rate limits. */
  growthMinutes: pick({ quick: 2, full: 10 }),
  /** Seconds per load run on a server that stalls for one second. */
  stalledSeconds: pick({ quick: 3, full: 10 }),
  /** Seconds for a capacity measurement, and for the subsequent load at 70 %. */
  saturationSeconds: pick({ quick: 3, full: 20 }),
  enduranceSeconds: Number(process.env.FOLKMOOT_ENDURANCE_SECONDS ?? pick({ quick: 9, full: 600 })),
};
