/** All that one engine holds, and the parts of it. Commands change it; nothing outside does. */
import type { Genesis, Head, ProposeCommand } from '../protocol/schema/index.js';
import { GENESIS_HASH } from '../protocol/schema/index.js';
import { Changes } from './changes.js';
import { Outbox } from './outbox.js';
import type { Reader } from './reader.js';
import { Agents } from './tables/agents.js';
import { Alliances } from './tables/alliances.js';
import { Blocks } from './tables/blocks.js';
import { Deadlines } from './tables/deadlines.js';
import { Electorates } from './tables/electorates.js';
import { Standings } from './tables/standings.js';
import { Throughput } from './tables/throughput.js';

export interface State {
  readonly genesis: Genesis;
  readonly reader: Reader;
  readonly outbox: Outbox;
  readonly changes: Changes;
  readonly deadlines: Deadlines;
  readonly agents: Agents;
  readonly standings: Standings;
  readonly alliances: Alliances;
  readonly electorates: Electorates;
  readonly blocks: Blocks;
  readonly throughput: Throughput;
  /**
   * Transactions among which no duplicate was found, and the head at which they were looked up:
   * only another final block changes that.
   */
  readonly lookedUp: WeakMap<ProposeCommand['transactions'], string>;
  /** Finalized height and head, and when metrics are due (0: never). */
  height: number;
  headHash: string;
  metricsAt: number;
  /** Failed voting periods in a row, and how many blocks there were when the last was counted. */
  failed: number;
  failedBlocks: number;
  /** Of the entry being applied. */
  now: number;
  entry: number;
}

export const METRICS = 'metrics';

export function newState(genesis: Genesis, reader: Reader, head?: Head): State {
  const outbox = new Outbox();
  const deadlines = new Deadlines();
  const agents = new Agents(outbox);
  const standings = new Standings();
  const alliances = new Alliances(outbox, deadlines);
  return {
    genesis,
    reader,
    outbox,
    changes: new Changes(),
    deadlines,
    agents,
    standings,
    alliances,
    electorates: new Electorates({ genesis, agents, alliances, standings, reader }),
    blocks: new Blocks(genesis, agents, outbox, head?.blocks ?? 0),
    throughput: new Throughput(),
    lookedUp: new WeakMap(),
    height: head?.height ?? 0,
    headHash: head?.head_hash ?? GENESIS_HASH,
    metricsAt: head?.metrics_at ?? 0,
    failed: head?.failed ?? 0,
    failedBlocks: head?.failed_blocks ?? 0,
    now: 0,
    entry: 0,
  };
}

export function headOf(state: State): Head {
  return {
    height: state.height,
    head_hash: state.headHash,
    agents: state.agents.count,
    blocks: state.blocks.count,
    electorates: state.electorates.count,
    metrics_at: state.metricsAt,
    failed: state.failed,
    failed_blocks: state.failedBlocks,
  };
}
