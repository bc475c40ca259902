/** Mixed load on cluster nodes: votes, proposals, memes, status updates and reads. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, meme, propose, signed, stamp, transaction, vote } from '../service/signer.js';
import { askOnce, insist, type NodeProcess, readFrom, type Told } from './processes.js';

/** Pause between an agent's requests, because these tests do not measure throughput. */
const PAUSE_MS = 20;
const PROBE_MS = 200;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/** Builds a unique request that is always accepted. */
export function update(by: Agent) {
  const at = stamp();
  const path = `/api/v1/agents/${by.agentId}/status`;
  return signed(by, 'PUT', path, { status: 'active', reason: `at ${at}` }, at);
}

/** Builds a proposal with unique transactions. */
function proposal(by: Agent, parent_hash: string) {
  const transactions = Array.from({ length: 5 }, () => transaction(by, 'town', stamp()));
  return propose(by, { parent_hash, transactions });
}

export interface Load {
  /** Outcomes of the writes. */
  told: Told[];
  /** Times of acknowledged writes, in milliseconds, ascending. */
  doneAt: number[];
  reads: number;
  /** Resolves after this number of further writes. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Each agent sends requests one at a time to any responding node until stopped. Some requests are
 * sent only once, so their outcome can remain unknown. The first agent sends the same request to
 * all nodes, to find times when no node accepts writes.
 * @param below draws a whole number below `most`.
 */
export function mixedLoad(
  nodes: readonly NodeProcess[],
  [prober, ...agents]: readonly [Agent, ...Agent[]],
  below: (most: number) => number,
): Load {
  let going = true;
  const found: Load = { told: [], doneAt: [], reads: 0, more, stop };

  const read = async (first: number, path: string) => {
    const data = await readFrom(nodes, first, path);
    found.reads += 1;
    return data;
  };

  const next = async (by: Agent, first: number, seen: Set<string>) => {
    const { blocks } = await read(first, '/api/v1/blocks?status=voting');
    const hashes: string[] = blocks.map((block: { block_hash: string }) => block.block_hash);
    const unseen = hashes.find((hash) => !seen.has(hash));
    if (unseen !== undefined) {
      seen.add(unseen);
      return vote(by, { block_hash: unseen, decision: below(4) ? 'approve' : 'reject' });
    }
    const drawn = below(10);
    if (drawn < 3) return proposal(by, (await read(first, '/api/v1/network/state')).head_hash);
    if (drawn > 3) return update(by);
    return meme(by, { file: Buffer.concat([PNG, Buffer.from(stamp().padEnd(2_000, '.'))]) });
  };

  const run = async (by: Agent, index: number) => {
    const seen = new Set<string>();
    for (let turn = index; going; turn += 1) {
      const request = await next(by, turn, seen);
      const send = below(8) ? insist : askOnce;
      note(await send(nodes, request, turn));
      await sleep(PAUSE_MS);
    }
  };
  /** Sends one idempotent write to all nodes, to test if any node accepts writes. */
  const probe = async () => {
    const sent: Promise<void>[] = [];
    for (; going; await sleep(PROBE_MS)) {
      const request = update(prober);
      for (const at of nodes.keys()) sent.push(askOnce(nodes, request, at).then(note));
    }
    await Promise.all(sent);
  };
  const note = (told: Told) => {
    found.told.push(told);
    if (isDone(told)) found.doneAt.push(performance.now());
  };
  const done = Promise.all([...agents.map(run), probe()]);

  async function more(count: number) {
    const enough = found.doneAt.length + count;
    while (found.doneAt.length < enough) await sleep(20);
  }
  async function stop() {
    going = false;
    await done;
  }
  return found;
}

/** Returns true for an acknowledged write. */
export const isDone = ({ status }: Told): boolean => status !== null && status < 300;

/** Returns the longest time without an acknowledged write between two times, in milliseconds. */
export function longestPause(doneAt: readonly number[], from: number, to: number): number {
  const between = [from, ...doneAt.filter((at) => from < at && at < to), to];
  return Math.max(...between.slice(1).map((at, index) => at - between[index]!));
}
