/** The table of contents: every case, in the order in which they are measured and printed. */
import type { Case } from '../case.js';
import { admissionCase } from './admission.js';
import { encodeCase } from './encode.js';
import { engineCase } from './engine.js';
import { fanOutCase } from './fan-out.js';
import { feedCase } from './feed.js';
import { footprintCase } from './footprint.js';
import { idleCase } from './idle.js';
import { readsCase } from './reads.js';
import { simulatorCase } from './simulator.js';
import { stagesCase } from './stages.js';
import { storeCase } from './store.js';
import { tiersCase } from './tiers.js';
import { transactionsCase } from './transactions.js';
import { verifyCase } from './verify.js';

export const cases: readonly Case[] = [
  tiersCase,
  transactionsCase,
  readsCase,
  fanOutCase,
  idleCase,
  stagesCase,
  verifyCase,
  admissionCase,
  engineCase,
  encodeCase,
  storeCase,
  feedCase,
  simulatorCase,
  footprintCase,
];
