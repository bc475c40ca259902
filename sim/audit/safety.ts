/** Safety rules, without the model: they find errors that it shares with the network. */
import type { Outcome } from '../../engine/core/state.js';
import type { ValuesOf } from '../../engine/protocol/messages.js';
import type { Command } from '../../engine/protocol/schema/command.js';
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { AnswerOf } from '../../engine/protocol/schema/view.js';
import { foreignRule } from './polls.js';
import { type BrokenRule, instantText, shortenId } from './violation.js';

/** Command with its outcome, or an advance of time. */
interface Step {
  at: number;
  command: Command | null;
  outcome: Outcome | null;
  events: readonly Event[];
}

const MOST_OPEN = 8;

export class Safety {
  readonly #open = new Map<string, WatchedBlock>();
  /** Closed blocks' statuses. */
  readonly #ended = new Map<string, string>();
  #head = { hash: '0'.repeat(64), height: 0 };
  #seq = 0;
  #lastInstant = '';
  /** Earliest deadline among the open blocks. */
  #soonest = Number.POSITIVE_INFINITY;

  constructor(private readonly genesis: Genesis) {}

  watch(step: Step): BrokenRule | null {
    for (const event of step.events) {
      const found = this.#number(event, step.at) ?? this.#take(event, step);
      if (found) return found;
    }
    return this.#findBrokenOpen(step);
  }

  /** Checks that event numbers are consecutive and event times do not decrease. */
  #number({ seq, data }: Event, at: number): BrokenRule | null {
    const expected = this.#seq + 1;
    if (seq !== expected) return broken('EVENT_NUMBER', `event ${seq}`, { seq: expected });
    this.#seq = seq;
    const { timestamp } = data;
    if (timestamp < this.#lastInstant || timestamp > instantText(at)) {
      const range = { least: this.#lastInstant, most: instantText(at) };
      return broken('EVENT_TIME', `event ${seq}`, { timestamp, ...range });
    }
    this.#lastInstant = timestamp;
    return null;
  }

