/**
 * Decisions based on the request head, before the body is read: host and origin, request id, the
 * address's quota, body size, and the form of the credentials.
 */

import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
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
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { parseInstant } from '../../engine/protocol/time.js';
import { type ReceivedRequest, requestFromHttp } from '../checks/request-checks.js';
import { serverBounds, WRITE_UNIT_BYTES } from '../contract/limit-table.js';
import type { Route } from '../contract/routes.js';
import { addressKey, clientAddress } from '../limits/addresses.js';
import { type Account, type Limits, type Quota, refund, type Use } from '../limits/limits.js';
import type { ProvenAddresses } from '../limits/signature-quota.js';
import type { RequestHead } from '../transport/transport.js';
import { readForm } from './form-parser.js';

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

  /**
   * Creates a request's budget. A refusal is recorded as the budget's problem, and sent in the
   * response.
   */
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
    const coded = declared !== 0 && most > 0 ? codingProblem(head.headers) : null;
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

  /**
   * Returns the key under which limits count the address. Call in the turn in which the head
   * arrives.
   */
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

/** Refuses a compressed body: signatures and digests cover the bytes as sent. */
function codingProblem(headers: Headers): Refusal | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return null;
  return refuse('CONTENT_CODED', { coding: coding.slice(0, 64) });
}

const tooLarge = (bytes: number, limit: number): Refusal =>
  refuse('BODY_TOO_LARGE', { bytes, limit });

export class EntryChecks {
  readonly origins: Origins;
  readonly #hosts: AllowedHosts;

  /** @throws {Error} if a host name or origin is invalid. */
  constructor(hosts: readonly string[], cors: readonly string[]) {
    this.#hosts = new AllowedHosts(hosts);
    this.origins = new Origins(cors);
  }

  /** Refuses a malformed head, an unknown host, or a write from a foreign origin. */
  refuse(head: RequestHead): Refusal | null {
    const { fault, method, headers } = head;
    if (fault) return fault;
    const host = headers.get('host');
    if (!this.#hosts.has(host)) {
      return refuse('HOST_NOT_SERVED', { host: shown(host) });
    }
    return READS.has(method) ? null : this.#refuseOrigin(headers);
  }

  refuseSocket(head: RequestHead): Refusal | null {
    const refused = this.refuse(head) ?? this.#refuseOrigin(head.headers);
    if (refused) return refused;
    const version = head.headers.get('sec-websocket-version');
    if (version === '13') return null;
    return refuse('SOCKET_VERSION_UNSUPPORTED', { version: shown(version) });
  }

  /** Keeps pages from other origins from acting on behalf of their reader. */
  #refuseOrigin(headers: RequestHead['headers']): Refusal | null {
    if (!this.origins.foreign(headers)) return null;
    return refuse('ORIGIN_NOT_ALLOWED', { origin: shown(headers.get('origin')) });
  }
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

const shown = (text: string | undefined) =>
  text === undefined ? 'none' : JSON.stringify(text.slice(0, 128));

type Headers = ReadonlyMap<string, string>;

/** Returns the registered key that a request names, in lower case. The signature is unverified. */
function registeredKey(headers: Headers, knows: Knows): string | null {
  const key = headers.get('x-agent-public-key')?.toLowerCase();
  // A registered key is valid, so the form needs no check.
  return key !== undefined && knows(key) ? key : null;
}

/** Response headers that scripts may read, in addition to safelisted headers. */
const EXPOSED =
  'Folkmoot-Stale, Folkmoot-Unknown, Location, RateLimit, RateLimit-Policy, Retry-After, ' +
  'X-Request-Id, X-Server-Public-Key, X-Server-Timestamp, X-Server-Signature';

class Origins {
  readonly #allowed: ReadonlySet<string>;

  /** @throws {Error} if an origin is not in the form that browsers send. */
  constructor(origins: readonly string[]) {
    this.#allowed = new Set(origins.map(browserOrigin));
  }

  get any(): boolean {
    return this.#allowed.size > 0;
  }

