/** A subscriber that switches nodes every second. Expects every event exactly once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Live } from '../service/live.js';
import type { Agent } from '../service/signer.js';
import type { NodeProcess } from './processes.js';

const topics = ['blocks', 'consensus', 'network', 'social', 'outcomes'];

/** Time spent at a node, and timeout for a node that does not respond. */
const STAY_MS = 1_000;
const PATIENCE_MS = 4_000;

export interface Hopper {
  /** Sequence numbers of received events, in order. */
  seqs: number[];
  hops: number;
  stop(): Promise<void>;
}

/** Follows all events from the first event on. */
export function hopper(nodes: readonly NodeProcess[], agent: Agent, epoch: string): Hopper {
  const seqs: number[] = [];
  let going = true;
  const found = { seqs, hops: 0, stop };
  const run = async () => {
    for (let at = 0; going; at += 1) {
      const { url } = nodes[at % nodes.length]!;
      const live = await Live.open(`${url.replace('http', 'ws')}/ws/v1`).catch(() => null);
      if (live) await stay(live).catch(() => {});
      else await sleep(100);
    }
  };
  const stay = async (live: Live) => {
    const end = setTimeout(() => live.socket.terminate(), PATIENCE_MS);
    try {
      await live.auth(agent);
      const since = { epoch, seq: seqs.at(-1) ?? 0 };
      const { gap } = await live.subscribe(topics, since);
      if (gap) throw new Error(`a gap after ${since.seq}`);
      clearTimeout(end);
      found.hops += 1;
      setTimeout(() => live.socket.terminate(), STAY_MS);
      for (;;) {
        const { seq } = await live.next();
        if (seq !== undefined) seqs.push(seq);
      }
    } finally {
      clearTimeout(end);
      live.socket.terminate();
    }
  };
  const done = run();
  async function stop() {
    going = false;
    await done;
  }
  return found;
}
