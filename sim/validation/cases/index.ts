/** All cases, in the order of docs/validation.md. */
import type { ValidationCase } from '../case.js';
import { cascades } from './cascades.js';
import { complexity } from './complexity.js';
import { condorcet } from './condorcet.js';
import { crashes } from './crashes.js';
import { finality } from './finality.js';
import { gossip } from './gossip.js';
import { latency } from './latency.js';
import { partitions } from './partitions.js';
import { smallWorld } from './small-world.js';
import { stopping } from './stopping.js';
import { thresholds } from './thresholds.js';
import { uplinks } from './uplinks.js';

export const cases: readonly ValidationCase[] = [
  thresholds,
  condorcet,
  latency,
  finality,
  crashes,
  partitions,
  smallWorld,
  gossip,
  cascades,
  complexity,
  uplinks,
  stopping,
];
