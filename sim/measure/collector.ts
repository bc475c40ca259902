/**
 * Takes in what happens in a run, event by event, and ends in its measures and tables. Costs a
 * vote the same however many there were; keeps agents and blocks, never votes.
 */
import type { CommandKind, Decision, Event, EventData } from '../../engine/internal.js';
import type { ContentNote, DecisionNote } from '../agents/port/notes.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Observer, RefusedWhy, Traffic } from '../world/observer.js';
import { Activity } from './collect/activity.js';
import { Agreement } from './collect/agreement.js';
import { Alliances } from './collect/alliances.js';
import { Blocks, countVote, type MeasuredBlock } from './collect/blocks.js';
import { Memes } from './collect/memes.js';
import { Outcomes } from './collect/outcomes.js';
import { type MeasuredAgent, NOBODY, Population } from './collect/population.js';
import { PublishedReputation } from './collect/reputation.js';
import { Series } from './collect/series.js';
import { Waits } from './collect/waits.js';
import type { Counts, RunReads } from './collected.js';
import type { Row } from './dictionary.js';
import { type Finished, finish } from './finish.js';

export class Collector implements Observer {
  readonly counts: Counts = {
    proposed: 0,
    finalized: 0,
    rejected: 0,
    expired: 0,
    orphaned: 0,
    votes: 0,
    memes: 0,
    transactions: 0,
  };
  /** Milliseconds since 1970; 0 before the first. */
  lastFinalizedAt = 0;
  readonly #startMs: number;
  readonly #onRow: ((row: Row<'votes.csv'>) => void) | undefined;
  readonly #population: Population;
  readonly #blocks: Blocks;
  readonly #activity: Activity;
  readonly #agreement: Agreement;
  readonly #memes: Memes;
  readonly #reputation: PublishedReputation;
  readonly #outcomes = new Outcomes();
  readonly #alliances = new Alliances();
  readonly #waits: Waits;
  readonly #series: Series;
  /** When the last thing happened. */
  #at: number;
  readonly #traffic: Record<Traffic, number> = { sent: 0, lost: 0, duplicated: 0 };
  /** The block that was voted on last: the next vote is mostly on the same one. */
  #voted: MeasuredBlock | undefined;

  /**
   * @param agents all agents of the scenario, in the order of their ordinals, from 0.
   * @param startMs when the run begins, milliseconds since 1970.
   * @param onRow takes each row of votes.csv, in the order of votes; left out, none are made.
   */
  constructor(
    scenario: Pick<Scenario, 'agents' | 'measure'>,
    agents: readonly MeasuredAgent[],
    startMs: number,
    onRow?: (row: Row<'votes.csv'>) => void,
  ) {
    const groups = scenario.agents.map(({ group }) => group);
    this.#startMs = startMs;
    this.#at = startMs;
    this.#onRow = onRow;
    this.#population = new Population(groups, agents);
    this.#blocks = new Blocks(this.#population);
    this.#activity = new Activity(this.#population);
    this.#agreement = new Agreement(groups.length);
    this.#memes = new Memes(groups.length);
    this.#reputation = new PublishedReputation(this.#population);
    this.#waits = new Waits(agents);
    this.#series = new Series(startMs, scenario.measure.every_ms, this.#curves(groups));
  }

  /** Blocks that are no longer in voting. */
  get closed(): number {
    const { finalized, rejected, expired, orphaned } = this.counts;
    return finalized + rejected + expired + orphaned;
  }

  event(event: Event, at: number): void {
    this.#series.passTo(at);
    this.#at = at;
    if (event.type === 'block_validation') this.#vote(event.data, at);
    else if (event.type === 'block_proposal') this.#propose(event.data, at);
    else if (event.type === 'block_status') this.#close(event.data, at);
    else if (event.type === 'meme_posted') this.#meme(event.data);
    else if (event.type === 'agent_status') this.#reputation.meet(event.data.agent_id);
    else if (event.type === 'alliance_update') this.#alliances.update(event.data, at);
    else if (event.type === 'reputation_update') {
      this.#reputation.publish(event.data.agent_id, event.data.new_score);
    }
  }

  refused(agent: number, kind: CommandKind, why: RefusedWhy, at: number): void {
    if (kind === 'propose') this.#waits.refused(agent, why, at);
    if (kind !== 'vote') return;
    if (why === 'equivocation') this.#activity.add('equivocations', agent);
    else if (why === 'VOTING_CLOSED') this.#activity.add('late_votes', agent);
  }

