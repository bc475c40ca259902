/**
 * How often the random tests run: `quick` by default, `full` with FOLKMOOT_TEST_COUNTS=full. The
 * endurance test takes its length from FOLKMOOT_ENDURANCE_SECONDS where that is set.
 */

export const full = process.env.FOLKMOOT_TEST_COUNTS === 'full';

/**
 * The time limit of a fast test that computes for some seconds, also on a quiet machine: that of
 * vitest.config.ts leaves too little room for a busy one.
 */
export const heavy = { timeout: full ? 3_600_000 : 300_000 };

function pick<T>(row: { quick: T; full: T }): T {
  return full ? row.full : row.quick;
}

export const counts = {
  /** Cases per differential property; the reference checks some 900 signatures a second. */
  fuzzSignatures: pick({ quick: 250, full: 5_000 }),
  /** Inputs on which the two SHA-256 implementations are compared. */
  fuzzHashes: pick({ quick: 500, full: 10_000 }),
  /** Values on which the two canonical encoders are compared. */
  canonicalValues: pick({ quick: 1_000, full: 100_000 }),
  /** Lives whose hex is in random case, over the wire and in process. */
  casedLives: pick({ quick: 4, full: 200 }),
  /** Certificates in which a bit, or a member, was changed. */
  forgedBytes: pick({ quick: 120, full: 100_000 }),
  forgedMembers: pick({ quick: 80, full: 20_000 }),
  /** Cassettes in which a byte was changed, or that were cut off. */
  damagedCassettes: pick({ quick: 20, full: 2_000 }),
  /** Random lives whose past is looked into. */
  histories: pick({ quick: 4, full: 300 }),
  /** Entries at which a picture is compared with the engine's reads, of each of five scenarios. */
  pictures: pick({ quick: 8, full: 200 }),
  /** Lives of three nodes between which and their order things go wrong. */
  clusterLives: pick({ quick: 2, full: 200 }),
  /** Faults of nodes, of etcd and between them under load: each kind once, then drawn; seconds. */
  clusterFaults: pick({ quick: 11, full: 30 }),
  clusterSeconds: pick({ quick: 0, full: 300 }),
  /** Random values that are written to each key in etcd that nodes read. */
  unreadableValues: pick({ quick: 100, full: 1_000 }),
  /** Random sessions of a network that is held now and then. */
  heldSessions: pick({ quick: 15, full: 2_000 }),
  /** Random lives as spans, per property. */
  spans: pick({ quick: 40, full: 20_000 }),
  /** Texts that are nearly durations, timestamps or tags. */
  texts: pick({ quick: 400, full: 100_000 }),
  /** Random command sequences, and how long each is. */
  commandSequences: pick({ quick: 8, full: 1_000 }),
  commandsPerSequence: pick({ quick: 120, full: 250 }),
  /** Random polls of which each vote is changed, and the network asked what becomes of it. */
  recountedPolls: pick({ quick: 6, full: 300 }),
  /** Random lives whose measures are computed twice. */
  measuredLives: pick({ quick: 6, full: 400 }),
  /** The largest sweep of which a report is made. */
  largeHypercube: pick({
    quick: { factors: 4, responses: 4 },
    full: { factors: 10, responses: 12 },
  }),
  /** Random scenarios that are completed, and written and read in two languages. */
  randomScenarios: pick({ quick: 30, full: 2_000 }),
  /** Simulated ablations, each of some pairs whose effect is known. */
  pairedTrials: pick({ quick: 2_000, full: 50_000 }),
  /** Sequences of looks at pairs of runs, for the chance of a false finding. */
  sequences: pick({ quick: 300, full: 20_000 }),
  /** Random interventions in a run that is held against the run without. */
  randomInterventions: pick({ quick: 12, full: 1_000 }),
  /** Runs that are killed with SIGKILL: at each named point, and at random. */
  killsAtPoints: pick({ quick: 1, full: 3 }),
  killsAtRandom: pick({ quick: 2, full: 20 }),
  /** Kills of one live server under load, each followed by a restart. */
  killsUnderLoad: pick({ quick: 3, full: 40 }),
  /** Blocks whose votes are sent again and again; at every third the server dies. */
  repeatedBlocks: pick({ quick: 6, full: 90 }),
  /** Copies of a folder in each of which one bit is flipped. */
  flippedBits: pick({ quick: 8, full: 500 }),
  /** Bytes that are changed, one at a time, of a folder with all that lies in it, and of a page. */
  flippedBytes: pick({ quick: 60, full: 2_000 }),
  /** Servers that get a signal as soon as they listen; three times as many while they start. */
  earlySignals: pick({ quick: 2, full: 20 }),
  /** Power cuts of one live server, and of servers and stores that begin. */
  powerCuts: pick({ quick: 2, full: 20 }),
  /** Moments of a folder's first seconds at which the power goes: every so many notes of it. */
  everyNote: pick({ quick: 9, full: 1 }),
  /** Blocks, and voters of each, of a small and a large folder whose memory is compared. */
  slope: pick({ quick: { agents: 60, blocks: 15 }, full: { agents: 1_000, blocks: 340 } }),
  /** Blocks, and voters of each, of a folder whose replay is looked at: a million entries. */
  longLog: pick({ quick: { agents: 300, blocks: 300 }, full: { agents: 1_000, blocks: 1_340 } }),
  /** Servers under load whose disk fails at random. */
  randomFaults: pick({ quick: 4, full: 150 }),
  /** WebSocket connections to one server, and voters of a block that they are told about. */
  subscribers: pick({ quick: 200, full: 1_000 }),
  voters: pick({ quick: 500, full: 2_500 }),
  /** Sweeps, shards and merges that are killed, and scenarios that a swarm draws. */
  killedSweeps: pick({ quick: 2, full: 20 }),
  swarmSeeds: pick({ quick: 6, full: 200 }),
  /** Designs of which the indices are made, where they are known. */
  indexedDesigns: pick({ quick: 20, full: 200 }),
  /** Cells of which the interval of a mean is made, where the mean is known. */
  coverageTrials: pick({ quick: 2_000, full: 20_000 }),
  /** Seconds of garbage; and idle connections whose memory is measured, none in `quick`. */
  garbageSeconds: pick({ quick: 3, full: 10 }),
  idleSubscribers: pick({ quick: 0, full: 1_000 }),
  /** Seconds of fuzz from the documents, for each transport. */
  fuzzSeconds: Number(process.env.FOLKMOOT_FUZZ_SECONDS ?? pick({ quick: 4, full: 600 })),
  /** Seconds of each kind of flood over WebSockets, and how many events one may ask for. */
  floodSeconds: pick({ quick: 1, full: 20 }),
  floodHistory: pick({ quick: 100, full: 3_000 }),
  /** Seconds in which a server is asked five times what it takes. */
  overloadSeconds: pick({ quick: 3, full: 60 }),
  /** Minutes of virtual time in which agents write as much as the limits let them. */
  growthMinutes: pick({ quick: 2, full: 10 }),
  /** Length of load runs on a server that stalls for one second of it. */
  stalledSeconds: pick({ quick: 3, full: 10 }),
  /** How long it is measured what a server holds; then 70 % of it, warmed up, so long. */
  saturationSeconds: pick({ quick: 3, full: 20 }),
  enduranceSeconds: Number(process.env.FOLKMOOT_ENDURANCE_SECONDS ?? pick({ quick: 9, full: 600 })),
};