  #take(event: Event, step: Step): BrokenRule | null {
    if (event.type === 'block_proposal') return this.#propose(event.data, step);
    if (event.type === 'block_validation') return this.#vote(event.data, step);
    if (event.type === 'block_status') return this.#end(event.data, step);
    if (event.type === 'network_metrics') return this.#measure(event.data);
    return null;
  }

  #propose(data: EventData['block_proposal'], { at, command, outcome }: Step): BrokenRule | null {
    const { block_hash: hash, parent_hash: parent, height, producer } = data;
    if (outcome?.result !== 'accepted' || command?.kind !== 'propose') {
      return broken('NOT_PROPOSED', hash);
    }
    if (this.#open.has(hash) || this.#ended.has(hash)) return broken('PROPOSED_TWICE', hash);
    if (parent !== this.#head.hash || height !== this.#head.height + 1) return this.#apart(data);
    for (const other of this.#open.values()) {
      if (other.producer === producer.id) return broken('TWO_OPEN_BLOCKS', producer.id);
    }
    const { electorate } = outcome.data as AnswerOf['propose'];
    const deadline = at + this.genesis.voting_period_ms;
    const counted = { approve: 0, reject: 0, voters: new Set<string>(), groups: new Map() };
    const published = { hash, parent, height, producer: producer.id };
    this.#open.set(hash, { ...published, electorate, deadline, ...counted });
    if (this.#open.size <= MOST_OPEN) return null;
    return broken('TOO_MANY_OPEN_BLOCKS', hash, { count: this.#open.size, limit: MOST_OPEN });
  }

  #vote(data: EventData['block_validation'], { at, command, outcome }: Step): BrokenRule | null {
    const { block_hash: hash, validator } = data;
    if (outcome?.result !== 'accepted' || command?.kind !== 'vote') {
      return broken('VOTE_NOT_ACCEPTED', hash, { voter: shortenId(validator.id) });
    }
    const block = this.#open.get(hash);
    if (!block || at > block.deadline) {
      const end = this.#ended.get(hash) ?? (block ? 'its deadline' : 'no proposal');
      return broken('VOTE_AFTER_END', hash, { voter: shortenId(validator.id), end });
    }
    return countVote(this.genesis, block, data, outcome.data as AnswerOf['vote']);
  }

  #end(data: EventData['block_status'], step: Step): BrokenRule | null {
    const { block_hash: hash, status, approve, reject, electorate, timestamp } = data;
    const block = this.#open.get(hash);
    if (!block) {
      const before = this.#ended.get(hash);
      return broken('SECOND_END', hash, { status, before: before ?? 'no proposal' });
    }
    const counted = tallyText(block);
    const tally = tallyText({ approve, reject, electorate });
    if (counted !== tally) return broken('WRONG_FINAL_TALLY', hash, { tally, counted });
    const isDue = timestamp > instantText(block.deadline);
    const wrong = findBrokenEnd(this.genesis, block, { status, isDue });
    if (wrong) return wrong;
    if (status === 'finalized') return this.#finalize(block) ?? this.#close(block, status);
    if (status === 'orphaned' && this.#head.height !== block.height && !this.#gaveWay(step)) {
      return broken('WRONG_ORPHAN', hash);
    }
    return this.#close(block, status);
  }

  /** True if an accepted proposal took an open block's slot. */
  #gaveWay({ command, outcome }: Step): boolean {
    const isTaken = command?.kind === 'propose' && outcome?.result === 'accepted';
    return isTaken && this.#open.size === MOST_OPEN;
  }

  #finalize(block: WatchedBlock): BrokenRule | null {
    const { height, hash, parent } = block;
    if (height <= this.#head.height) {
      return broken('SECOND_AT_HEIGHT', hash, { height, first: shortenId(this.#head.hash) });
    }
    if (parent !== this.#head.hash || height !== this.#head.height + 1) {
      return this.#apart({ block_hash: hash, parent_hash: parent, height });
    }
    this.#head = { hash, height };
    return null;
  }

  #close({ hash }: WatchedBlock, status: string): null {
    this.#open.delete(hash);
    this.#ended.set(hash, status);
    return null;
  }

  #apart(data: { block_hash: string; parent_hash: string; height: number }): BrokenRule {
    const { hash, height } = this.#head;
    return broken('NOT_ON_HEAD', data.block_hash, {
      height: data.height,
      parent: shortenId(data.parent_hash),
      next: height + 1,
      head: shortenId(hash),
    });
  }

  #measure({ block_height, head_hash }: EventData['network_metrics']): BrokenRule | null {
    const { height, hash } = this.#head;
    if (block_height === height && head_hash === hash) return null;
    return broken('WRONG_HEAD', 'network', {
      published: block_height,
      block: shortenId(head_hash),
      height,
      head: shortenId(hash),
    });
  }

  /**
   * Checks that no open block is decided, overdue or beaten by a sibling. A vote can decide only
   * its own block, so the other blocks are not checked again after a vote.
   */
  #findBrokenOpen({ at, events }: Step): BrokenRule | null {
    const [event] = events;
    if (at > this.#soonest || events.length > 1) return this.#findBrokenEach(at);
    if (event === undefined) return null;
    if (event.type !== 'block_validation') return this.#findBrokenEach(at);
    return this.#findBrokenVoting(this.#open.get(event.data.block_hash)!, at);
  }

  #findBrokenEach(at: number): BrokenRule | null {
    this.#soonest = Number.POSITIVE_INFINITY;
    for (const block of this.#open.values()) {
      this.#soonest = Math.min(this.#soonest, block.deadline);
      const wrong = this.#findBrokenVoting(block, at);
      if (wrong) return wrong;
    }
    return null;
  }

  #findBrokenVoting(block: WatchedBlock, at: number): BrokenRule | null {
    const { hash, height, deadline } = block;
    if (height <= this.#head.height) return broken('NOT_ORPHANED', hash);
    if (deadline < at)
      return broken('OPEN_AFTER_DEADLINE', hash, { deadline: instantText(deadline) });
    return findBrokenEnd(this.genesis, block, { status: 'voting', isDue: false });
  }
}

