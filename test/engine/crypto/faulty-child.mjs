/**
 * A worker of the pool with the fault FAULT. It occurs once, in the thread that first creates the
 * folder FAULT_ONCE.
 */
import { mkdirSync } from 'node:fs';
import { verifyPacked as verify } from '../../../dist/engine/crypto/pool-worker.js';

const { FAULT: fault, FAULT_ONCE: folder } = process.env;

const faults = {
  die: () => process.exit(1),
  hang() {
    for (;;);
  },
  short: (verdicts) => verdicts.subarray(1),
  garbage: (verdicts) => verdicts.fill(7),
  text: () => 'valid',
  throw() {
    throw new Error('a fault');
  },
};

function isFirst() {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

if (fault === 'unloadable' && isFirst()) throw new Error('does not load');

export function verifyPacked(buffer) {
  const verdicts = verify(buffer);
  if (fault === 'hang always') faults.hang();
  return fault !== 'unloadable' && isFirst() ? faults[fault](verdicts) : verdicts;
}
