/**
 * The deterministic state machine: `apply(entry) -> step`. It is synchronous and total, reads no
 * clock, uses no randomness, and does no I/O except through its reader. A caller's mistake yields
 * an outcome. A thrown error is a bug, after which the engine must not be used again.
 */

import { assertInvariant } from '../protocol/invariants.js';
import { limits } from '../protocol/limits.js';
import type { Command, CommandKind, CommandOf } from '../protocol/schema/command.js';
import type { Event } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import type { Head, RecordKey } from '../protocol/schema/record.js';
import { column, compareDeadlines, type DormancyChange } from './agents.js';
import type { Change, Changes, Reader } from './changes.js';
import { discuss, meme, register, status } from './commands/agents.js';
import { allianceLeave, alliancePropose, allianceRespond } from './commands/alliances.js';
import {
  closeBlock,
  computeMetrics,
  deadlineId,
  propose,
  reportMetrics,
  vote,
} from './commands/blocks.js';
import { findElector } from './electorates.js';
import {
  type CommandRule,
  type FinalizedCount,
  getHead,
  isHead,
  METRICS,
  newState,
  type Outcome,
  type Precheck,
  refusedOutcome,
  type State,
} from './state.js';

/** An entry to apply. A tick carries no command. */
export interface Input {
  seq: number;
  at: number;
  command: Command | null;
}

/** Result of applying an entry. If the outcome is `refused` or `duplicate`, nothing changed. */
export interface Step {
  /** Null for a tick. */
  outcome: Outcome | null;
  events: readonly Event[];
  changes: readonly Change[];
  /** Agents that became dormant or woke up. @internal */
  turned: readonly DormancyChange[];
}

/** The last applied entry and event. */
export interface Position {
  seq: number;
  at: number;
  event_seq: number;
}

export type Summary = Omit<ReturnType<typeof computeMetrics>, 'tps'> & {
  head_hash: string;
  recent: readonly FinalizedCount[];
};

/** The state machine without log, clock or disk. */
export class Engine {
  readonly #state: State;
  readonly #last: Position;
  #savedHead: Head;

  private constructor(state: State, last: Position) {
    this.#state = state;
    this.#last = { ...last };
    this.#savedHead = getHead(state);
  }

  /**
   * Creates a network. The returned step is the result of entry 0 (genesis).
   *
   * @param changes receives the changed records. Default: each step returns its changes.
   */
  static create(
    genesis: Genesis,
    at: number,
    reader: Reader,
    changes?: Changes,
  ): { engine: Engine; step: Step } {
    const state = newState(genesis, reader, changes ? { changes } : {});
    const engine = new Engine(state, { seq: 0, at, event_seq: 0 });
    state.changes.put('network', 'head', getHead(state));
    return {
      engine,
      step: { outcome: null, events: [], changes: state.changes.take(), turned: [] },
    };
  }

  static restore(genesis: Genesis, reader: Reader, last: Position): Engine {
    return new Engine(restoreState(genesis, reader, last.at), last);
  }

  /** Position of the last entry. It changes with the next entry. */
  get position(): Readonly<Position> {
    return this.#last;
  }

