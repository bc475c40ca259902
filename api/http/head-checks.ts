/**
 * Decisions based on the request head, before the body is read: the address's quota, body size, and
 * the form of the credentials.
 */
import {
  badTimestampHeader,
  type Knows,
  refuseKey,
  refuseSignature,
  refuseTimestamp,
  unknownKey,
} from '../../engine/admit/credentials.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage } from '../../engine/protocol/schema/entry.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { parseInstant } from '../../engine/protocol/time.js';
import { serverBounds, WRITE_UNIT_BYTES } from '../contract/limit-table.js';
import type { Route } from '../contract/routes.js';
import { addressKey, clientAddress, type Limits, type Quota } from '../limits/limits.js';
import type { ProvenAddresses } from '../limits/signature-quota.js';
import type { RequestHead } from '../transport/transport.js';
import { BodiesInFlight, refuseBodySize, refuseCoding, refuseMediaType } from './bodies.js';
import { countUnits, RequestBudget } from './budget.js';

interface Needs {
  network: ServedNetwork;
  limits: Limits;
  proven: ProvenAddresses;
  now: () => number;
}

export class HeadChecks {
  readonly #network: ServedNetwork;
  readonly #limits: Limits;
  readonly #proven: ProvenAddresses;
  readonly #trustedProxies: ReadonlySet<string>;
  readonly #now: () => number;
  /** Address and limit key from the previous request. */
  #last = { address: '', key: addressKey('') };
  readonly #bodies = new BodiesInFlight();
  /** True if limits count addresses, here or on other nodes. Does not change. */
  readonly #counts: boolean;

  constructor({ network, limits, proven, now }: Needs, trustedProxies: Iterable<string>) {
    this.#network = network;
    this.#limits = limits;
    this.#counts = limits.figures !== null || network.onSpent !== undefined;
    this.#proven = proven;
    this.#trustedProxies = new Set(trustedProxies);
    this.#now = now;
  }

  /** Creates a request's budget. A refusal becomes the budget's problem, sent in the response. */
  budgetOf(head: RequestHead, declared: number | null, route: Route | null): RequestBudget {
    const budget = this.#budget(head, declared);
    if (route && !route.limited) return budget;
    const most = route?.bodyBytes ?? 0;
    const bytes = Math.min(declared ?? 0, most);
    const exceeded = this.#limits.figures && this.#exceeded(budget, route, bytes);
    if (exceeded) return budget.refuse({ quota: exceeded });
    budget.bodyBytes = most;
    if (declared !== null && declared > most) {
      return budget.refuse({ refusal: refuseBodySize(declared, most) });
    }
    const coded = declared !== 0 && most > 0 ? refuseCoding(head.headers) : null;
    if (coded) return budget.refuse({ refusal: coded });
    if (!route?.command) return budget;
    const { readOnly } = this.#network;
    if (readOnly !== undefined) {
      const values = { folder: this.#network.folder ?? 'in memory' };
      return budget.refuse({ refusal: refuse('NETWORK_READ_ONLY', values) });
    }
    const problem =
      refuseMediaType(route.command, head.headers, declared !== 0) ??
      this.#credentialsProblem(route.command, head.headers, budget);
    // After a refusal because of the head, no large body is read.
    const refused = budget.reserveRefusal(problem ? 0 : bytes);
    if (refused) return budget.refuse({ quota: refused });
    return problem ? budget.refuse({ refusal: problem }) : budget;
  }

  #budget(head: RequestHead, declared: number | null): RequestBudget {
    const publicKey = registeredKey(head.headers, this.#network.knows);
    // Reading the peer address costs as much as handling the rest of the head.
    const addressKey = this.#counts ? this.keyOf(head) : '';
    const now = this.#limits.now();
    const proven = publicKey !== null && this.#proven.has(publicKey, addressKey, now);
    // An agent keeps an account of its address, even in a network whose other addresses share one.
    const address = this.#limits.address(addressKey, proven, now);
    const sender = { address, publicKey, proven, declared, wallMs: this.#now() };
    return new RequestBudget(this.#limits, this.#bodies, sender);
  }

  /**
   * Returns false for a connection from an address that opened too many. Connections from trusted
   * proxies, and from networks whose addresses share an account, are limited by their requests.
   */
  accepts(peer: string): boolean {
    const address = clientAddress(peer, undefined, none);
    if (this.#limits.figures === null || this.#trustedProxies.has(address)) return true;
    const account = this.#limits.address(addressKey(address));
    return account.isShared || 'use' in account.take('connections');
  }

  /** Returns the first problem: key, then timestamp, then form of the signature. */
  #credentialsProblem(
    kind: CommandKind,
    headers: Headers,
    { publicKey, wallMs }: RequestBudget,
  ): Refusal | null {
    const { signed } = carriage[kind];
    const key = headers.get('x-agent-public-key') ?? '';
    if (publicKey === null && !(kind === 'register' && key === '')) {
      const malformed = refuseKey(key);
      if (malformed) return malformed;
      // Since other nodes accept registrations too, only a barrier proves that a key is unknown.
      if (kind !== 'register' && !this.#network.barrier) return unknownKey(key.toLowerCase());
    }
    if (signed === 'body') return null;
    const timestamp = headers.get('x-timestamp') ?? '';
    const at = parseInstant(timestamp);
    if (at === null) return badTimestampHeader(timestamp);
    const stale = refuseTimestamp(at, wallMs);
    if (stale || signed === 'form') return stale;
    return refuseSignature(headers.get('x-agent-signature'), 'header X-Agent-Signature');
  }

  /** Returns the limits' key for the address. Call in the turn in which the head arrives. */
  keyOf({ address, headers }: RequestHead): string {
    const trusted = this.#trustedProxies;
    if (trusted.size > 0) {
      return addressKey(clientAddress(address, headers.get('x-forwarded-for'), trusted));
    }
    // Consecutive requests often come from the same client.
    if (address !== this.#last.address) {
      this.#last = { address, key: addressKey(clientAddress(address, undefined, trusted)) };
    }
    return this.#last.key;
  }

  /** Charges the cost that the head determines. Returns the exceeded quota, if any. */
  #exceeded(budget: RequestBudget, route: Route | null, bytes: number): Quota | null {
    const { address } = budget;
    // Counted separately, so that other requests from the address do not lock out its agents.
    const isSigned = route?.command && budget.publicKey !== null;
    // Larger bodies count in `request_bytes` and `refused_large`.
    const units = bytes > serverBounds.body.small ? 1 : countUnits(bytes, WRITE_UNIT_BYTES);
    const request = isSigned ? address.take('signed_requests', units) : address.take('requests');
    if ('exceeded' in request) return request.exceeded;
    const received = bytes > 0 ? address.take('request_bytes', bytes) : request;
    if ('exceeded' in received) return received.exceeded;
    const registrations = route?.command === 'register' ? address.quota('register') : null;
    return registrations?.remaining === 0 ? registrations : null;
  }
}

/** Trusted proxies of a connection, before a head names a client. */
const none: ReadonlySet<string> = new Set();

type Headers = ReadonlyMap<string, string>;

/** Returns the registered key that a request names, in lower case. The signature is unverified. */
function registeredKey(headers: Headers, knows: Knows): string | null {
  const key = headers.get('x-agent-public-key')?.toLowerCase();
  // A registered key is valid, so the form needs no check.
  return key !== undefined && knows(key) ? key : null;
}
