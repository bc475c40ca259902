/** The server as it presents itself: what GET /api/v1/meta says, where a server has it. */
import { Client } from 'undici';
import { LoadError } from '../error.js';
import type { LoadResult } from '../result.js';

export interface Target {
  server: LoadResult['server'];
  /** By operation, per minute, before the profile's factor; empty where it is not known. */
  perMinute: Record<string, number>;
}

const ANSWER_MS = 5_000;
const ANSWER_BYTES = 1024 * 1024;

/** @throws {LoadError} when nobody answers. */
export async function lookAt(url: string): Promise<Target> {
  const meta = record(await metaOf(url));
  const limits = record(meta.limits);
  const numbers = Object.entries(record(limits.per_minute)).filter(
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
  };
}

/** The data of its answer; anything that is none of ours has none. */
async function metaOf(url: string): Promise<unknown> {
  const { origin, pathname } = new URL(url);
  const client = new Client(origin, { maxResponseSize: ANSWER_BYTES });
  try {
    const { body } = await client.request({
      method: 'GET',
      path: `${pathname.replace(/\/+$/, '')}/api/v1/meta`,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return await body.json().then((envelope) => record(envelope).data, failedToParse);
  } catch (error) {
    throw new LoadError(`${url} does not answer: ${causeOf(error)}`);
  } finally {
    client.destroy(() => {});
  }
}

function failedToParse(error: unknown): undefined {
  if (error instanceof SyntaxError) return undefined;
  throw error;
}

function causeOf(error: unknown): string {
  const { name, message, code } = error as { name: string; message: string; code?: string };
  if (name === 'TimeoutError') return `nothing came within ${ANSWER_MS / 1000} s`;
  return message || code || name;
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : null);
