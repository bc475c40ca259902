/** What a workload has to know of the server before it begins, by reads that any server has. */
import { LoadError } from '../error.js';
import { isRecord } from '../json.js';
import type { Asker } from './ask.js';

export interface Head {
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
export async function lookAround(asker: Asker): Promise<Surroundings> {
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
export async function lookAtHead(asker: Asker): Promise<Head> {
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
export async function validatorKeys(asker: Asker): Promise<string[]> {
  const target = '/api/v1/network/agents';
  const { validators } = (await asker.read(target)).data;
  if (!Array.isArray(validators)) {
    throw new LoadError(`${asker.url} answered GET ${target} without a list of validators`);
  }
  return validators.filter(isRecord).map(({ public_key }) => String(public_key).toLowerCase());
}

/** By an added read; null where it is not known. */
async function newestFinalized(asker: Asker): Promise<string | null> {
  const target = '/api/v1/blocks?status=finalized&limit=1';
  const { data } = await asker.ask({ method: 'GET', target });
  const [block] = isRecord(data) && Array.isArray(data.blocks) ? data.blocks : [];
  return isRecord(block) && isHash(block.block_hash) ? block.block_hash : null;
}

async function metaOf(asker: Asker): Promise<Record<string, unknown>> {
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
