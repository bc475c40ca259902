/** All cases, in the order in which they run and are printed. */
import type { Case } from '../case.js';
import { engineCase } from './engine.js';
import { feedCase } from './feed.js';
import { logCase } from './log.js';
import { readsCase } from './reads.js';
import { plainCase, serverCase } from './server.js';
import { simulatorCase } from './simulator.js';

export const cases: readonly Case[] = [
  serverCase,
  plainCase,
  readsCase,
  feedCase,
  engineCase,
  logCase,
  simulatorCase,
];