  /**
   * Applies the next entry. The host must first apply a tick if a deadline before `at` is due, so
   * that a refused command leaves no trace.
   * @throws {Error} if the entry is out of sequence or a tick is missing.
   */
  apply({ seq, at, command }: Input): Step {
    this.#expect(seq, at, command);
    const state = this.#state;
    state.now = at;
    state.entry = seq;
    const outcome = command ? this.#do(command) : this.#tick(at);
    if (outcome && (outcome.result === 'refused' || outcome.result === 'duplicate')) {
      return { outcome, events: none, changes: none, turned: none };
    }
    this.#last.seq = seq;
    this.#last.at = at;
    const turned = state.agents.takeTurned();
    return { outcome, events: this.#events(), changes: this.#changes(), turned };
  }

  /** Returns the outcome if the command would change nothing; null if the command would apply. */
  precheck(command: Command, at: number): Outcome | null {
    this.#state.now = at;
    const precheck = check(this.#state, command);
    return 'outcome' in precheck ? precheck.outcome : null;
  }

  nextDeadline(): number | null {
    return this.#state.deadlines.next()?.deadline ?? null;
  }

  hasKey(publicKey: string): boolean {
    return this.#state.agents.byKey(publicKey) !== undefined;
  }

  /** Returns an agent's overall reputation, 0 to 1,000,000; 0 for an unknown key. */
  reputationOf(publicKey: string): number {
    const agent = this.#state.agents.byKey(publicKey);
    return agent ? this.#state.standings.get(agent.ordinal, column.overall) : 0;
  }

  /** Returns the minimum number of further votes that close a block; 0 if the block is not open. */
  votesUntilClose(blockHash: string): number {
    return this.#state.blocks.votesUntilClose(blockHash);
  }

  summary(): Summary {
    const { tps: _, ...figures } = computeMetrics(this.#state, this.#last.at);
    const { headHash, throughput } = this.#state;
    return { ...figures, head_hash: headHash, recent: throughput.recent };
  }

  #expect(seq: number, at: number, command: Command | null): void {
    const last = this.#last;
    assertInvariant(seq === last.seq + 1, 'ENTRY_SEQUENCE', seq, last.seq);
    assertInvariant(at >= last.at, 'TIME_BACKWARD', at, last.at);
    const due = this.nextDeadline();
    assertInvariant(!command || due === null || due >= at, 'TICK_MISSING', at, due);
  }

  #do(command: Command): Outcome {
    const precheck = check(this.#state, command);
    if ('outcome' in precheck) return precheck.outcome;
    const outcome = effect(this.#state, command, precheck.plan);
    if (outcome.result === 'accepted') this.#wake(command.public_key);
    return outcome;
  }

  /** Any accepted command ends dormancy. */
  #wake(publicKey: string): void {
    const { agents, electorates } = this.#state;
    const agent = agents.byKey(publicKey);
    if (!agent?.dormant) return;
    agents.send(agent, { type: 'acted' });
    electorates.electorsChanged();
  }

  /** Fires all deadlines before `at` by (deadline, id). The time of all effects is `at`. */
  #tick(at: number): null {
    const state = this.#state;
    for (;;) {
      const due = state.deadlines.next();
      if (!due || due.deadline >= at) return null;
      state.deadlines.remove(due.id);
      this.#fire(due.id, at);
      const next = state.deadlines.next();
      const isLater = next === null || compareDeadlines(due, next) < 0;
      assertInvariant(isLater, 'DEADLINE_ORDER', next?.id, due.id);
    }
  }

  #fire(id: string, at: number): void {
    const state = this.#state;
    if (id === METRICS) reportMetrics(state);
    else if (id.startsWith('ally_')) {
      state.alliances.send(id, { type: 'deadline', at }, state.changes);
      state.electorates.alliancesChanged();
    } else this.#expire(id.slice('block_'.length));
  }

  #expire(hash: string): void {
    const state = this.#state;
    const block = state.blocks.get(hash);
    assertInvariant(block !== undefined, 'DEADLINE_WITHOUT_BLOCK', hash);
    const verdict = state.blocks.verdict(block!, true);
    assertInvariant(verdict !== null, 'DEADLINE_UNDECIDED', hash);
    closeBlock(state, block!, verdict!);
  }

  #events(): Event[] {
    const fault = this.#state.outbox.firstFault();
    const failure = fault === undefined ? undefined : JSON.stringify(fault);
    assertInvariant(fault === undefined, 'ACTOR_FAULT', failure);
    const events = this.#state.outbox.take();
    let { event_seq: last } = this.#last;
    for (const event of events) {
      last += 1;
      event.seq = last;
    }
    this.#last.event_seq = last;
    return events;
  }

  #changes(): Change[] {
    const { agents, standings, changes } = this.#state;
    agents.save(changes);
    standings.save(changes);
    if (!changes.logged) return changes.take();
    if (!isHead(this.#state, this.#savedHead)) {
      this.#savedHead = getHead(this.#state);
      changes.put('network', 'head', this.#savedHead);
    }
    return changes.take();
  }
}