  decided(note: DecisionNote): void {
    this.#blocks.note(note);
  }

  published(note: ContentNote): void {
    this.#blocks.publish(note);
  }

  traffic(what: Traffic, count: number): void {
    this.#traffic[what] += count;
  }

  /**
   * The end of the run. Rows are read as they are taken, so the network must stay open until then.
   * @param reads `network.read`, after everything is durable.
   * @param nowMs when the run ended, milliseconds since 1970; the last event may have come later.
   */
  finish(reads: RunReads, nowMs: number): Finished {
    const endMs = Math.max(nowMs, this.#at);
    this.#series.finish(endMs);
    return finish(reads, {
      startMs: this.#startMs,
      endMs,
      counts: this.counts,
      closed: this.closed,
      longestWaitMs: this.#waits.longest(endMs),
      population: this.#population,
      blocks: this.#blocks.figures,
      activity: this.#activity,
      agreement: this.#agreement,
      memes: this.#memes,
      outcomes: this.#outcomes,
      alliances: this.#alliances,
      series: this.#series,
      traffic: this.#traffic,
    });
  }

  #curves(groups: readonly string[]) {
    const count = (measure: keyof Counts) => ({
      measure,
      group: null,
      value: () => this.counts[measure],
    });
    const measure = 'reputation_mean';
    return [
      ...(['finalized', 'rejected', 'expired', 'orphaned', 'votes', 'memes'] as const).map(count),
      { measure: 'alliances_active', group: null, value: () => this.#alliances.active },
      count('transactions'),
      { measure, group: null, value: () => this.#reputation.mean() },
      ...groups.map((group, number) => ({
        measure,
        group,
        value: () => this.#reputation.mean(number),
      })),
    ];
  }

  #propose(data: EventData['block_proposal'], at: number): void {
    const { producer } = this.#blocks.propose(data, at);
    this.counts.proposed += 1;
    this.#activity.add('blocks_proposed', producer);
    this.#waits.proposed(producer, at);
  }

  #vote({ block_hash, validator, decision }: EventData['block_validation'], at: number): void {
    this.counts.votes += 1;
    const agent = this.#population.ordinalOf(validator.id);
    this.#activity.add('votes', agent);
    if (decision === 'approve') this.#activity.add('approvals', agent);
    if (this.#voted?.figure.hash !== block_hash) this.#voted = this.#blocks.get(block_hash);
    const block = this.#voted;
    if (!block) return;
    const group = this.#population.groupOf(agent);
    countVote(block, group, decision);
    const note = block.notes.get(agent);
    if (note) this.#memes.add(group, decision, note);
    block.notes.delete(agent);
    if (!this.#onRow) return;
    const voter = { agent, group, personality: validator.personality };
    this.#onRow(this.#voteRow(block, voter, decision, at, note));
  }

  #voteRow(
    { figure }: MeasuredBlock,
    voter: { agent: number; group: number; personality: string },
    decision: Decision,
    at: number,
    note: DecisionNote | undefined,
  ): Row<'votes.csv'> {
    const { agent, group, personality } = voter;
    return {
      block: figure.number,
      agent: agent === NOBODY ? null : agent,
      group: group === NOBODY ? null : this.#population.groups[group]!,
      personality,
      decision,
      voted_ms: at - this.#startMs,
      after_ms: at - figure.proposedAt,
      memes_heard: note?.receivedMemes.length ?? null,
      meme_references: note?.memeReferences.length ?? null,
      without_memes: note?.withoutMemes ?? null,
    };
  }

  #close({ block_hash, status, transactions }: EventData['block_status'], at: number): void {
    if (status === 'voting') return;
    this.counts[status] += 1;
    if (status === 'finalized') {
      this.counts.transactions += transactions;
      this.lastFinalizedAt = at;
    }
    const block = this.#blocks.close(block_hash, status, at);
    if (!block) return;
    this.#voted = undefined;
    this.#outcomes.add(block.figure);
    const decided = status === 'finalized' || status === 'rejected';
    this.#agreement.add(block.ballot, decided ? status === 'finalized' : null);
    if (status !== 'finalized') return;
    this.#activity.add('blocks_finalized', block.producer);
    for (const sender of block.senders) this.#activity.add('transactions', sender);
  }

  #meme({ creator }: EventData['meme_posted']): void {
    this.counts.memes += 1;
    this.#activity.add('memes', this.#population.ordinalOf(creator.id));
  }
}
