/** The table of contents: every case, in the order in which they are measured and printed. */
import type { Case } from '../case.js';
import { admissionCase } from './engine/admission.js';
import { encodeCase } from './engine/encode.js';
import { engineCase } from './engine/engine.js';
import { historyCase } from './engine/history.js';
import { queueCase } from './engine/queue.js';
import { replayCase } from './engine/replay.js';
import { simulatedVoteCase } from './engine/simulated-vote.js';
import { simulatorCase } from './engine/simulator.js';
import { stagesCase } from './engine/stages.js';
import { storeCase } from './engine/store.js';
import { verifyCase } from './engine/verify.js';
import { viewCase } from './engine/view.js';
import { clusterCase } from './served/cluster.js';
import { fanOutCase } from './served/fan-out.js';
import { feedCase } from './served/feed.js';
import { footprintCase } from './served/footprint.js';
import { idleCase } from './served/idle.js';
import { plainCase } from './served/plain.js';
import { readCostsCase } from './served/read-costs.js';
import { readsCase } from './served/reads.js';
import { threadsCase } from './served/threads.js';
import { transactionsCase } from './served/transactions.js';
import { watchCase } from './served/watch.js';
import { tiersCase } from './tiers/tiers.js';

export const cases: readonly Case[] = [
  tiersCase,
  threadsCase,
  transactionsCase,
  plainCase,
  readsCase,
  fanOutCase,
  idleCase,
  watchCase,
  stagesCase,
  verifyCase,
  admissionCase,
  engineCase,
  encodeCase,
  storeCase,
  historyCase,
  viewCase,
  replayCase,
  feedCase,
  simulatorCase,
  simulatedVoteCase,
  footprintCase,
  clusterCase,
  queueCase,
  readCostsCase,
];
