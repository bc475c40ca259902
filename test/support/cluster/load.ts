/** Mixed load on the nodes of a network: agents that vote, propose, post memes, update and read. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, meme, propose, signed, stamp, transaction, vote } from '../service/signer.js';
import { askOnce, insist, type NodeProcess, readFrom, type Told } from './processes.js';

/** Between two requests of an agent: what is asked about is the faults, not how much fits. */
const PAUSE_MS = 20;
const PROBE_MS = 200;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/** A request that is done each time, and can be told from all others. */
export function update(by: Agent) {
  const at = stamp();
  const path = `/api/v1/agents/${by.agentId}/status`;
  return signed(by, 'PUT', path, { status: 'active', reason: `at ${at}` }, at);
}

/** A proposal with transactions that no other has. */
function proposal(by: Agent, parent_hash: string) {
  const transactions = Array.from({ length: 5 }, () => transaction(by, 'town', stamp()));
  return propose(by, { parent_hash, transactions });
}

export interface Load {
  /** What became of each write. */
  told: Told[];
  /** When somebody was told that a write is done: milliseconds, ascending. */
  doneAt: number[];
  reads: number;
  /** Resolves when so many more writes were done. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Every agent asks one thing after the other, of whichever node answers, until told to stop. Some
 * requests are sent once only: what became of those nobody may know. The first agent asks all nodes
 * for the same at once, to find out when none takes writes.
 * @param below whole numbers by chance, less than `most`.
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
  /** Whether any node takes writes: all are asked at once, and one that is done is done once. */
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

/** Whether it was told as done. */
export const isDone = ({ status }: Told): boolean => status !== null && status < 300;

/** The longest time, in milliseconds, in which nobody was told anything between two times. */
export function longestPause(doneAt: readonly number[], from: number, to: number): number {
  const between = [from, ...doneAt.filter((at) => from < at && at < to), to];
  return Math.max(...between.slice(1).map((at, index) => at - between[index]!));
}
