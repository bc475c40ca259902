/**
 * What is decided of a request by its head alone, before any of its body is read: whose it is, what
 * its address has left, how large its body may be, and whether its credentials can be right.
 */
import { type CommandKind, type Network, type Refusal, refuse } from '../../../engine/internal.js';
import { serverBounds } from '../../contract/limit-table.js';
import { type Match, match } from '../../contract/routes.js';
import { addressKey, clientAddress } from '../../limits/client-address.js';
import type { Limits, Quota } from '../../limits/limits.js';
import type { Claims } from '../../limits/signature-attempts.js';
import type { HttpRequest } from '../../transport/transport.js';
import { claimedKey, headProblem } from './head-credentials.js';
import { type Bodies, Visit } from './request-budget.js';
import { mediaProblem } from './signed-request.js';

export type RequestHead = Omit<HttpRequest, 'body'>;

const unlimited = new Set(['live', 'ready', 'metrics']);

/** What of the gate is asked about a head. */
interface Asked {
  network: Network;
  limits: Limits;
  claims: Claims;
  now: () => number;
}

export class Intake {
  readonly #network: Network;
  readonly #limits: Limits;
  readonly #claims: Claims;
  readonly #trusted: ReadonlySet<string>;
  readonly #now: () => number;
  readonly #bodies: Bodies = { total: 0, byAddress: new Map() };

  constructor({ network, limits, claims, now }: Asked, trusted: Iterable<string>) {
    this.#network = network;
    this.#limits = limits;
    this.#claims = claims;
    this.#trusted = new Set(trusted);
    this.#now = now;
  }

  /** Connections that come faster than allowed are not taken; those of a trusted proxy always. */
  accepts(peer: string): boolean {
    const address = clientAddress(peer, undefined, none);
    if (this.#trusted.has(address)) return true;
    return 'use' in this.#limits.take('connections', addressKey(address));
  }

  enter(head: RequestHead, declared: number | null): Visit {
    const forwarded = head.headers.get('x-forwarded-for');
    const address = clientAddress(head.address, forwarded, this.#trusted);
    const whom = addressKey(address);
    const found = match(head.method, head.path);
    const key = claimedKey(head.headers, this.#network.knows);
    const visit = new Visit(this.#limits, this.#bodies, { address, whom, found, key, declared });
    const route = found?.route;
    if (route && 'special' in route && unlimited.has(route.special)) return visit;
    const limit = largestBody(found);
    const bytes = Math.min(declared ?? 0, limit);
    const short =
      this.#short('requests', whom, 1) ??
      this.#short('request_bytes', whom, bytes) ??
      (route && 'write' in route ? this.#writeShort(route.write, visit, bytes) : null);
    if (short) return visit.refuse({ quota: short });
    visit.limit = limit;
    if ((declared ?? 0) > limit) return visit.refuse({ refusal: tooLarge(limit) });
    if (!route || !('write' in route)) return visit;
    const refusal = mediaProblem(route.write, head.headers, declared !== 0);
    if (refusal) return visit.refuse({ refusal });
    const problem = headProblem(route.write, head.headers, this.#network.knows, this.#now());
    return problem ? visit.refuse({ refusal: problem }) : visit;
  }

  /** Takes what is asked for, or says what is short. */
  #short(name: 'requests' | 'request_bytes', whom: string, amount: number): Quota | null {
    if (amount === 0) return null;
    const taken = this.#limits.take(name, whom, amount);
    return 'short' in taken ? taken.short : null;
  }

  /** What is used up before a signed request is looked at, if something is. */
  #writeShort(kind: CommandKind, visit: Visit, bytes: number): Quota | null {
    return (
      this.#claims.short(visit) ??
      (kind === 'register' ? this.#registerShort(visit) : null) ??
      visit.reserveRefusal(bytes, this.#claims.proven(visit))
    );
  }

  #registerShort({ whom }: Visit): Quota | null {
    const quota = this.#limits.look('register', whom);
    return quota?.remaining === 0 ? quota : null;
  }
}

const none: ReadonlySet<string> = new Set();

/** How many bytes of body there may be; 0 where none is expected. */
function largestBody(found: Match | null): number {
  const route = found?.route;
  const { body } = serverBounds;
  if (!route) return 0;
  if ('special' in route) return route.special === 'debug_verify' ? body.debug_verify : 0;
  if (!('write' in route)) return 0;
  return route.write === 'propose' || route.write === 'meme' ? body[route.write] : body.small;
}

const tooLarge = (limit: number): Refusal =>
  refuse('TOO_LARGE', `the body is larger than ${limit} bytes`);
