/**
 * Agents with fake keys, and formatted instants. This module does not depend on the test runner.
 */
import type { Signatory } from 'folkmoot';
import { agentId } from 'folkmoot/signing';

/** 2025-01-01T00:00:00Z. */
export const START_MS = 1_735_689_600_000;

/** A registered agent. */
export interface Citizen extends Signatory {
  id: string;
}

/** Returns a fake key without signatures, for networks with the verifier off. */
export function paperSignatory(number: number): Signatory {
  const publicKey = (number + 1).toString(16).padStart(64, '0');
  return { publicKey, sign: () => '0'.repeat(128) };
}

export const citizenOf = (key: Signatory): Citizen => ({ ...key, id: agentId(key.publicKey) });

/** Formats an instant. @param ms milliseconds since START_MS. */
export const instant = (ms: number): string => new Date(START_MS + ms).toISOString();
