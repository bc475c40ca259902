/**
 * Unmeasured requests to the server under test: its limits, its clock, and the head of its chain.
 */
import pLimit from 'p-limit';
import { Pool } from 'undici';
import { Genesis } from '../../engine/protocol/schema/genesis.js';
import { findGenesisProblem } from '../../engine/rules/genesis-problem.js';
import { type NetworkRule, ruleOf } from '../../engine/rules/network-rule.js';
import { loadError } from './messages.js';
import type { LoadResult } from './result.js';

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Parses a JSON object; returns an empty object for any other text. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

interface Request {
  method: 'GET' | 'POST' | 'PUT';
  target: string;
  headers?: Record<string, string>;
  body?: string | null;
}

/** A response. `data` is undefined unless the response is a success. */
export interface Answer {
  status: number;
  data: unknown;
  date: string | null;
  /** One line for the user: the status, and the server's error. */
  text: string;
}

const ANSWER_MS = 15_000;
/** Response size limit. A list of 10,000 agents takes 2 MiB, so the limit leaves ample room. */
const ANSWER_BYTES = 16 * 1024 * 1024;

interface Place {
  url: string;
  pool: Pool;
  prefix: string;
}

/** Client of one server, or of several that replace each other. */
export class ServerClient {
  readonly #places: readonly Place[];
  #current = 0;

  constructor(urls: string | readonly string[], connections: number) {
    this.#places = [urls].flat().map((url) => {
      const { origin, pathname } = new URL(url);
      const timeouts = { headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS };
      const limits = { connections, pipelining: 1, maxResponseSize: ANSWER_BYTES };
      const pool = new Pool(origin, { ...timeouts, ...limits });
      return { url, pool, prefix: pathname === '/' ? '' : pathname };
    });
  }

  get url(): string {
    return this.#places[this.#current]!.url;
  }

  /**
   * Asks the current server, or the other ones if it does not respond. @throws {Failure}
   * `NO_RESPONSE`
   */
  async ask(request: Request, signal?: AbortSignal): Promise<Answer> {
    for (let left = this.#places.length - 1; ; left -= 1) {
      const used = this.#current;
      try {
        return await this.#askOne(this.#places[used]!, request, signal);
      } catch (error) {
        if (left === 0 || signal?.aborted) throw error;
        if (this.#current === used) this.#current = (used + 1) % this.#places.length;
      }
    }
  }

  async #askOne(
    { url, pool, prefix }: Place,
    { method, target, headers = {}, body = null }: Request,
    signal?: AbortSignal,
  ): Promise<Answer> {
    try {
      const path = `${prefix}${target}`;
      const options = { method, path, headers, body, ...(signal ? { signal } : {}) };
      const answer = await pool.request(options);
      return read(answer.statusCode, await answer.body.text(), answer.headers.date);
    } catch (cause) {
      const { message, code } = cause as Error & { code?: string };
      const why = message || (code ?? String(cause));
      throw loadError('NO_RESPONSE', { url, method, target, reason: why }, { cause });
    }
  }

  /** Reads data that every server has. @throws {Failure} `UNEXPECTED_RESPONSE` */
  async read(target: string): Promise<Answer & { data: Record<string, unknown> }> {
    const answer = await this.ask({ method: 'GET', target });
    if (isRecord(answer.data)) return { ...answer, data: answer.data };
    throw loadError('UNEXPECTED_RESPONSE', { url: this.url, target, response: answer.text });
  }

  async close(): Promise<void> {
    await Promise.all(this.#places.map(({ pool }) => pool.destroy()));
  }
}

function read(status: number, text: string, date: unknown): Answer {
  const envelope = parseObject(text);
  const good = status >= 200 && status < 300 && envelope.success === true;
  return {
    status,
    data: good ? envelope.data : undefined,
    date: typeof date === 'string' ? date : null,
    text: good ? String(status) : refusal(status, envelope.error),
  };
}

function refusal(status: number, error: unknown): string {
  if (!isRecord(error)) return `${status} without a readable error`;
  return `${status} ${error.code}: ${error.message}`;
}

