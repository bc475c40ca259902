/**
 * The collector receives a run's events and computes its measures and tables. The collector stores
 * agents and blocks, but no votes, and its cost per vote is constant.
 */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { AnswerCost, ContentNote, SlotDecision } from '../agents/port.js';
import { type Contradiction, DecisionAudit } from '../audit/decisions.js';
import { Findings } from '../audit/findings.js';
import type { Ordinals } from '../scenario/population.js';
import type { ConditionMeasure } from '../scenario/schema/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { MessageKind } from '../world/messages.js';
import type { Cause, IgnoredCommand, Observer, RefusedWhy, Traffic } from '../world/observer.js';
import {
  Agreement,
  Blocks,
  countVote,
  type MeasuredBlock,
  Outcomes,
  type WatchedBlock,
} from './blocks.js';
import { type DecisionLine, decisionLine } from './decisions.js';
import type { Row } from './dictionary.js';
import { Memes, Messages } from './messages.js';
import {
  Activity,
  Alliances,
  type MeasuredAgent,
  NOT_IN_POPULATION,
  Population,
  PublishedReputation,
  Waits,
} from './population.js';
import {
  type Counts,
  computeResults,
  countClosed,
  noCounts,
  type RunReads,
  type RunResults,
} from './results.js';
import { Series, share } from './statistics.js';

interface CollectorOptions {
  onRow?: ((row: Row<'votes.csv'>) => void) | undefined;
  /** Receives each line of decisions.ndjson. */
  onDecision?: ((line: DecisionLine) => void) | undefined;
  ordinals?: Ordinals;
}

export class Collector implements Observer {
  /** Counts since the run started. */
  readonly totals: Counts = noCounts();
  watched: WatchedBlock | null = null;
  /** Names of alternatives in election data, by option; only those that differ. */
  labels: Record<string, string> = {};
  /** Time of the last finalized or rejected block in milliseconds since 1970; 0 before it. */
  lastDecidedAt = 0;
  /** Counts since the warm-up ended. */
  readonly #counts: Counts = noCounts();
  readonly #warmup: Warmup;
  readonly #startMs: number;
  readonly #onRow: ((row: Row<'votes.csv'>) => void) | undefined;
  readonly #onDecision: ((line: DecisionLine) => void) | undefined;
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
  readonly #currentValues: ReturnType<typeof presentValues>;
  /** Time of the last event. */
  #at: number;
  readonly #messages = new Messages();
  readonly #findings = new Findings();
  readonly #slots = new DecisionAudit();
  /** Block of the last vote, cached because the next vote is usually on the same block. */
  #voted: MeasuredBlock | undefined;

