/**
 * Signatures that a front verifies ahead, so that the engine's process need not: by the same checks
 * of a request and the same rule. What is not good is not even said; the engine's process finds out
 * what is wrong with it, in the order of checks, as if nothing had been tried here.
 *
 * No key is registered here, and no quota counted. So it is tried only where the last request with
 * a key was accepted: whoever fails, or is out of quota, makes this process verify nothing more.
 */
import { carriage, verifyWithLibsodium } from '../../engine/internal.js';
import { admittedOf } from '../checks/admitted.js';
import { carriedRequest } from '../checks/carried-request.js';
import { serverBounds } from '../contract/limit-table.js';
import type { Route } from '../contract/routes.js';
import type { RequestHead } from '../transport/transport.js';

/** Keys that are remembered; beyond that, the engine's process verifies. */
const MOST_KEYS = 65_536;

export class SignaturesAhead {
  readonly #networkId: string | null;
  /** Hex, lower case, of which the last request was accepted. */
  readonly #keys = new Set<string>();

  /** Null where signatures are not verified. */
  constructor(networkId: string | null) {
    this.#networkId = networkId;
  }

  /** Whether the request's own signature holds, as far as that is tried: false says nothing. */
  holds({ command }: Route, { target, headers, fault }: RequestHead, body: Uint8Array): boolean {
    const key = keyOf(headers);
    if (command === null || this.#networkId === null || !this.#keys.has(key)) return false;
    // A form is read by the engine's process; and what is large is admitted once.
    const large = body.length > serverBounds.body.small;
    if (fault || large || carriage[command].signed === 'form') return false;
    const request = carriedRequest(command, { target, headers, body });
    const { admission } = admittedOf(request, this.#networkId);
    const held = !('refusal' in admission) && verifyWithLibsodium!(admission.ownJob());
    if (!held) this.#keys.delete(key);
    return held;
  }

  /** What a request was answered. */
  answered({ command }: Route, { headers }: RequestHead, status: number): void {
    if (command === null || this.#networkId === null || verifyWithLibsodium === null) return;
    const key = keyOf(headers);
    if (status === 401 || status === 429) this.#keys.delete(key);
    if (status >= 300 || key === '') return;
    this.#keys.add(key);
    if (this.#keys.size <= MOST_KEYS) return;
    const [oldest] = this.#keys;
    this.#keys.delete(oldest!);
  }
}

const keyOf = (headers: RequestHead['headers']) =>
  (headers.get('x-agent-public-key') ?? '').toLowerCase();