/**
 * Safety rule findings: the rule, the observation and the expectation. Several findings
 * may share a rule. Tests and reports refer to the rule.
 */
const safetyFindings = {
  EVENT_NUMBER: ['event-number', 'event numbers are not consecutive', 'event {seq}'],
  EVENT_TIME: [
    'event-time',
    'event time out of range: {timestamp}',
    'a time from {least} to {most}',
  ],
  NOT_PROPOSED: ['proposal', 'block published without a proposal', 'an accepted proposal'],
  PROPOSED_TWICE: ['proposal', 'block proposed twice', 'one proposal'],
  TWO_OPEN_BLOCKS: [
    'open-blocks',
    'producer has two blocks in voting',
    'one block in voting per producer',
  ],
  TOO_MANY_OPEN_BLOCKS: ['open-blocks', '{count} blocks in voting', 'at most {limit}'],
  VOTE_NOT_ACCEPTED: ['vote', 'vote of {voter} published, but not accepted', 'accepted votes only'],
  VOTE_AFTER_END: [
    'vote-after-end',
    'vote of {voter} counted after {end}',
    'no vote outside the voting period',
  ],
  SECOND_END: ['end-once', '{status} after {before}', 'one final status per block'],
  WRONG_FINAL_TALLY: ['tally', 'final tally {tally}', '{counted}'],
  WRONG_ORPHAN: [
    'orphan',
    'orphaned without a finalized block of the same height',
    'a finalized sibling, or a proposal that takes the slot',
  ],
  SECOND_AT_HEIGHT: [
    'one-block-a-height',
    'second block finalized at height {height}, after {first}',
    'one finalized block per height',
  ],
  NOT_ON_HEAD: [
    'extends-head',
    'height {height} with parent {parent}',
    'height {next} with parent {head}',
  ],
  WRONG_HEAD: ['height', 'height {published}, head {block}', 'height {height}, head {head}'],
  NOT_ORPHANED: [
    'orphan',
    'in voting after a sibling was finalized',
    'orphaned with the finalization',
  ],
  OPEN_AFTER_DEADLINE: ['deadline', 'in voting after its deadline {deadline}', 'a final status'],
  SECOND_VOTE: ['vote-once', 'second vote of {voter} counted', 'one vote per elector'],
  WRONG_TALLY: [
    'tally',
    'tally {tally} after a vote to {decision}',
    '{before} plus {weight} to {decision}',
  ],
  WRONG_STATUS: ['quorum', '{status} with {tally}, {when}', '{allowed}'],
} as const;

type Findings = typeof safetyFindings;

function broken<K extends keyof Findings>(
  key: K,
  actor: string,
  ...[values = {}]: ValuesOf<Findings[K][1 | 2]>
): BrokenRule {
  const [rule, found, expected] = safetyFindings[key];
  return { rule, actor, expected: fill(expected, values), found: fill(found, values) };
}

/** Replaces the placeholders. The auditor has its own copy, to stay independent of the engine. */
function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

type Tally = Pick<WatchedBlock, 'approve' | 'reject' | 'electorate'>;

const tallyText = ({ approve, reject, electorate }: Tally): string =>
  `${approve} to ${reject} of ${electorate}`;

/** Block as published, with the votes observed. */
interface WatchedBlock {
  hash: string;
  parent: string;
  height: number;
  producer: string;
  /** Electorate weight, from the answer to the proposal. */
  electorate: number;
  deadline: number;
  approve: number;
  reject: number;
  voters: Set<string>;
  /** Voters by personality, if the policy has vetoes. */
  groups: Map<string, { approve: number; reject: number }>;
}

/** Smallest and largest weight of one vote. */
const weights = { equal: [1, 1], reputation: [1, 100], alliance_bonus: [100, 110] } as const;