/** Runs `work` on all items with limited concurrency. Rethrows, and stops at, the first error. */
export async function forEachLimited<T>(
  all: readonly T[],
  atATime: number,
  work: (one: T, index: number) => Promise<unknown>,
): Promise<void> {
  const limit = pLimit(atATime);
  try {
    await limit.map(all, work);
  } catch (error) {
    limit.clearQueue();
    throw error;
  }
}

interface Head {
  /** Null if the server does not report it. */
  hash: string | null;
  height: number;
}

export interface Surroundings {
  /** Network for which transactions are signed; null if the server does not report it. */
  networkId: string | null;
  offsetMs: number;
  /** True if a proposal may be sent while its parent is in voting. */
  takesEarly: boolean;
  rule: NetworkRule;
}

const genesisHash = '0'.repeat(64);
const isHash = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value);

/** @throws {Failure} if the response does not follow the protocol. */
export async function readSurroundings(asker: ServerClient): Promise<Surroundings> {
  const state = await asker.read('/api/v1/network/state');
  const { data } = await asker.ask({ method: 'GET', target: '/api/v1/meta' });
  const meta = recordOf(data);
  const { network_id = meta.network_id, server_time } = state.data;
  return {
    networkId: typeof network_id === 'string' ? network_id : null,
    offsetMs: offsetOf(server_time, state.date),
    takesEarly: isRecord(meta.limits) && isRecord(meta.limits.early_proposals),
    rule: ruleIn(meta),
  };
}

/** Returns the server's decision rule. A server that reports none decides by two thirds. */
function ruleIn(meta: Record<string, unknown>): NetworkRule {
  const genesis = Object.fromEntries(
    Object.keys(Genesis.properties).flatMap((name) => (name in meta ? [[name, meta[name]]] : [])),
  );
  // This program runs no rule modules. Like `majority`, they may need the votes of all electors.
  if (meta.policy === 'module') return ruleOf({ policy: 'majority' });
  const isKnown = findGenesisProblem(genesis) === null;
  return ruleOf(isKnown ? (genesis as Genesis) : { policy: 'bft' });
}

/** Reads the head of the chain. @throws {Failure} `INVALID_HEIGHT` */
export async function readHead(asker: ServerClient): Promise<Head> {
  const { data } = await asker.read('/api/v1/network/state');
  const height = Number(data.block_height);
  if (!Number.isInteger(height) || height < 0) {
    const height = JSON.stringify(data.block_height);
    throw loadError('INVALID_HEIGHT', { url: asker.url, height });
  }
  if (isHash(data.head_hash)) return { hash: data.head_hash, height };
  if (height === 0) return { hash: genesisHash, height };
  return { hash: await newestFinalized(asker), height };
}

/** Reads a list of agents. @throws {Failure} `NO_VALIDATORS` */
async function listAgents(asker: ServerClient, ...kinds: ('validators' | 'producers')[]) {
  const target = '/api/v1/network/agents';
  const { data } = await asker.read(target);
  const lists = kinds.map((kind) => data[kind]);
  if (!lists.every(Array.isArray)) throw loadError('NO_VALIDATORS', { url: asker.url, target });
  return lists.flat().filter(isRecord);
}

export const validatorKeys = async (asker: ServerClient): Promise<string[]> =>
  (await listAgents(asker, 'validators')).map((one) => String(one.public_key).toLowerCase());

export async function activeAgents(asker: ServerClient): Promise<Map<string, string>> {
  const all = await listAgents(asker, 'validators', 'producers');
  return new Map(all.map((one) => [String(one.public_key).toLowerCase(), String(one.id)]));
}

/** Reads the head from an optional endpoint; null if unknown. */
async function newestFinalized(asker: ServerClient): Promise<string | null> {
  const target = '/api/v1/blocks?status=finalized&limit=1';
  const { data } = await asker.ask({ method: 'GET', target });
  const [block] = isRecord(data) && Array.isArray(data.blocks) ? data.blocks : [];
  return isRecord(block) && isHash(block.block_hash) ? block.block_hash : null;
}