  /** Returns true if the origin is neither the server's own nor allowed. */
  foreign(headers: Headers): boolean {
    const origin = headers.get('origin');
    if (origin === undefined || this.#allowed.has(origin)) return false;
    const host = headers.get('host')?.toLowerCase();
    return origin !== `http://${host}` && origin !== `https://${host}`;
  }

  addHeaders(headers: Record<string, string>, request: Headers): void {
    if (!this.any) return;
    headers.Vary = 'Origin';
    const origin = request.get('origin');
    if (origin === undefined || !this.#allowed.has(origin)) return;
    headers['Access-Control-Allow-Origin'] = origin;
    headers['Access-Control-Expose-Headers'] = EXPOSED;
  }

  preflight(request: Headers, methods: string): Record<string, string> {
    const origin = request.get('origin');
    if (origin === undefined || !this.#allowed.has(origin)) return {};
    return {
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers':
        'Content-Type, Traceparent, X-Agent-Public-Key, X-Agent-Signature, X-Timestamp',
      'Access-Control-Max-Age': '600',
    };
  }
}

/**
 * Validates an origin in the form that browsers send: scheme, host and non-default port, in lower
 * case, without a path, user or `*`.
 *
 * @throws {Error} if the text is not in this form.
 */
export function browserOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && ['http:', 'https:'].includes(url.protocol) && url.origin === text) return text;
  const example = url && url.origin !== 'null' ? url.origin : 'https://a.example';
  const expected = `expected scheme, host and port, such as ${example}`;
  throw new Error(`invalid origin: ${JSON.stringify(text)} (${expected})`);
}

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Random digits, shared by 65,536 ids, whose last four digits count up. Drawing a random id for
 * each request would take four times as long.
 */
let drawn = '';
let count = 0xffff;

/** Returns a UUID, unique per request. */
export function requestId(): string {
  count = (count + 1) & 0xffff;
  if (count === 0) drawn = randomUUID().slice(0, -4);
  return `${drawn}${digits[count >> 8]}${digits[count & 0xff]}`;
}

/*
 * Allowed host names. With DNS rebinding, a foreign web page makes its own name resolve to this
 * machine, and the browser treats the server as the page's origin. The Host header reveals this.
 */

const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::\d{0,5})?$/;
const NAME = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  /** The most recently accepted header, cached because most requests send the same header. */
  #last = '';

  /** @throws {Error} if a name is invalid. */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', hostname().toLowerCase(), ...names.map(servedName)]);
  }

  /**
   * Returns true if the Host header is allowed. IP addresses are allowed, because they cannot be
   * rebound. A missing header is allowed, because browsers always send the header.
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
 * Validates a host name and returns it in lower case.
 *
 * @throws {Error} if the name is invalid.
 */
export function servedName(text: string): string {
  const name = nameOf(text);
  if (name !== null && text.toLowerCase() === name) return name;
  const expected = 'expected a name without scheme, port or path, such as network.example';
  throw new Error(`invalid host name: ${JSON.stringify(text)} (${expected})`);
}

/** Returns the lower-case name or address in a Host header, or null if the header is malformed. */
function nameOf(host: string): string | null {
  const found = HOST.exec(host)?.[1]?.toLowerCase();
  if (found === undefined) return null;
  const name = found.startsWith('[') ? found.slice(1, -1) : found.replace(/\.$/, '');
  return isIP(name) !== 0 || NAME.test(name) ? name : null;
}

/*
 * A request's budget: the body bytes that it may still send, the memory that it holds, and its cost
 * to the address if no valid signature vouches for the request.
 */

export type Problem = { quota: Quota } | { refusal: Refusal };

type BodyClass = keyof typeof serverBounds.bodyClasses;

/**
 * Bytes in request bodies in flight, by class and address. Bounds the memory that a flood can fill.
 */
class BodiesInFlight {
  /** Bytes by class, and by class and address. */
  readonly #bytes = new Map<string, number>();

