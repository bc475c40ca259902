/** Polls as the log of a network recorded them: blocks, electors with weights, and votes. */
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { RecordKey, RecordOf, Table } from '../../engine/protocol/schema/record.js';
import { storeError } from '../../engine/store/messages.js';
import { keysUnder, type Store } from '../../engine/store/store.js';

export interface RecordedElector {
  /** Number of the agent, in order of registration. */
  agent: number;
  agent_id: string;
  name: string;
  personality: string;
  weight: number;
}

/** Counted vote. */
export interface RecordedVote {
  /** Position of the elector. */
  elector: number;
  decision: Decision;
  /** Sequence number of the vote's entry. */
  entry: number;
  meme_references: readonly string[];
  ballot?: unknown;
  /** Milliseconds since the proposal. */
  ms: number;
}

/** Outcome of a block: its status, and the chosen option if there is one. */
export interface Outcome {
  status: string;
  choice?: string;
}

/** A poll to count under other rules. */
export interface RecordedPoll {
  /** sha256, hex. */
  hash: string;
  /** Number of the block, in order of proposal, as in blocks.csv. */
  number: number;
  height: number;
  options: readonly string[];
  /** Original names of options, by name; only those that differ. */
  labels?: Readonly<Record<string, string>>;
  /** Null if the source of the votes records no outcome. */
  recorded: Outcome | null;
  electors: readonly (RecordedElector & {
    /** Number of voters with this weight together; 1 for an agent. */
    voters: number;
  })[];
  /** In counting order. */
  votes: readonly Pick<RecordedVote, 'elector' | 'decision' | 'ballot' | 'ms'>[];
  /** Number of electors that could still have voted when the recorded rule closed the block. */
  waiting: number;
}

type BlockContext = RecordOf['blocks']['context'];

/** Reads a record. @throws {StoreError} if the record is missing. */
export function readRecord<T extends Table>(store: Store, table: T, key: RecordKey): RecordOf[T] {
  const json = store.get(table, key);
  if (json !== undefined) return JSON.parse(json) as RecordOf[T];
  throw storeError('RECORD_MISSING', { table, key: JSON.stringify(key) });
}

/** Reads a block's electors, ascending by number, and its votes in counting order. */
export function readElectorate(store: Store, block: BlockContext) {
  const { agents, weights } = readRecord(store, 'electorates', block.electorate);
  const electors = agents.map((ordinal, at): RecordedElector => {
    const { agent_id } = readRecord(store, 'agent_numbers', ordinal);
    const { name, personality } = readRecord(store, 'agents', agent_id);
    return { agent: ordinal, agent_id, name, personality, weight: weights[at]! };
  });
  const positions = new Map(agents.map((ordinal, at) => [ordinal, at]));
  const votes = [...store.range('votes', keysUnder(block.ordinal))].map(
    ({ key, json }): RecordedVote => {
      const { at, ...vote } = JSON.parse(json) as RecordOf['votes'];
      const elector = positions.get((key as readonly number[])[1]!)!;
      return { elector, ...vote, ms: at - block.proposed_at };
    },
  );
  votes.sort((a, b) => a.entry - b.entry);
  return { electors, votes };
}

/** Blocks of a store that no rule decided. */
export interface Undecided {
  voting: number;
  orphaned: number;
}

/** Formats the numbers of these blocks; null if there are none. */
export function undecidedText({ orphaned, voting }: Undecided): string | null {
  const blocks = (count: number) => (count === 1 ? 'block' : 'blocks');
  const parts = [
    ...(orphaned > 0 ? [`${orphaned} orphaned ${blocks(orphaned)}`] : []),
    ...(voting > 0 ? [`${voting} ${blocks(voting)} in voting`] : []),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

/** Decided blocks of a network, in order of proposal, and the number of its other blocks. */
export interface RecordedBlocks {
  count: number;
  undecided: Undecided;
  polls(): Iterable<RecordedPoll>;
}

/** Lists decided blocks, whose polls are read on demand. @param labels options' original names. */
export function readPolls(
  store: Store,
  labels: Readonly<Record<string, string>> = {},
): RecordedBlocks {
  const undecided: Undecided = { voting: 0, orphaned: 0 };
  const found: { ordinal: number; hash: string }[] = [];
  for (const { json } of store.range('blocks')) {
    const { state, context } = JSON.parse(json) as RecordOf['blocks'];
    if (state === 'voting' || state === 'orphaned') undecided[state] += 1;
    else found.push({ ordinal: context.ordinal, hash: context.block_hash });
  }
  found.sort((a, b) => a.ordinal - b.ordinal);
  const own = Object.keys(labels).length === 0 ? {} : { labels };
  return {
    count: found.length,
    undecided,
    *polls() {
      for (const { hash } of found) yield { ...readPoll(store, hash), ...own };
    },
  };
}

function readPoll(store: Store, hash: string): RecordedPoll {
  const { state: status, context: block } = readRecord(store, 'blocks', hash);
  const { electors, votes } = readElectorate(store, block);
  const { ordinal: number, height, options = [], choice, closed_at, deadline } = block;
  return {
    ...{ hash, number, height, options },
    recorded: { status, ...(choice === undefined ? {} : { choice }) },
    electors: electors.map((elector) => ({ ...elector, voters: 1 })),
    votes,
    waiting: closed_at >= deadline ? 0 : electors.length - votes.length,
  };
}
