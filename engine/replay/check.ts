/**
 * Entries of a log after admission, and after verification where that was asked for. Safe in a
 * browser.
 */
import { type Admitted, admit } from '../admit/index.js';
import type { Verifier } from '../crypto/verifier.js';
import { carriage, type Genesis } from '../protocol/schema/index.js';
import type { Divergence } from './divergence.js';
import type { LogLine } from './line.js';

/** One entry after admission, and its verification where that was asked for. */
export interface Checked {
  line: LogLine;
  admitted?: Admitted;
  divergence?: Divergence;
}

/** Something that gives verdicts in the order of its jobs. */
export type Verifying = Pick<Verifier, 'verify'>;

export async function checkLines(
  lines: readonly LogLine[],
  genesis: Genesis | null,
  verifier?: Verifying,
): Promise<Checked[]> {
  const admitted = lines.map((line) => admitLine(line, genesis));
  return verifier ? Promise.all(admitted.map((one) => verified(one, verifier))) : admitted;
}

function admitLine(line: LogLine, genesis: Genesis | null): Checked {
  const { entry, file } = line;
  const { seq, kind } = entry;
  if (kind === 'genesis' || kind === 'tick' || !genesis) return { line };
  if (!Object.hasOwn(carriage, kind)) {
    const difference = { expected: 'a known kind', found: kind };
    return { line, divergence: { seq, kind, what: 'entry', ...difference } };
  }
  const request = { ...entry, kind, ...(file ? { file } : {}) };
  const admitted = admit(request, genesis.network_id);
  if ('refusal' in admitted) {
    const found = `${admitted.refusal.reason}: ${admitted.refusal.message}`;
    return { line, divergence: { seq, kind, what: 'entry', expected: 'a good request', found } };
  }
  return { line, admitted };
}

async function verified(checked: Checked, verifier: Verifying): Promise<Checked> {
  const { line, admitted } = checked;
  if (!admitted) return checked;
  const jobs = [admitted.ownJob(), ...admitted.innerJobs()];
  const failed = (await verifier.verify(jobs)).indexOf(false);
  if (failed < 0) return checked;
  const { seq, kind } = line.entry;
  const which = failed === 0 ? 'of the request' : `of transaction ${failed - 1}`;
  const difference = { expected: 'a valid signature', found: 'one that fails' };
  return { line, divergence: { seq, kind, what: 'signature', which, ...difference } };
}