  /**
   * @param agents all agents in the scenario, by ordinal from 0.
   * @param startMs start of the run in milliseconds since 1970.
   */
  constructor(
    scenario: Pick<Scenario, 'agents' | 'measure'>,
    agents: readonly MeasuredAgent[],
    startMs: number,
    { onRow, onDecision, ordinals }: CollectorOptions = {},
  ) {
    const groups = scenario.agents.map(({ group }) => group);
    this.#startMs = startMs;
    this.#at = startMs;
    this.#onRow = onRow;
    this.#onDecision = onDecision;
    this.#population = new Population(groups, agents, ordinals);
    this.#blocks = new Blocks(this.#population);
    this.#activity = new Activity(this.#population);
    this.#agreement = new Agreement(groups.length);
    this.#memes = new Memes(groups.length);
    this.#reputation = new PublishedReputation(this.#population);
    this.#waits = new Waits(agents);
    this.#series = new Series(startMs, scenario.measure.every_ms, this.#curves(groups));
    this.#warmup = new Warmup(scenario.measure, startMs);
    this.#currentValues = presentValues({
      counts: this.#counts,
      agreement: this.#agreement,
      memes: this.#memes,
      alliances: this.#alliances,
      slots: this.#slots,
      reputation: (group) =>
        group === undefined
          ? this.#reputation.mean()
          : this.#reputation.mean(groups.indexOf(group)),
    });
  }

  /** Number of closed blocks since the run started. */
  get closed(): number {
    return countClosed(this.totals);
  }

  /** Number of slots in which honest agents contradicted each other or themselves so far. */
  get slotConflicts(): number {
    return this.#slots.conflicts;
  }

  /** Returns a measure's value now, or null. Block, vote and meme counts exclude the warm-up. */
  currentValue(measure: ConditionMeasure, group?: string): number | null {
    return this.#currentValues[measure](group);
  }

  /** Announces that no event before `at` will follow. */
  passTo(at: number): void {
    if (this.#warmup.passTo(at)) this.#begin();
  }

  event(event: Event, at: number, cause: Cause | null = null): void {
    this.#series.passTo(at);
    this.passTo(at);
    this.#at = at;
    if (event.type === 'block_validation') this.#vote(event.data, at, cause);
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
    this.passTo(at);
    if (kind === 'propose') this.#waits.refused(agent, why, at);
    if (kind !== 'vote' || this.#warmup.lasts) return;
    if (why === 'equivocation') this.#activity.add('equivocations', agent);
    else if (why === 'VOTING_CLOSED') this.#activity.add('late_votes', agent);
  }

  published(note: ContentNote): void {
    this.#blocks.publish(note);
  }

  decided(agent: number, decision: SlotDecision, at: number): void {
    const found = this.#slots.observe(agent, decision, at);
    if (found === null) return;
    const where = this.#where(agent, at);
    if (found === 'TOO_MANY_SLOTS') {
      this.#findings.add({ name: found, ...where, detail: `slot ${decision.slot}` });
    } else this.#findings.add({ name: found.name, ...where, detail: this.#told(found) });
  }

  ignored(agent: number, { why, detail }: IgnoredCommand, at: number): void {
    this.#findings.add({ name: why, ...this.#where(agent, at), detail });
  }

  asked(agent: number, cost: AnswerCost): void {
    if (!this.#warmup.lasts) this.#activity.asked(agent, cost);
  }

  traffic(kind: MessageKind, what: Traffic, count: number, bytes: number): void {
    if (!this.#warmup.lasts) this.#messages.add(kind, what, count, bytes);
  }

  waited(count: number, ms: number): void {
    if (!this.#warmup.lasts) this.#messages.wait(count, ms);
  }

  /**
   * Ends the run. Rows are read lazily, so the network must stay open until all rows are consumed.
   *
   * @param reads `network.read`, after all entries are durable.
   * @param nowMs end of the run in milliseconds since 1970. The last event may be later.
   */
  finish(reads: RunReads, nowMs: number): RunResults {
    const endMs = Math.max(nowMs, this.#at);
    this.#series.finish(endMs);
    this.passTo(endMs);
    return computeResults(reads, {
      startMs: this.#startMs,
      measuredFrom: this.#warmup.endedAt,
      endMs,
      counts: this.#counts,
      closed: countClosed(this.#counts),
      longestWaitMs: this.#waits.longest(endMs),
      population: this.#population,
      blocks: this.#blocks.figures,
      activity: this.#activity,
      agreement: this.#agreement,
      memes: this.#memes,
      outcomes: this.#outcomes,
      alliances: this.#alliances,
      series: this.#series,
      messages: this.#messages,
      slots: this.#slots,
      findings: this.#findings,
      labels: this.labels,
    });
  }

  #told({ slot, value, earlier, range }: Contradiction): string {
    if (range) {
      const { least, most, tolerance } = range;
      const allowed = `at most ${tolerance} apart`;
      return `slot ${slot}: decisions from ${least} to ${most}; expected ${allowed}`;
    }
    const { agent, at_ms } = this.#where(earlier.agent, earlier.at);
    const was = `${shortened(earlier.value)}, decided by ${agent} at ${at_ms} ms`;
    return `slot ${slot}: ${shortened(value)}; expected ${was}`;
  }

  #where(agent: number, at: number) {
    return { agent: this.#population.agents[agent]!.name, at_ms: at - this.#startMs };
  }

  #curves(groups: readonly string[]) {
    const count = (measure: keyof Counts) => {
      return { measure, group: null, value: () => this.totals[measure] };
    };
    const measure = 'reputation_mean';
    return [
      ...(['finalized', 'rejected', 'expired', 'orphaned', 'votes', 'memes'] as const).map(count),
      { measure: 'alliances_active', group: null, value: () => this.#alliances.active },
      count('transactions'),
      { measure, group: null, value: () => this.#reputation.mean() },
      ...groups.map((group, number) => {
        return { measure, group, value: () => this.#reputation.mean(number) };
      }),
    ];
  }

  #propose(data: EventData['block_proposal'], at: number): void {
    const { watched } = this;
    if (watched?.hash === data.block_hash) watched.alliances = this.#alliances.ids;
    const { lasts } = this.#warmup;
    const { producer } = this.#blocks.propose(data, at, lasts);
    this.totals.proposed += 1;
    this.#waits.proposed(producer, at);
    if (lasts) return;
    this.#counts.proposed += 1;
    this.#activity.add('blocks_proposed', producer);
  }

  #begin(): void {
    this.#alliances.endWarmUp();
    this.#waits.forget(this.#warmup.endedAt!);
  }

  #vote(data: EventData['block_validation'], at: number, cause: Cause | null): void {
    const { block_hash, validator, decision } = data;
    this.totals.votes += 1;
    if (this.#voted?.figure.hash !== block_hash) this.#voted = this.#blocks.get(block_hash);
    const block = this.#voted;
    const measured = !(block?.figure.warmup ?? this.#warmup.lasts);
    const agent = cause ? cause.from : this.#population.ordinalOf(validator.id);
    if (measured) {
      this.#counts.votes += 1;
      this.#activity.add('votes', agent);
      if (decision === 'approve') this.#activity.add('approvals', agent);
    }
    if (!block) return;
    const group = this.#population.groupOf(agent);
    countVote(block, group, decision);
    if (cause && measured) this.#memes.add(group, decision, cause);
    if (!this.#onRow && !this.#onDecision) return;
    const voter = { agent, group, personality: validator.personality };
    this.#onRow?.(this.#voteRow(block, voter, decision, at, cause));
    if (!this.#onDecision) return;
    const { number, warmup } = block.figure;
    const voted = { block: number, ...this.#known(agent, group), decision, warmup };
    this.#onDecision(decisionLine({ ...voted, voted_ms: at - this.#startMs }, cause));
  }

  #known(agent: number, group: number) {
    return {
      agent: agent === NOT_IN_POPULATION ? null : agent,
      group: group === NOT_IN_POPULATION ? null : this.#population.groups[group]!,
    };
  }

  #voteRow(
    { figure }: MeasuredBlock,
    voter: { agent: number; group: number; personality: string },
    decision: Decision,
    at: number,
    cause: Cause | null,
  ): Row<'votes.csv'> {
    const { agent, group, personality } = voter;
    const note = cause?.note;
    return {
      block: figure.number,
      ...this.#known(agent, group),
      personality,
      decision,
      voted_ms: at - this.#startMs,
      after_ms: at - figure.proposedAt,
      memes_heard: note?.receivedMemes.length ?? null,
      meme_references: cause?.memes.length ?? null,
      without_memes: note?.withoutMemes ?? null,
      warmup: Number(figure.warmup),
    };
  }

  #close({ block_hash, status, transactions }: EventData['block_status'], at: number): void {
    if (status === 'voting') return;
    const decided = status === 'finalized' || status === 'rejected';
    if (decided) this.lastDecidedAt = at;
    if (this.watched?.hash === block_hash) this.watched.status = status;
    const block = this.#blocks.close(block_hash, status, at);
    const measured = !(block?.figure.warmup ?? this.#warmup.lasts);
    for (const counts of measured ? [this.totals, this.#counts] : [this.totals]) {
      counts[status] += 1;
      if (status === 'finalized') counts.transactions += transactions;
    }
    this.#voted = undefined;
    if (block && measured) this.#measure(block, decided ? status === 'finalized' : null);
    if (this.#warmup.closed(this.closed, at)) this.#begin();
  }

  /** Adds a closed block. `approved` is null if the block was not decided. */
  #measure(block: MeasuredBlock, approved: boolean | null): void {
    this.#outcomes.add(block.figure);
    this.#agreement.add(block.ballot, approved);
    if (approved !== true) return;
    this.#activity.add('blocks_finalized', block.producer);
    for (const sender of block.senders) this.#activity.add('transactions', sender);
  }

  #meme({ creator }: EventData['meme_posted']): void {
    this.totals.memes += 1;
    if (this.#warmup.lasts) return;
    this.#counts.memes += 1;
    this.#activity.add('memes', this.#population.ordinalOf(creator.id));
  }
}

/** State read by `length.until` conditions during the run. */
interface Present {
  counts: Counts;
  agreement: Agreement;
  memes: Memes;
  alliances: Alliances;
  slots: DecisionAudit;
  /** Mean reputation in a group; without a group, in the whole network. */
  reputation(group?: string): number | null;
}

/** Limit on a value in a finding. */
const SHOWN = 100;
const shortened = (value: string) => (value.length > SHOWN ? `${value.slice(0, SHOWN)}..` : value);

type Value = (group?: string) => number | null;

/** Returns readers of the current values. Each reader takes constant time. */
function presentValues(present: Present): Record<ConditionMeasure, Value> {
  const { counts, agreement, memes, alliances, slots } = present;
  const shareOf = (name: keyof Counts) => () => share(counts[name], countClosed(counts));
  const names = Object.keys(counts) as (keyof Counts)[];
  const ofCounts = Object.fromEntries(names.map((name) => [name, () => counts[name]]));
  return {
    ...(ofCounts as Record<keyof Counts, Value>),
    decided: () => counts.finalized + counts.rejected,
    closed: () => countClosed(counts),
    finalized_share: shareOf('finalized'),
    rejected_share: shareOf('rejected'),
    expired_share: shareOf('expired'),
    orphaned_share: shareOf('orphaned'),
    agreement: () => agreement.all,
    influence: () => memes.influence,
    alliances_active: () => alliances.active,
    reputation_mean: present.reputation,
    slots_decided: () => slots.slots,
    slot_conflicts: () => slots.conflicts,
  };
}

/** Warm-up of a run. Warm-up events appear in the tables, but in no measure. */
class Warmup {
  readonly #untilAt: number;
  readonly #blocks: number;
  /** End in milliseconds since 1970; null during the warm-up. */
  endedAt: number | null;

  constructor({ warmup_ms = 0, warmup_blocks = 0 }: Scenario['measure'], startMs: number) {
    this.#untilAt = warmup_blocks > 0 ? Number.POSITIVE_INFINITY : startMs + warmup_ms;
    this.#blocks = warmup_blocks;
    this.endedAt = warmup_ms + warmup_blocks === 0 ? startMs : null;
  }

  get lasts(): boolean {
    return this.endedAt === null;
  }

  /** Returns true if the warm-up ends by this time. */
  passTo(at: number): boolean {
    return at >= this.#untilAt && this.#end(this.#untilAt);
  }

  /** Returns true if the warm-up ends at this number of closed blocks. */
  closed(blocks: number, at: number): boolean {
    return this.#blocks > 0 && blocks >= this.#blocks && this.#end(at);
  }

  #end(at: number): boolean {
    if (!this.lasts) return false;
    this.endedAt = at;
    return true;
  }
}