  /** Adds bytes. Returns false if the class or the address has too many. */
  take(kind: BodyClass, address: string, bytes: number): boolean {
    const { total, ofAddress } = serverBounds.bodyClasses[kind];
    const all = (this.#bytes.get(kind) ?? 0) + bytes;
    const own = (this.#bytes.get(`${kind} ${address}`) ?? 0) + bytes;
    if (all > total || own > ofAddress) return false;
    this.#add(kind, bytes);
    this.#add(`${kind} ${address}`, bytes);
    return true;
  }

  release(kind: BodyClass, address: string, bytes: number): void {
    this.#add(kind, -bytes);
    this.#add(`${kind} ${address}`, -bytes);
  }

  #add(key: string, bytes: number): void {
    const left = (this.#bytes.get(key) ?? 0) + bytes;
    if (left > 0) this.#bytes.set(key, left);
    else this.#bytes.delete(key);
  }
}

interface Sender {
  /** Account of the address; its subject is empty if nothing is counted. */
  address: Account;
  /** Registered key that the request names, in lower case, or null. */
  publicKey: string | null;
  /** True if the agent sent a valid signature from this address recently. */
  proven: boolean;
  declared: number | null;
  /** Time of the head by the wall clock, in Unix milliseconds. */
  wallMs: number;
}

export class RequestBudget {
  readonly publicKey: string | null;
  readonly address: Account;
  /** Time of the request by the wall clock, in Unix milliseconds. All its checks use this time. */
  readonly wallMs: number;
  /** Body bytes that the request may send. */
  bodyBytes = 0;
  problem: Problem | null = null;
  /**
   * True to read the body. A small body is read even after a refusal, because a new connection
   * costs more.
   */
  wanted = true;
  readonly #proven: boolean;
  readonly #declared: number | null;
  readonly #limits: Limits;
  readonly #bodies: BodiesInFlight;
  #received = 0;
  #bodyClass: BodyClass = 'unlimited';
  #reserved: Use | null = null;

  constructor(limits: Limits, bodies: BodiesInFlight, sender: Sender) {
    this.#limits = limits;
    this.#bodies = bodies;
    this.#declared = sender.declared;
    this.#proven = sender.proven;
    this.publicKey = sender.publicKey;
    this.address = sender.address;
    this.wallMs = sender.wallMs;
  }

  refuse(problem: Problem): this {
    const { small } = serverBounds.body;
    this.problem = problem;
    this.bodyBytes = small;
    this.wanted = this.#declared !== null && this.#declared <= small;
    return this;
  }

  take(bytes: number): boolean {
    const received = this.#received + bytes;
    if (this.#received === 0) this.#bodyClass = this.#classOf();
    if (received > this.bodyBytes) {
      this.problem ??= { refusal: tooLarge(received, this.bodyBytes) };
    } else if (!this.#bodies.take(this.#bodyClass, this.address.subject, bytes)) {
      this.problem ??= { refusal: refuse('BODIES_IN_FLIGHT') };
    } else {
      this.#received = received;
      return true;
    }
    return false;
  }

  #classOf(): BodyClass {
    if (!this.#limits.figures) return 'unlimited';
    if (this.bodyBytes <= serverBounds.body.small) return this.#proven ? 'provenSmall' : 'small';
    return this.#proven ? 'provenLarge' : 'large';
  }

  release(): void {
    if (this.#received === 0) return;
    this.#bodies.release(this.#bodyClass, this.address.subject, this.#received);
    this.#received = 0;
  }

  /** Reserves the cost of a possible refusal. Returns the exceeded quota, if any. */
  reserveRefusal(bytes: number): Quota | null {
    const { figures } = this.#limits;
    const isSmall = bytes <= serverBounds.body.small;
    if (!figures || (this.#proven && isSmall)) return null;
    const name = isSmall ? 'refused' : 'refused_large';
    const amount = isSmall ? countUnits(bytes, WRITE_UNIT_BYTES) : bytes;
    // A single request is always possible.
    const taken = this.address.take(name, Math.min(amount, figures[name]));
    if ('exceeded' in taken) return taken.exceeded;
    this.#reserved = taken.use;
    return null;
  }

  /** Ends the reservation, because the signature is valid or was not tried. */
  markVerified(): void {
    refund(this.#reserved);
    this.#reserved = null;
  }

  /** Ends the reservation. A 4xx response except 429 uses it up. All other responses are free. */
  conclude(status: number): void {
    if (status < 400 || status >= 500 || status === 429) this.markVerified();
    this.#reserved = null;
  }
}

/** Returns the units begun, at least one. */
export const countUnits = (bytes: number, unitBytes: number) =>
  1 + Math.floor(Math.max(0, bytes - 1) / unitBytes);

/** A request, with the names of unknown form fields. */
export interface Carried extends SignedRequest {
  unknownFields?: readonly string[];
}

type Signed = Carried | { refusal: Refusal };

export function refuseMediaType(
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

/** Builds the signed request from a body with the right media type. Only forms are asynchronous. */
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
 * Parses at most one large body per event-loop turn. Parsing a large body takes tens of
 * milliseconds, so a small request waits for at most one large body.
 */

/** Size above which a body counts as large. Smaller bodies take less than a millisecond. */
const LARGE_BYTES = 64 * 1024;

export class LargeBodies {
  readonly #limit = pLimit(1);

  /** Resolves when this body may be parsed. Returns null if the body need not wait. */
  waitTurn(bytes: number): Promise<void> | null {
    // Immediates run after the poll phase, so other requests are served between turns.
    return bytes <= LARGE_BYTES ? null : this.#limit(() => nextTurn());
  }
}
