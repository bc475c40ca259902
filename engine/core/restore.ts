/** Fills an engine's memory from the records of a stored network: load, not replay. */
import { limits } from '../protocol/limits.js';
import type { Genesis, RecordKey } from '../protocol/schema/index.js';
import { deadlineId } from './close.js';
import type { Reader } from './reader.js';
import { METRICS, newState, type State } from './state.js';
import { positionOf } from './tables/electorate.js';

export function restoreState(genesis: Genesis, reader: Reader, at: number): State {
  const head = reader.read('network', 'head');
  if (!head) throw new Error('the store has no head record');
  const state = newState(genesis, reader, head);
  state.now = at;
  restoreAgents(state);
  state.electorates.restore(head.electorates);
  for (const { key } of reader.range('open')) {
    const [what, id] = key as readonly [string, string];
    if (what === 'alliance') state.alliances.restore(reader.read('alliances', id)!);
    else restoreBlock(state, id);
  }
  restoreThroughput(state, at);
  if (head.metrics_at !== 0) state.deadlines.set(METRICS, head.metrics_at);
  return state;
}

function restoreAgents(state: State): void {
  // Records ascend by id; ordinals put each agent in its place.
  for (const { key, value: profile } of state.reader.range('agents')) {
    state.agents.restore(profile, state.reader.read('agent_states', key)!);
  }
  for (const { key, value } of state.reader.range('standings')) {
    state.standings.add(key as number, value);
  }
}

/** An open block counts its stored votes again: they, not a tally, are the truth. */
function restoreBlock(state: State, hash: string): void {
  const { context } = state.reader.read('blocks', hash)!;
  const proposal = state.reader.proposal(context.entry);
  const electorate = state.electorates.get(context.electorate);
  const { ordinal } = context;
  const votes = [...state.reader.range('votes', { from: [ordinal], to: [ordinal + 1] })].map(
    ({ key, value }) => ({ ...value, position: positionOf(electorate, voterOf(key)) }),
  );
  const block = state.blocks.restore(context, proposal, electorate);
  for (const { position, decision, meme_references } of votes) {
    block.ballots.cast(position, decision, meme_references);
  }
  state.deadlines.set(deadlineId(hash), context.deadline);
}

const voterOf = (key: RecordKey) => (key as readonly [number, number])[1];

function restoreThroughput(state: State, at: number): void {
  const recent: { at: number; count: number }[] = [];
  const heights = state.reader.range('heights', { reverse: true });
  for (const { value } of heights) {
    const { context } = state.reader.read('blocks', value.block_hash)!;
    // What leaves the window just now still has its last report to come.
    if (context.closed_at < at - limits.throughputWindowMs) break;
    recent.push({ at: context.closed_at, count: context.transactions });
  }
  for (const { at: closedAt, count } of recent.reverse()) state.throughput.add(closedAt, count);
}
