/** Agents whose keys are paper, and the instants they sign: no test runner behind it. */
import type { Signatory } from 'folkmoot';
import { agentId } from 'folkmoot/signing';

/** 2025-01-01T00:00:00Z. */
export const START_MS = 1_735_689_600_000;

/** A registered agent: its key and its id. */
export interface Citizen extends Signatory {
  id: string;
}

/** A key that is cheap and signs nothing: for networks whose verifier is off. */
export function paperSignatory(number: number): Signatory {
  const publicKey = (number + 1).toString(16).padStart(64, '0');
  return { publicKey, sign: () => '0'.repeat(128) };
}

export const citizenOf = (key: Signatory): Citizen => ({ ...key, id: agentId(key.publicKey) });

/** ISO text of an instant, given in milliseconds since the start of the tests. */
export const instant = (ms: number): string => new Date(START_MS + ms).toISOString();
