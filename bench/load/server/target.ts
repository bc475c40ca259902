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

/** The data of its answer; anything that is none of ours has none. */
async function metaOf(url: string): Promise<Record<string, unknown>> {
  const asker = new Asker(url, 1);
  const signal = AbortSignal.timeout(ANSWER_MS);
  try {
    return recordOf((await asker.ask({ method: 'GET', target: '/api/v1/meta' }, signal)).data);
  } catch (cause) {
    const { message } = cause as Error;
    const advice = 'expected a server there, such as folkmoot serve --limits off';
    throw new LoadError(`${message}; ${advice}`, { cause });
  } finally {
    await asker.close();
  }
}

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : null);
