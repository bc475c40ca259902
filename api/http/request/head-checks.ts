/**
 * What is decided of a request by its head alone, before any of its body is read: whose it is, what
 * its address has left, how large its body may be, and whether its credentials can be right.
 */
import {
  type CommandKind,
  type Refusal,
  refuse,
  type ServedNetwork,
} from '../../../engine/internal.js';
import type { Route } from '../../contract/routes.js';
import { addressKey, clientAddress } from '../../limits/client-address.js';
import type { Limits, Quota } from '../../limits/limits.js';
import type { SignatureAttempts } from '../../limits/signature-attempts.js';
import type { RequestHead } from '../../transport/transport.js';
import { headProblem, knownKeyOf } from './head-credentials.js';
import { type BodiesInFlight, RequestBudget } from './request-budget.js';
import { mediaProblem } from './signed-request.js';

interface Needs {
  network: ServedNetwork;
  limits: Limits;
  attempts: SignatureAttempts;
  now: () => number;
}

export class HeadChecks {
  readonly #network: ServedNetwork;
  readonly #limits: Limits;
  readonly #attempts: SignatureAttempts;
  readonly #trustedProxies: ReadonlySet<string>;
  readonly #now: () => number;
  /** The address of the request before this one, and what limits count it by. */
  #last = { address: '', key: addressKey('') };
  readonly #bodies: BodiesInFlight = { total: 0, byAddress: new Map() };
  /** Whether anything is counted by the address, here or at other servers of the network. */
  readonly #counts: boolean;

  constructor({ network, limits, attempts, now }: Needs, trustedProxies: Iterable<string>) {
    this.#network = network;
    this.#limits = limits;
    this.#counts = limits.figures !== null || network.onSpent !== undefined;
    this.#attempts = attempts;
    this.#trustedProxies = new Set(trustedProxies);
    this.#now = now;
  }

  /** What a request may cost, or the problem for which it is refused once its answer is due. */
  budgetOf(head: RequestHead, declared: number | null, route: Route | null): RequestBudget {
    const budget = this.#budget(head, declared);
    if (route && !route.limited) return budget;
    const most = route?.bodyBytes ?? 0;
    const bytes = Math.min(declared ?? 0, most);
    const exceeded = this.#limits.figures && this.#exceeded(budget, route, bytes);
    if (exceeded) return budget.refuse({ quota: exceeded });
    budget.bodyBytes = most;
    if ((declared ?? 0) > most) return budget.refuse({ refusal: tooLarge(most) });
    if (!route?.command) return budget;
    const { readOnly } = this.#network;
    if (readOnly !== undefined) return budget.refuse({ refusal: refuse('READ_ONLY', readOnly) });
    const problem =
      mediaProblem(route.command, head.headers, declared !== 0) ??
      headProblem(route.command, head.headers, this.#mayKnow, this.#now());
    return problem ? budget.refuse({ refusal: problem }) : budget;
  }

  /** Where other nodes take requests as well, only a barrier tells that a key is unknown. */
  #mayKnow = (publicKey: string) =>
    this.#network.barrier !== undefined || this.#network.knows(publicKey);

  #budget(head: RequestHead, declared: number | null): RequestBudget {
    const publicKey = knownKeyOf(head.headers, this.#network.knows);
    // To ask for the peer costs as much as all the rest of a head.
    const sender = { addressKey: this.#counts ? this.keyOf(head) : '', publicKey, declared };
    return new RequestBudget(this.#limits, this.#bodies, sender);
  }

  /** The address as limits count it: asked for in the turn of the head. */
  keyOf({ address, headers }: RequestHead): string {
    const trusted = this.#trustedProxies;
    if (trusted.size > 0) {
      return addressKey(clientAddress(address, headers.get('x-forwarded-for'), trusted));
    }
    // Requests of one client often follow each other.
    if (address !== this.#last.address) {
      this.#last = { address, key: addressKey(clientAddress(address, undefined, trusted)) };
    }
    return this.#last.key;
  }

  /** Takes what a request costs by its head, or gives the quota that it exceeds. */
  #exceeded(budget: RequestBudget, route: Route | null, bytes: number): Quota | null {
    return (
      this.#take('requests', budget, 1) ??
      this.#take('request_bytes', budget, bytes) ??
      (route?.command ? this.#usedUp(route.command, budget, bytes) : null)
    );
  }

  /** Takes what is asked for, or gives the quota that it exceeds. */
  #take(name: 'requests' | 'request_bytes', budget: RequestBudget, amount: number): Quota | null {
    if (amount === 0) return null;
    const taken = this.#limits.take(name, budget.addressKey, amount);
    return 'exceeded' in taken ? taken.exceeded : null;
  }

  /** The quota that is used up before a signed request is verified, if one is. */
  #usedUp(kind: CommandKind, budget: RequestBudget, bytes: number): Quota | null {
    return (
      this.#attempts.exceeded(budget) ??
      (kind === 'register' ? this.#registrations(budget) : null) ??
      budget.reserveRefusal(bytes, this.#attempts.proven(budget))
    );
  }

  #registrations(budget: RequestBudget): Quota | null {
    const quota = this.#limits.quota('register', budget.addressKey);
    return quota?.remaining === 0 ? quota : null;
  }
}

const tooLarge = (most: number): Refusal =>
  refuse('TOO_LARGE', `the body is larger than ${most} bytes`);
