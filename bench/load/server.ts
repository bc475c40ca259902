/**
 * The server under test, asked outside of a run's measurement, one promise for each request: where
 * its API is, its limits, its clock, the head of its chain. Measured requests go through the run's
 * sender.
 */
import pLimit from 'p-limit';
import { Pool } from 'undici';
import type { LoadResult } from './result.js';

/** Why a run cannot begin: something that the user or the server has to mend, said in one line. */
export class LoadError extends Error {
  override name = 'LoadError';
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** The object that a text is; an empty one where it is none. */
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
  /** From /api/v1/ on. */
  target: string;
  headers?: Record<string, string>;
  body?: string | null;
}

/** What came back; `data` is undefined unless the answer is one of success. */
export interface Answer {
  status: number;
  data: unknown;
  /** The server's Date header, or null. */
  date: string | null;
  /** One line for people: the status, and what the server says about it. */
  text: string;
}

/** No answer within this time is no answer. */
const ANSWER_MS = 15_000;
/** A list of 10,000 agents is 2 MiB; what is far above is nobody's answer. */
const ANSWER_BYTES = 16 * 1024 * 1024;

export class ServerClient {
  readonly url: string;
  readonly #pool: Pool;
  readonly #prefix: string;

  constructor(url: string, connections: number) {
    const { origin, pathname } = new URL(url);
    this.url = url;
    this.#prefix = pathname === '/' ? '' : pathname;
    this.#pool = new Pool(origin, {
      connections,
      pipelining: 1,
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      maxResponseSize: ANSWER_BYTES,
    });
  }

  /** @throws {LoadError} when nobody answers. */
  async ask({ method, target, headers = {}, body = null }: Request, signal?: AbortSignal) {
    try {
      const path = `${this.#prefix}${target}`;
      const options = { method, path, headers, body, ...(signal ? { signal } : {}) };
      const answer = await this.#pool.request(options);
      return read(answer.statusCode, await answer.body.text(), answer.headers.date);
    } catch (cause) {
      const { message, code } = cause as Error & { code?: string };
      const why = message || (code ?? String(cause));
      throw new LoadError(`${this.url} does not answer ${method} ${target}: ${why}`, { cause });
    }
  }

  /** The data of a read that has to work. @throws {LoadError} that says what came instead. */
  async read(target: string): Promise<Answer & { data: Record<string, unknown> }> {
    const answer = await this.ask({ method: 'GET', target });
    if (isRecord(answer.data)) return { ...answer, data: answer.data };
    const came = `${this.url} answered GET ${target} with ${answer.text}`;
    throw new LoadError(`${came}; expected 200 and {success: true, data: {...}}`);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
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
  if (!isRecord(error)) return `${status}, and no error that could be read`;
  return `${status} ${error.code}: ${error.message}`;
}

/** Works on all, some at a time. The first failure is thrown, and no further work begins. */
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
  /** Null when the server does not show it. */
  hash: string | null;
  height: number;
}

export interface Surroundings {
  /** In what transactions are signed for; null when the server does not show it. */
  networkId: string | null;
  /** By how much the server's clock is ahead of this machine's. */
  offsetMs: number;
  /** Whether a proposal may be sent while its parent is in voting. */
  takesEarly: boolean;
}

const genesisHash = '0'.repeat(64);
const isHash = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value);

/** @throws {LoadError} when the server does not answer as the interface says. */
export async function readSurroundings(asker: ServerClient): Promise<Surroundings> {
  const state = await asker.read('/api/v1/network/state');
  const meta = await metaOf(asker);
  const { network_id = meta.network_id, server_time } = state.data;
  return {
    networkId: typeof network_id === 'string' ? network_id : null,
    offsetMs: offsetOf(server_time, state.date),
    takesEarly: isRecord(meta.limits) && isRecord(meta.limits.early_proposals),
  };
}

/** Where the chain is now. @throws {LoadError} when the server does not say its height. */
export async function readHead(asker: ServerClient): Promise<Head> {
  const { data } = await asker.read('/api/v1/network/state');
  const height = Number(data.block_height);
  if (!Number.isInteger(height) || height < 0) {
    const came = JSON.stringify(data.block_height);
    throw new LoadError(`${asker.url}: block_height is ${came}; expected an integer of 0 or more`);
  }
  if (isHash(data.head_hash)) return { hash: data.head_hash, height };
  if (height === 0) return { hash: genesisHash, height };
  return { hash: await newestFinalized(asker), height };
}

/** Keys of the active validators. */
export async function validatorKeys(asker: ServerClient): Promise<string[]> {
  const target = '/api/v1/network/agents';
  const { validators } = (await asker.read(target)).data;
  if (!Array.isArray(validators)) {
    throw new LoadError(`${asker.url} answered GET ${target} without a list of validators`);
  }
  return validators.filter(isRecord).map(({ public_key }) => String(public_key).toLowerCase());
}

/** By an added read; null where it is not known. */
async function newestFinalized(asker: ServerClient): Promise<string | null> {
  const target = '/api/v1/blocks?status=finalized&limit=1';
  const { data } = await asker.ask({ method: 'GET', target });
  const [block] = isRecord(data) && Array.isArray(data.blocks) ? data.blocks : [];
  return isRecord(block) && isHash(block.block_hash) ? block.block_hash : null;
}

async function metaOf(asker: ServerClient): Promise<Record<string, unknown>> {
  const { data } = await asker.ask({ method: 'GET', target: '/api/v1/meta' });
  return isRecord(data) ? data : {};
}

/** The Date header has whole seconds: a smaller difference by it is none. */
function offsetOf(serverTime: unknown, date: string | null): number {
  const exact = typeof serverTime === 'string' ? Date.parse(serverTime) : Number.NaN;
  if (!Number.isNaN(exact)) return exact - Date.now();
  const rough = date === null ? Number.NaN : Date.parse(date) - Date.now();
  return Math.abs(rough) > 2_000 ? rough : 0;
}

export interface Target {
  server: LoadResult['server'];
  /** By operation, per minute; empty where it is not known. */
  perMinute: Record<string, number>;
  /** Whether those are in force; an older server shows them before its profile's factor. */
  inForce?: boolean;
}

/** Not long: nothing else has begun. */
const TARGET_ANSWER_MS = 5_000;

/** @throws {LoadError} when nobody answers. */
export async function readTarget(url: string): Promise<Target> {
  const meta = await metaOrNull(url);
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
    inForce: isRecord(limits.windows),
  };
}

/** Where a browser sees the network of a server; null where it serves no page, or says nothing. */
export async function findPage(url: string): Promise<string | null> {
  try {
    const { page } = await dataOf(url, '/');
    const found = typeof page === 'string' ? new URL(page, url) : null;
    // A link that leads elsewhere would be the server's word against its own address.
    return found?.origin === new URL(url).origin ? found.href : null;
  } catch {
    return null;
  }
}

async function metaOrNull(url: string): Promise<Record<string, unknown>> {
  try {
    return await dataOf(url, '/api/v1/meta');
  } catch (cause) {
    const { message } = cause as Error;
    const advice = 'expected a server there, such as folkmoot serve --limits off';
    throw new LoadError(`${message}; ${advice}`, { cause });
  }
}

/** The data of its answer; anything that is none of ours has none. */
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