/** Events and changes of a refused command. */
const none: readonly never[] = [];

// The plan type is private to its rule.
const rules: { [K in CommandKind]: CommandRule<CommandOf<K>, unknown> } = {
  register: register as CommandRule<CommandOf<'register'>, unknown>,
  status: status as CommandRule<CommandOf<'status'>, unknown>,
  vote: vote as CommandRule<CommandOf<'vote'>, unknown>,
  propose: propose as CommandRule<CommandOf<'propose'>, unknown>,
  meme: meme as CommandRule<CommandOf<'meme'>, unknown>,
  discuss: discuss as CommandRule<CommandOf<'discuss'>, unknown>,
  alliance_propose: alliancePropose as CommandRule<CommandOf<'alliance_propose'>, unknown>,
  alliance_respond: allianceRespond as CommandRule<CommandOf<'alliance_respond'>, unknown>,
  alliance_leave: allianceLeave as CommandRule<CommandOf<'alliance_leave'>, unknown>,
};

const ruleOf = (command: Command) => rules[command.kind] as CommandRule<Command, unknown>;

function check(state: State, command: Command): Precheck<unknown> {
  if (command.kind !== 'register' && !state.agents.byKey(command.public_key)) {
    return refusedOutcome('KEY_UNKNOWN', { public_key: command.public_key });
  }
  return ruleOf(command).check(state, command);
}

function effect(state: State, command: Command, plan: unknown): Outcome {
  return ruleOf(command).effect(state, command, plan);
}

function restoreState(genesis: Genesis, reader: Reader, at: number): State {
  const head = reader.read('network', 'head');
  if (!head) throw new Error('the store has no head record');
  const state = newState(genesis, reader, { head });
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
  // Records are ordered by id, but agents by ordinal.
  for (const { key, value: profile } of state.reader.range('agents')) {
    state.agents.restore(profile, state.reader.read('agent_states', key)!);
  }
  for (const { key, value } of state.reader.range('standings')) {
    state.standings.add(key as number, value);
  }
}

/**
 * Recounts the stored votes on an open block, because its tally is not stored. A rule may depend on
 * the order of votes, and on the number of verdicts that it gave.
 */
function restoreBlock(state: State, hash: string): void {
  const { context } = state.reader.read('blocks', hash)!;
  const proposal = state.reader.proposal(context.entry);
  const electorate = state.electorates.get(context.electorate);
  const { ordinal, proposed_at } = context;
  const votes = [...state.reader.range('votes', { from: [ordinal], to: [ordinal + 1] })].map(
    ({ key, value }) => ({ ...value, position: findElector(electorate, voterOf(key)) }),
  );
  const block = state.blocks.restore(context, proposal, electorate);
  for (const vote of votes.sort((a, b) => a.entry - b.entry)) {
    assertInvariant(vote.position >= 0, 'RESTORED_VOTER', vote.entry, electorate.id);
    block.ballots.cast(vote.position, vote, vote.at - proposed_at);
    block.ballots.refer(vote.position, vote.meme_references);
    state.blocks.verdict(block);
  }
  state.deadlines.set(deadlineId(hash), context.deadline);
}

const voterOf = (key: RecordKey) => (key as readonly [number, number])[1];

function restoreThroughput(state: State, at: number): void {
  const recent: { at: number; count: number }[] = [];
  const heights = state.reader.range('heights', { reverse: true });
  for (const { value } of heights) {
    const { context } = state.reader.read('blocks', value.block_hash)!;
    // A block that leaves the window at this instant is still due in the last report.
    if (context.closed_at < at - limits.throughputWindowMs) break;
    recent.push({ at: context.closed_at, count: context.transactions });
  }
  for (const { at: closedAt, count } of recent.reverse()) state.throughput.add(closedAt, count);
}
