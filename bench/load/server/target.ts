/** The server as it presents itself: what GET /api/v1/meta says, where a server has it. */
import { LoadError } from '../error.js';
import { isRecord } from '../json.js';
import type { LoadResult } from '../result.js';
import { Asker } from './ask.js';

export interface Target {
  server: LoadResult['server'];
  /** By operation, per minute; empty where it is not known. */
  perMinute: Record<string, number>;
  /** Whether those are in force; an older server shows them before its profile's factor. */
  inForce?: boolean;
}

/** Not long: nothing else has begun. */
const ANSWER_MS = 5_000;

/** @throws {LoadError} when nobody answers. */
export async function lookAt(url: string): Promise<Target> {
  const meta = await metaOf(url);
  const limits = recordOf(meta.limits);
  const numbers = Object.entries(recordOf(limits.per_minute)).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return {
    server: {
      url,
      version: text(meta.version),
      limits_profile: text(limits.profile),
      durable: typeof meta.durable === 'boolean' ? meta.durable : null,
      network_id: text(meta.network_id),
      epoch: text(meta.epoch),
    },
    perMinute: Object.fromEntries(numbers),
    inForce: isRecord(limits.windows),
  };
}

/** Where a browser sees the network of a server; null where it serves no page, or says nothing. */
export async function pageOf(url: string): Promise<string | null> {
  try {
    const { page } = await dataOf(url, '/');
    const found = typeof page === 'string' ? new URL(page, url) : null;
    // A link that leads elsewhere would be the server's word against its own address.
    return found?.origin === new URL(url).origin ? found.href : null;
  } catch {
    return null;
  }
}

async function metaOf(url: string): Promise<Record<string, unknown>> {
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
  const asker = new Asker(url, 1);
  const signal = AbortSignal.timeout(ANSWER_MS);
  const headers = { Accept: 'application/json' };
  try {
    return recordOf((await asker.ask({ method: 'GET', target, headers }, signal)).data);
  } finally {
    await asker.close();
  }
}

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : null);
