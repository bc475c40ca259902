/** All cases, in the order in which they run and are printed. */
import type { Case } from '../case.js';
import { engineCase, stagesCase, verifyCase } from './engine.js';
import { clusterCase, queueCase } from './etcd.js';
import { fanOutCase, viewCase, watchCase } from './feed.js';
import { footprintCase, idleCase } from './footprint.js';
import { historyCase, replayCase, storeCase } from './log.js';
import { readCostsCase, readsCase } from './reads.js';
import { rulesCase } from './rules.js';
import { plainCase, servedVoteCase, threadsCase, transactionsCase } from './server.js';
import { simulatedVoteCase, simulatorCase } from './simulator.js';
import { sweepCase } from './sweep.js';
import { tiersCase } from './tiers.js';
import { unrecordedCase } from './unrecorded.js';

export const cases: readonly Case[] = [
  tiersCase,
  threadsCase,
  transactionsCase,
  plainCase,
  servedVoteCase,
  readsCase,
  fanOutCase,
  idleCase,
  watchCase,
  stagesCase,
  verifyCase,
  engineCase,
  storeCase,
  historyCase,
  viewCase,
  replayCase,
  simulatorCase,
  simulatedVoteCase,
  unrecordedCase,
  rulesCase,
  footprintCase,
  clusterCase,
  queueCase,
  sweepCase,
  readCostsCase,
];