/** Returns the clock offset. The Date header shows seconds, so it counts from two of them on. */
function offsetOf(serverTime: unknown, date: string | null): number {
  const exact = typeof serverTime === 'string' ? Date.parse(serverTime) : Number.NaN;
  if (!Number.isNaN(exact)) return exact - Date.now();
  const rough = date === null ? Number.NaN : Date.parse(date) - Date.now();
  return Math.abs(rough) > 2_000 ? rough : 0;
}

/** Server clock minus local clock, and the largest error of the reading, in milliseconds. */
export interface ClockReading {
  offsetMs: number;
  uncertaintyMs: number;
}

const CLOCK_READINGS = 7;

/** Reads the server clock several times. Half of the shortest round trip bounds the error. */
export async function readClock(url: string): Promise<ClockReading | null> {
  const asker = new ServerClient(url, 1);
  try {
    let best: ClockReading | null = null;
    for (let reading = 0; reading < CLOCK_READINGS; reading += 1) {
      const [sentMs, wallMs] = [performance.now(), Date.now()];
      const { data } = await asker.read('/api/v1/network/state');
      const halfMs = (performance.now() - sentMs) / 2;
      const serverMs = Date.parse(String(data.server_time));
      if (Number.isNaN(serverMs)) return null;
      // Both clocks have a resolution of one millisecond.
      const found = { offsetMs: serverMs - wallMs - halfMs, uncertaintyMs: halfMs + 1 };
      if (best === null || found.uncertaintyMs < best.uncertaintyMs) best = found;
    }
    return best;
  } catch {
    return null;
  } finally {
    await asker.close();
  }
}

export interface Target {
  server: LoadResult['server'];
  /** Limit per operation, per minute; empty if unknown. */
  perMinute: Record<string, number>;
}

/** Response timeout, short because the run has not started. */
const TARGET_ANSWER_MS = 5_000;

/** @throws {Failure} `NO_SERVER` */
export async function readTarget(url: string): Promise<Target> {
  const meta = await readMeta(url).catch((cause: Error) => {
    throw loadError('NO_SERVER', { message: cause.message }, { cause });
  });
  const limits = recordOf(meta.limits);
  const numbers = Object.entries(recordOf(limits.per_minute)).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return {
    server: {
      url,
      version: textOrNull(meta.version),
      limits_profile: textOrNull(limits.profile),
      durable: typeof meta.durable === 'boolean' ? meta.durable : null,
      network_id: textOrNull(meta.network_id),
      epoch: textOrNull(meta.epoch),
    },
    perMinute: Object.fromEntries(numbers),
  };
}

/** Reads all servers, and returns the first. @throws {Failure} `NO_SERVER`, or `OTHER_NETWORK` */
export async function readTargets(urls: readonly string[], hasAgents: boolean): Promise<Target> {
  const targets = await Promise.all(urls.map(readTarget));
  const first = targets[0]!;
  const networkOf = ({ server }: Target) => server.epoch ?? server.network_id ?? 'none';
  const other = hasAgents && targets.find((one) => networkOf(one) !== networkOf(first));
  if (!other) return first;
  const [{ url }, values] = [other.server, { first: first.server.url, other: networkOf(other) }];
  throw loadError('OTHER_NETWORK', { url, ...values, expected: networkOf(first) });
}

/** Returns the URL of the server's web page; null if it serves no page. */
export async function findPage(url: string): Promise<string | null> {
  try {
    const { page } = await dataOf(url, '/');
    const found = typeof page === 'string' ? new URL(page, url) : null;
    // A link to a different origin is not trusted.
    return found?.origin === new URL(url).origin ? found.href : null;
  } catch {
    return null;
  }
}

export const readMeta = (url: string) => dataOf(url, '/api/v1/meta');

async function dataOf(url: string, target: string): Promise<Record<string, unknown>> {
  const asker = new ServerClient(url, 1);
  const signal = AbortSignal.timeout(TARGET_ANSWER_MS);
  const headers = { Accept: 'application/json' };
  try {
    return recordOf((await asker.ask({ method: 'GET', target, headers }, signal)).data);
  } finally {
    await asker.close();
  }
}

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

const textOrNull = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : null);
