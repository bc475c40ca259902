/**
 * The deterministic state machine: `apply(entry) -> step`. Synchronous, total and pure: it reads no
 * clock, draws no chance and does no I/O but through its reader. A thrown error is a bug, after
 * which this engine must not be used again; whatever a caller can do wrong is an outcome.
 */
import { type Command, type Event, type Genesis, Head } from '../protocol/schema/index.js';
import type { Change } from './changes.js';
import { closeBlock, metricsOf, reportMetrics } from './close.js';
import { check, effect } from './commands/index.js';
import type { Outcome } from './outcome.js';
import type { Reader } from './reader.js';
import { restoreState } from './restore.js';
import { headOf, METRICS, newState, type State } from './state.js';
import type { Turned } from './tables/agents.js';
import type { Finalized } from './tables/throughput.js';

/** An entry as the engine takes it. A tick has no command. */
export interface Input {
  seq: number;
  at: number;
  command: Command | null;
}

/** What one entry did. Nothing changed when the outcome is `refused` or `duplicate`. */
export interface Step {
  /** Null for a tick. */
  outcome: Outcome | null;
  events: Event[];
  changes: Change[];
  /**
   * Who fell dormant or woke by it.
   *
   * @internal
   */
  turned: readonly Turned[];
}

/** Where the engine stands: the last applied entry and event. */
export interface Position {
  seq: number;
  at: number;
  event_seq: number;
}

export type Summary = Omit<ReturnType<typeof metricsOf>, 'tps'> & {
  head_hash: string;
  recent: readonly Finalized[];
};

const headFields = Object.keys(Head.properties) as (keyof Head)[];

/** The state machine alone, without log, clock or disk: entries in, steps out. */
export class Engine {
  readonly #state: State;
  #last: Position;
  #savedHead: Head;

  private constructor(state: State, last: Position) {
    this.#state = state;
    this.#last = last;
    this.#savedHead = headOf(state);
  }

  /** A new network; the step is that of entry 0, genesis. */
  static create(genesis: Genesis, at: number, reader: Reader): { engine: Engine; step: Step } {
    const state = newState(genesis, reader);
    const engine = new Engine(state, { seq: 0, at, event_seq: 0 });
    state.changes.put('network', 'head', headOf(state));
    return {
      engine,
      step: { outcome: null, events: [], changes: state.changes.take(), turned: [] },
    };
  }

  /** An engine that goes on where the records of its reader end. */
  static restore(genesis: Genesis, reader: Reader, last: Position): Engine {
    return new Engine(restoreState(genesis, reader, last.at), last);
  }

  /** The last applied entry and event. */
  get position(): Position {
    return this.#last;
  }

  /**
   * Applies the next entry. Deadlines strictly below its time must have fired: the host applies a
   * tick first, so that a refused command leaves no trace.
   */
  apply({ seq, at, command }: Input): Step {
    this.#expect(seq, at, command);
    const state = this.#state;
    state.now = at;
    state.entry = seq;
    const outcome = command ? this.#do(command) : this.#tick(at);
    if (outcome && (outcome.result === 'refused' || outcome.result === 'duplicate')) {
      return { outcome, events: [], changes: [], turned: [] };
    }
    this.#last = { seq, at, event_seq: this.#last.event_seq };
    const turned = state.agents.takeTurned();
    return { outcome, events: this.#events(), changes: this.#changes(), turned };
  }

  /** Looks ahead: the outcome that would change nothing, or null when it would be done. */
  precheck(command: Command, at: number): Outcome | null {
    this.#state.now = at;
    const precheck = check(this.#state, command);
    return 'outcome' in precheck ? precheck.outcome : null;
  }

  /** When something happens by itself next, or null. */
  nextDeadline(): number | null {
    return this.#state.deadlines.next()?.deadline ?? null;
  }

  knows(publicKey: string): boolean {
    return this.#state.agents.byKey(publicKey) !== undefined;
  }

  /** The overall reputation of the agent with this key, of 1,000,000; 0 where none has it. */
  reputationOf(publicKey: string): number {
    const agent = this.#state.agents.byKey(publicKey);
    return agent ? this.#state.standings.get(agent.ordinal, 'overall') : 0;
  }

  /** How many further votes close the block at the earliest; 0 when it is not open. */
  votesUntilClose(blockHash: string): number {
    return this.#state.blocks.votesUntilClose(blockHash);
  }

  summary(): Summary {
    const { tps: _, ...figures } = metricsOf(this.#state, this.#last.at);
    const { headHash, throughput } = this.#state;
    return { ...figures, head_hash: headHash, recent: throughput.recent };
  }

  #expect(seq: number, at: number, command: Command | null): void {
    if (seq !== this.#last.seq + 1) throw new Error(`entry ${seq} follows ${this.#last.seq}`);
    if (at < this.#last.at) throw new Error(`entry ${seq} goes back in time to ${at}`);
    const due = this.nextDeadline();
    if (command && due !== null && due < at) {
      throw new Error(`entry ${seq} at ${at} needs a tick first: a deadline is due at ${due}`);
    }
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
    if (!agent?.context.dormant) return;
    agents.send(agent, { type: 'acted' });
    electorates.electorsChanged();
  }

  /** Fires what is due strictly before `at`, by (deadline, id); it all happens at `at`. */
  #tick(at: number): null {
    const state = this.#state;
    for (;;) {
      const due = state.deadlines.next();
      if (!due || due.deadline >= at) return null;
      state.deadlines.remove(due.id);
      this.#fire(due.id, at);
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
    if (!block) throw new Error(`a deadline belongs to no block: ${hash}`);
    const outcome = state.blocks.decided(block, true);
    if (!outcome) throw new Error(`block ${block.hash} outlived its deadline`);
    closeBlock(state, block, outcome);
  }

  #events(): Event[] {
    const fault = this.#state.outbox.firstFault();
    if (fault !== undefined) {
      throw new Error(`an actor failed: ${JSON.stringify(fault)}`, { cause: fault });
    }
    const first = this.#last.event_seq + 1;
    const events = this.#state.outbox.take().map(({ data, type }, index) => {
      return { data, seq: first + index, type } as Event;
    });
    this.#last.event_seq += events.length;
    return events;
  }

  #changes(): Change[] {
    const { agents, standings, changes } = this.#state;
    agents.save(changes);
    standings.save(changes);
    const head = headOf(this.#state);
    if (headFields.some((field) => head[field] !== this.#savedHead[field])) {
      changes.put('network', 'head', head);
      this.#savedHead = head;
    }
    return changes.take();
  }
}
