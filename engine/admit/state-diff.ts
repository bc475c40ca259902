/** The state diff of a proposal: at most 1,000 keys, each in one member, values of 4 KiB. */
import { pointerStep } from '../protocol/pointer.js';
import { type Refusal, type RequestBody, refuse } from '../protocol/schema/index.js';
import { jcs } from '../protocol/signing.js';

type StateDiff = RequestBody['propose']['state_diff'];

const KEYS = 1_000;
const VALUE_BYTES = 4 * 1024;

export function diffProblem(diff: StateDiff): Refusal | null {
  const additions = diff?.additions ?? {};
  const deletions = diff?.deletions ?? {};
  const count = Object.keys(additions).length + Object.keys(deletions).length;
  if (count > KEYS) return problem(`has ${count} keys, the limit is ${KEYS}`, '');
  const both = Object.keys(additions).find((key) => Object.hasOwn(deletions, key));
  if (both !== undefined) return problem('is both added and deleted', below('additions', both));
  return tooLarge('additions', additions) ?? tooLarge('deletions', deletions);
}

const below = (member: string, key: string) => `/${member}/${pointerStep(key)}`;

function tooLarge(member: string, values: Record<string, unknown>): Refusal | null {
  for (const [key, value] of Object.entries(values)) {
    if (Buffer.byteLength(jcs(value)) <= VALUE_BYTES) continue;
    return problem(`is larger than ${VALUE_BYTES} bytes of JSON`, below(member, key));
  }
  return null;
}

function problem(message: string, path: string): Refusal {
  const pointer = `/state_diff${path}`;
  return refuse('SCHEMA', `${pointer} ${message}`, { pointer });
}

export function changesOf(diff: StateDiff) {
  return {
    additions: diff?.additions ?? {},
    deletions: Object.keys(diff?.deletions ?? {}).sort(),
  };
}
