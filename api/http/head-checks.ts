/**
 * Decides about a request by its head alone, before any of its body is read: host and origin, the
 * request id, the remaining quota of its address, the size that its body may have, and whether its
 * credentials can be right.
 */

import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import {
  badTimestampHeader,
  checkFreshness,
  type Knows,
  keyProblem,
  signatureProblem,
  unknownKey,
} from '../../engine/admit/credentials.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { isPublicKey } from '../../engine/protocol/text.js';
import { parseInstant } from '../../engine/protocol/time.js';
import { type ReceivedRequest, requestFromHttp } from '../checks/request-checks.js';
import { REFUSED_UNIT_BYTES, serverBounds } from '../contract/limit-table.js';
import type { Route } from '../contract/routes.js';
import { addressKey, clientAddress } from '../limits/connections.js';
import { type Account, type Limits, type Quota, refund, type Use } from '../limits/limits.js';
import type { Claimant, SignatureAttempts } from '../limits/signature-quota.js';
import type { RequestHead } from '../transport/transport.js';
import { readForm } from './form-parser.js';

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
    if (declared !== null && declared > most) {
      return budget.refuse({ refusal: tooLarge(declared, most) });
    }
    if (!route?.command) return budget;
    const { readOnly } = this.#network;
    if (readOnly !== undefined) {
      const values = { folder: this.#network.folder ?? 'in memory' };
      return budget.refuse({ refusal: refuse('NETWORK_READ_ONLY', values) });
    }
    const problem =
      mediaProblem(route.command, head.headers, declared !== 0) ??
      this.#credentialsProblem(route.command, head.headers, budget);
    return problem ? budget.refuse({ refusal: problem }) : budget;
  }

  #budget(head: RequestHead, declared: number | null): RequestBudget {
    const publicKey = registeredKey(head.headers, this.#network.knows);
    // Reading the peer's address costs as much as all the rest of a head.
    const addressKey = this.#counts ? this.keyOf(head) : '';
    return new RequestBudget(this.#limits, this.#bodies, { addressKey, publicKey, declared });
  }

  /** The first problem of the credentials: the key, then the time, then the signature's form. */
  #credentialsProblem(
    kind: CommandKind,
    headers: Headers,
    { publicKey }: RequestBudget,
  ): Refusal | null {
    const { signed } = carriage[kind];
    const key = headers.get('x-agent-public-key') ?? '';
    if (publicKey === null && !(kind === 'register' && key === '')) {
      const malformed = keyProblem(key);
      if (malformed) return malformed;
      // Where other nodes take requests too, only a barrier proves that a key is unknown.
      if (kind !== 'register' && !this.#network.barrier) return unknownKey(key.toLowerCase());
    }
    if (signed === 'body') return null;
    const timestamp = headers.get('x-timestamp') ?? '';
    const at = parseInstant(timestamp);
    if (at === null) return badTimestampHeader(timestamp);
    const stale = checkFreshness(at, this.#now());
    if (stale || signed === 'form') return stale;
    return signatureProblem(headers.get('x-agent-signature'));
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
    const { address } = budget;
    const request = address.take('requests');
    if ('exceeded' in request) return request.exceeded;
    const received = bytes > 0 ? address.take('request_bytes', bytes) : request;
    if ('exceeded' in received) return received.exceeded;
    if (!route?.command) return null;
    const attempts = this.#attempts.exceeded(budget);
    if (attempts) return attempts;
    const registrations = route.command === 'register' ? address.quota('register') : null;
    if (registrations?.remaining === 0) return registrations;
    return budget.reserveRefusal(bytes, this.#attempts.proven(budget));
  }
}

const tooLarge = (bytes: number, limit: number): Refusal =>
  refuse('BODY_TOO_LARGE', { bytes, limit });

export class EntryChecks {
  readonly origins: Origins;
  readonly #hosts: AllowedHosts;

  /** @throws where a name or an origin is none. */
  constructor(hosts: readonly string[], cors: readonly string[]) {
    this.#hosts = new AllowedHosts(hosts);
    this.origins = new Origins(cors);
  }

  /** For its head, for the name it takes the server by, or for the page it comes from. */
  refuse(head: RequestHead): Refusal | null {
    const { fault, method, headers } = head;
    if (fault) return fault;
    const host = headers.get('host');
    if (!this.#hosts.has(host)) {
      return refuse('HOST_NOT_SERVED', { host: shown(host) });
    }
    return READS.has(method) ? null : this.#refuseOrigin(headers);
  }

  /** What the opening of a WebSocket is refused for. */
  refuseSocket(head: RequestHead): Refusal | null {
    const refused = this.refuse(head) ?? this.#refuseOrigin(head.headers);
    if (refused) return refused;
    const version = head.headers.get('sec-websocket-version');
    if (version === '13') return null;
    return refuse('SOCKET_VERSION_UNSUPPORTED', { version: shown(version) });
  }

  /** A page of another server must not speak for its reader. */
  #refuseOrigin(headers: RequestHead['headers']): Refusal | null {
    if (!this.origins.foreign(headers)) return null;
    return refuse('ORIGIN_NOT_ALLOWED', { origin: shown(headers.get('origin')) });
  }
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

const shown = (text: string | undefined) =>
  text === undefined ? 'none' : JSON.stringify(text.slice(0, 128));

type Headers = ReadonlyMap<string, string>;

/** The registered key that a request names, lower case; its signature is still to be verified. */
function registeredKey(headers: Headers, knows: Knows): string | null {
  const key = headers.get('x-agent-public-key')?.toLowerCase();
  return key !== undefined && isPublicKey(key) && knows(key) ? key : null;
}

/** Headers that a browser's program may read beside the simple ones. */
const EXPOSED =
  'Folkmoot-Stale, Folkmoot-Unknown, Location, RateLimit, RateLimit-Policy, Retry-After, ' +
  'X-Request-Id, X-Server-Public-Key, X-Server-Timestamp, X-Server-Signature';

class Origins {
  readonly #allowed: ReadonlySet<string>;

  /** @throws where one is not what a browser would send. */
  constructor(origins: readonly string[]) {
    this.#allowed = new Set(origins.map(browserOrigin));
  }

  get any(): boolean {
    return this.#allowed.size > 0;
  }

  /** Whether a request comes from a page that is neither the server's own nor let in. */
  foreign(headers: Headers): boolean {
    const origin = headers.get('origin');
    if (origin === undefined || this.#allowed.has(origin)) return false;
    const host = headers.get('host')?.toLowerCase();
    return origin !== `http://${host}` && origin !== `https://${host}`;
  }

  /** Adds the headers of an answer for a browser. */
  addHeaders(headers: Record<string, string>, request: Headers): void {
    if (!this.any) return;
    headers.Vary = 'Origin';
    const origin = request.get('origin');
    if (origin === undefined || !this.#allowed.has(origin)) return;
    headers['Access-Control-Allow-Origin'] = origin;
    headers['Access-Control-Expose-Headers'] = EXPOSED;
  }

  /** Headers of the answer to OPTIONS besides. */
  preflight(request: Headers, methods: string): Record<string, string> {
    const origin = request.get('origin');
    if (origin === undefined || !this.#allowed.has(origin)) return {};
    return {
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers':
        'Content-Type, X-Agent-Public-Key, X-Agent-Signature, X-Timestamp',
      'Access-Control-Max-Age': '600',
    };
  }
}

/**
 * The text itself, where it is an origin as browsers send it: no path, not even a slash; no user,
 * no `*`, no default port; in lower case.
 *
 * @throws {Error} where it is another text.
 */
export function browserOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && ['http:', 'https:'].includes(url.protocol) && url.origin === text) return text;
  const meant = url && url.origin !== 'null' ? url.origin : 'https://a.example';
  const expected = `expected scheme, host and port only, as browsers send them: ${meant}`;
  throw new Error(`${JSON.stringify(text)} is not an origin; ${expected}`);
}

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Ids share all but their last four digits: to draw each by itself takes four times as long. */
let drawn = '';
let count = 0xffff;

/** A UUID that no other request has. */
export function requestId(): string {
  count = (count + 1) & 0xffff;
  if (count === 0) drawn = randomUUID().slice(0, -4);
  return `${drawn}${digits[count >> 8]}${digits[count & 0xff]}`;
}

/*
 * The names a server answers to. A foreign web page can make its own name mean this machine (DNS
 * rebinding), and its browser then takes the server for that page's: the Host header shows it.
 */

const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::\d{0,5})?$/;
const NAME = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  /** Nearly all requests name the same one. */
  #last = '';

  /** @throws where one is not a name. */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', hostname().toLowerCase(), ...names.map(servedName)]);
  }

  /**
   * Whether a Host header names this server. Any address does, for it cannot be rebound; so does
   * none at all, which no browser sends.
   */
  has(host: string | undefined): boolean {
    if (host === undefined || host === this.#last) return true;
    const name = nameOf(host);
    if (name === null || !(this.#names.has(name) || isIP(name) !== 0)) return false;
    this.#last = host;
    return true;
  }
}

/**
 * The name itself, in lower case, where it is one to be served under.
 *
 * @throws {Error} where it is none.
 */
export function servedName(text: string): string {
  const name = nameOf(text);
  if (name !== null && text.toLowerCase() === name) return name;
  const expected = 'expected a host name without scheme, port or path, as in network.example';
  throw new Error(`${JSON.stringify(text)} is not a name to be served under; ${expected}`);
}

/** The name or address in a Host header, in lower case and without brackets; null for neither. */
function nameOf(host: string): string | null {
  const found = HOST.exec(host)?.[1]?.toLowerCase();
  if (found === undefined) return null;
  const name = found.startsWith('[') ? found.slice(1, -1) : found.replace(/\.$/, '');
  return isIP(name) !== 0 || NAME.test(name) ? name : null;
}

/*
 * What one request may cost, from its head to its answer: how much body it may still bring, what it
 * holds meanwhile, and what it costs its address when no signature vouches for it.
 */

/** Why a request is refused by its head or size: a limit that is used up, or what is wrong. */
export type Problem = { quota: Quota } | { refusal: Refusal };

/** Bytes of bodies in flight, in all and by address: what a flood could fill the memory with. */
interface BodiesInFlight {
  total: number;
  readonly byAddress: Map<string, number>;
}

interface Sender {
  /** The address as limits count it; empty where nothing is counted. */
  addressKey: string;
  /** The registered key that it names, lower case, or null. */
  publicKey: string | null;
  /** Length of its body as its head declares it. */
  declared: number | null;
}

export class RequestBudget implements Claimant {
  readonly publicKey: string | null;
  readonly address: Account;
  /** Counts failed signatures and refusals: those of the address with the key that it names. */
  readonly claim: Account;
  /** Bytes of body that it may have. */
  bodyBytes = 0;
  problem: Problem | null = null;
  /** When its head is refused, a small body is read all the same: to connect anew costs more. */
  wanted = true;
  readonly #declared: number | null;
  readonly #limits: Limits;
  readonly #bodies: BodiesInFlight;
  #received = 0;
  #reserved: (Use | null)[] | null = null;
  #verified = false;

  constructor(limits: Limits, bodies: BodiesInFlight, { addressKey, publicKey, declared }: Sender) {
    this.#limits = limits;
    this.#bodies = bodies;
    this.#declared = declared;
    this.publicKey = publicKey;
    this.address = limits.account(addressKey);
    this.claim =
      publicKey === null ? this.address : limits.account(`${addressKey} agent:${publicKey}`);
  }

  refuse(problem: Problem): this {
    const { small } = serverBounds.body;
    this.problem = problem;
    this.bodyBytes = small;
    this.wanted = this.#declared !== null && this.#declared <= small;
    return this;
  }

  /** Counts bytes that arrived; false when no more are to be read. */
  take(bytes: number): boolean {
    const { byAddress } = this.#bodies;
    const { subject } = this.address;
    const ofAddress = (byAddress.get(subject) ?? 0) + bytes;
    const most = this.#limits.figures
      ? serverBounds.bodiesOfAddressBytes
      : Number.POSITIVE_INFINITY;
    if (this.#received + bytes > this.bodyBytes) {
      this.problem ??= { refusal: tooLarge(this.#received + bytes, this.bodyBytes) };
    } else if (this.#bodies.total + bytes > serverBounds.bodiesInFlightBytes || ofAddress > most) {
      this.problem ??= { refusal: refuse('BODIES_IN_FLIGHT') };
    } else {
      this.#bodies.total += bytes;
      byAddress.set(subject, ofAddress);
      this.#received += bytes;
      return true;
    }
    return false;
  }

  /** Frees the memory of its body for other requests. */
  release(): void {
    if (this.#received === 0) return;
    const { byAddress } = this.#bodies;
    const { subject } = this.address;
    this.#bodies.total -= this.#received;
    const left = (byAddress.get(subject) ?? 0) - this.#received;
    if (left > 0) byAddress.set(subject, left);
    else byAddress.delete(subject);
    this.#received = 0;
  }

  /** Counts a refusal ahead, by the bytes it may cost; the quota that it exceeds, if it does. */
  reserveRefusal(bytes: number, proven: boolean): Quota | null {
    const units = countRefusalUnits(bytes);
    const own = this.claim.take('refused', units);
    if ('exceeded' in own) return own.exceeded;
    this.#reserved = [own.use];
    if (this.publicKey === null || proven) return null;
    const all = this.address.take('refused_total', units);
    if ('exceeded' in all) return all.exceeded;
    this.#reserved.push(all.use);
    return null;
  }

  /** Its signature holds: a refusal from now on is its agent's business, not the address's. */
  markVerified(): void {
    this.#verified = true;
  }

  /** The answer is known: what was counted ahead is refunded unless it was a refusal. */
  conclude(status: number): void {
    if (!this.#limits.figures) return;
    const refused = status >= 400 && status < 500 && status !== 429 && !this.#verified;
    const reserved = this.#reserved;
    if (!refused) reserved?.forEach(refund);
    else if (!reserved) this.claim.use('refused');
    this.#reserved = null;
  }
}

/** What a refusal of so many bytes counts as. */
export const countRefusalUnits = (bytes: number) =>
  1 + Math.floor(Math.max(0, bytes - 1) / REFUSED_UNIT_BYTES);

/** A request, and the names of form fields that are not known. */
interface Carried extends SignedRequest {
  unknownFields?: readonly string[];
}

type Signed = Carried | { refusal: Refusal };

/** What is wrong with the type of a body. */
export function mediaProblem(
  kind: CommandKind,
  headers: ReadonlyMap<string, string>,
  hasBody: boolean,
): Refusal | null {
  const sent = headers.get('content-type') ?? '';
  const expected = carriage[kind].signed === 'form' ? 'multipart/form-data' : 'application/json';
  if (sent === expected) return null;
  const type = sent.split(';', 1)[0]!.trim().toLowerCase();
  if (type === expected || (kind === 'alliance_leave' && !hasBody)) return null;
  return refuse('CONTENT_TYPE_WRONG', { type: type.slice(0, 128) || 'none', expected });
}

/** Of a body whose type is right. Only a form has to be waited for. */
export function signedRequest(
  kind: CommandKind,
  received: ReceivedRequest,
): Signed | Promise<Signed> {
  const request = requestFromHttp(kind, received);
  if (carriage[kind].signed !== 'form') return request;
  return formRequest(request, received.headers.get('content-type') ?? '');
}

async function formRequest(request: SignedRequest, contentType: string): Promise<Signed> {
  const form = await readForm(contentType, request.body);
  if ('refusal' in form) return form;
  const { caption, tags, signature, file, unknown: unknownFields } = form;
  const fields = JSON.stringify({ caption, content_sha256: sha256Hex(file), tags });
  return { ...request, signature, body: Buffer.from(fields), file, unknownFields };
}

/*
 * Large bodies are dealt with one a turn of the event loop: parsing one takes tens of milliseconds,
 * and whoever asks for little waits for one of them at most, however many came together.
 */

/** What is smaller takes less than a millisecond. */
const LARGE_BYTES = 64 * 1024;

export class LargeBodies {
  readonly #limit = pLimit(1);

  /** Resolves when it is this body's turn; null for one that need not wait. */
  waitTurn(bytes: number): Promise<void> | null {
    // Other requests are served between two turns: immediates come after the poll for events.
    return bytes <= LARGE_BYTES ? null : this.#limit(() => nextTurn());
  }
}