function countVote(
  genesis: Genesis,
  block: WatchedBlock,
  { validator, decision }: EventData['block_validation'],
  { tally }: AnswerOf['vote'],
): BrokenRule | null {
  const { id: by, personality } = validator;
  // Adding a repeated voter does not change the size, so a single set operation suffices.
  const before = block.voters.size;
  if (block.voters.add(by).size === before) {
    return broken('SECOND_VOTE', block.hash, { voter: shortenId(by) });
  }
  const moved = tally[decision] - block[decision];
  const other = decision === 'approve' ? 'reject' : 'approve';
  const [least, most] = weights[genesis.weights];
  const isFair = moved >= least && moved <= most && tally[other] === block[other];
  if (!isFair || tally.electorate !== block.electorate) {
    const weight = least === most ? least : `${least} to ${most}`;
    const tallies = { tally: tallyText(tally), before: tallyText(block) };
    return broken('WRONG_TALLY', block.hash, { ...tallies, decision, weight });
  }
  block[decision] += moved;
  if (genesis.policy === 'veto') countHead(block, personality, decision);
  return null;
}

function countHead({ groups }: WatchedBlock, personality: string, decision: Decision): void {
  const group = groups.get(personality);
  if (group) group[decision] += 1;
  else groups.set(personality, { approve: 0, reject: 0, [decision]: 1 });
}

/** Checks that the observed votes allow this status. @param isDue true after the deadline. */
function findBrokenEnd(
  genesis: Genesis,
  block: WatchedBlock,
  { status, isDue }: { status: string; isDue: boolean },
): BrokenRule | null {
  const { electorate } = block;
  if (status === 'orphaned') return null;
  const allowed = allowedOutcomes(genesis, block, isDue);
  if (allowed.includes(status)) return null;
  const needs = genesis.policy === 'majority' ? '' : ` (needs ${leastToFinalize(electorate)})`;
  const when = isDue ? 'after the deadline' : 'before the deadline';
  const tally = `${tallyText(block)}${needs}`;
  return broken('WRONG_STATUS', block.hash, { status, tally, when, allowed: allowed.join(' or ') });
}

/**
 * Returns every status that the observed votes allow. Events do not show the size of personality
 * groups, so a veto is only possible, not certain.
 */
function allowedOutcomes(genesis: Genesis, block: WatchedBlock, isDue: boolean): readonly string[] {
  const { approve, reject, electorate } = block;
  // The model alone predicts the outcome by other rules, which may need more than the events show.
  if (foreignRule(genesis)) return isDue ? ends.decided : ends.any;
  if (genesis.policy === 'majority') {
    if (!isDue && approve + reject < electorate) return ends.voting;
    const turnout = (genesis.participation_bps * electorate) / 10_000;
    if (approve + reject < turnout) return ends.expired;
    return approve > reject ? ends.finalized : ends.rejected;
  }
  if (approve >= leastToFinalize(electorate)) return ends.finalized;
  if (reject >= Math.ceil(electorate / 3)) return ends.rejected;
  if (genesis.policy === 'veto' && mayBeVetoed(block)) {
    return isDue ? ends.vetoedOrExpired : ends.vetoedOrVoting;
  }
  return isDue ? ends.expired : ends.voting;
}

const ends = {
  voting: ['voting'],
  finalized: ['finalized'],
  rejected: ['rejected'],
  expired: ['expired'],
  vetoedOrVoting: ['rejected', 'voting'],
  vetoedOrExpired: ['rejected', 'expired'],
  decided: ['finalized', 'rejected', 'expired'],
  any: ['finalized', 'rejected', 'expired', 'voting'],
};

/** True if three or more voters with one personality rejected and none approved. */
function mayBeVetoed({ groups }: WatchedBlock): boolean {
  for (const { approve, reject } of groups.values()) if (approve === 0 && reject >= 3) return true;
  return false;
}

const leastToFinalize = (electorate: number) => Math.floor((2 * electorate) / 3) + 1;
