/**
 * Rules that must hold independently of the model. They are checked on events and answers alone, so
 * that a wrong model that agrees with a wrong network is still found out.
 */
import type { Outcome } from '../../engine/core/state.js';
import type { Command } from '../../engine/protocol/schema/command.js';
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { AnswerOf } from '../../engine/protocol/schema/view.js';
import { type BrokenRule, instantText, shortenId } from './violation.js';

/** One step: a command with what came of it, or only time. */
interface Step {
  at: number;
  command: Command | null;
  outcome: Outcome | null;
  events: readonly Event[];
}

const MOST_OPEN = 8;

export class Safety {
  readonly #genesis: Genesis;
  readonly #open = new Map<string, WatchedBlock>();
  /** How each block ended. */
  readonly #ended = new Map<string, string>();
  #head = { hash: '0'.repeat(64), height: 0 };
  #seq = 0;
  #lastInstant = '';
  /** When the first of the open blocks is over. */
  #soonest = Number.POSITIVE_INFINITY;

  constructor(genesis: Genesis) {
    this.#genesis = genesis;
  }

  watch(step: Step): BrokenRule | null {
    for (const event of step.events) {
      const found = this.#number(event, step.at) ?? this.#take(event, step);
      if (found) return found;
    }
    return this.#checkOpen(step);
  }

  /** Event numbers have no gap, and their times never go back. */
  #number({ seq, data }: Event, at: number): BrokenRule | null {
    const expected = this.#seq + 1;
    if (seq !== expected) {
      return broken('event-number', `event ${seq}`, 'an event left out or published twice', {
        expected: `event ${expected}`,
      });
    }
    this.#seq = seq;
    const { timestamp } = data;
    if (timestamp < this.#lastInstant || timestamp > instantText(at)) {
      const expected = `a time from ${this.#lastInstant} to ${instantText(at)}`;
      return broken('event-time', `event ${seq}`, `published for ${timestamp}`, { expected });
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
      return broken('proposal', hash, 'published though nobody proposed it', {
        expected: 'an accepted proposal',
      });
    }
    if (this.#open.has(hash) || this.#ended.has(hash)) {
      return broken('proposal', hash, 'proposed twice', { expected: 'each block once' });
    }
    if (parent !== this.#head.hash || height !== this.#head.height + 1) return this.#apart(data);
    for (const other of this.#open.values()) {
      if (other.producer !== producer.id) continue;
      const expected = 'one block in voting a producer';
      return broken('open-blocks', producer.id, 'has two blocks in voting', { expected });
    }
    const { electorate } = outcome.data as AnswerOf['propose'];
    const deadline = at + this.#genesis.voting_period_ms;
    const counted = { approve: 0, reject: 0, voters: new Set<string>(), groups: new Map() };
    const published = { hash, parent, height, producer: producer.id };
    this.#open.set(hash, { ...published, electorate, deadline, ...counted });
    if (this.#open.size <= MOST_OPEN) return null;
    return broken('open-blocks', hash, `block ${this.#open.size} in voting`, {
      expected: `at most ${MOST_OPEN}`,
    });
  }

  #vote(data: EventData['block_validation'], { at, command, outcome }: Step): BrokenRule | null {
    const { block_hash: hash, validator } = data;
    if (outcome?.result !== 'accepted' || command?.kind !== 'vote') {
      const found = `a vote of ${shortenId(validator.id)} was published that was not accepted`;
      return broken('vote', hash, found, { expected: 'votes that were accepted, only' });
    }
    const block = this.#open.get(hash);
    if (!block || at > block.deadline) {
      const end = this.#ended.get(hash) ?? (block ? 'its deadline' : 'no proposal');
      const found = `a vote of ${shortenId(validator.id)} was counted after ${end}`;
      return broken('vote-after-end', hash, found, { expected: 'no vote after the end' });
    }
    return countVote(this.#genesis, block, data, outcome.data as AnswerOf['vote']);
  }

  #end(data: EventData['block_status'], step: Step): BrokenRule | null {
    const { block_hash: hash, status, approve, reject, electorate, timestamp } = data;
    const block = this.#open.get(hash);
    if (!block) {
      const before = this.#ended.get(hash);
      const found = `${status}, after ${before ?? 'no proposal'}`;
      return broken('end-once', hash, found, { expected: 'one end a block' });
    }
    const counted = `${block.approve} to ${block.reject} of ${block.electorate}`;
    if (counted !== `${approve} to ${reject} of ${electorate}`) {
      const found = `ended with ${approve} to ${reject} of ${electorate}`;
      return broken('tally', hash, found, { expected: counted });
    }
    const isDue = timestamp > instantText(block.deadline);
    const wrong = checkEnd(this.#genesis, block, { status, isDue });
    if (wrong) return wrong;
    if (status === 'finalized') return this.#finalize(block) ?? this.#close(block, status);
    if (status === 'orphaned' && this.#head.height !== block.height && !this.#gaveWay(step)) {
      return broken('orphan', hash, 'orphaned while no other block of its height is final', {
        expected: 'a finalized sibling first, or an accepted proposal when all places are taken',
      });
    }
    return this.#close(block, status);
  }

  /** Whether a proposal took the place of one of as many blocks as there may be. */
  #gaveWay({ command, outcome }: Step): boolean {
    const isTaken = command?.kind === 'propose' && outcome?.result === 'accepted';
    return isTaken && this.#open.size === MOST_OPEN;
  }

  #finalize(block: WatchedBlock): BrokenRule | null {
    const { height, hash, parent } = block;
    if (height <= this.#head.height) {
      const found = `finalized at height ${height}, which has ${shortenId(this.#head.hash)}`;
      return broken('one-block-a-height', hash, found, { expected: 'one block a height' });
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
    const found = `at height ${data.height} on ${shortenId(data.parent_hash)}`;
    const expected = `height ${height + 1} on the head ${shortenId(hash)}`;
    return broken('extends-head', data.block_hash, found, { expected });
  }

  #measure({ block_height, head_hash }: EventData['network_metrics']): BrokenRule | null {
    const { height, hash } = this.#head;
    if (block_height === height && head_hash === hash) return null;
    const found = `height ${block_height}, head ${shortenId(head_hash)}`;
    const expected = `height ${height}, head ${shortenId(hash)}`;
    return broken('height', 'network', found, { expected });
  }

  /**
   * After a step nothing is in voting that is decided, overdue, or beaten by a sibling. A vote
   * alone can only decide its own block; others have been looked at since anything else happened.
   */
  #checkOpen({ at, events }: Step): BrokenRule | null {
    const [event] = events;
    if (at > this.#soonest || events.length > 1) return this.#checkEach(at);
    if (event === undefined) return null;
    if (event.type !== 'block_validation') return this.#checkEach(at);
    return this.#checkVoting(this.#open.get(event.data.block_hash)!, at);
  }

  #checkEach(at: number): BrokenRule | null {
    this.#soonest = Number.POSITIVE_INFINITY;
    for (const block of this.#open.values()) {
      this.#soonest = Math.min(this.#soonest, block.deadline);
      const wrong = this.#checkVoting(block, at);
      if (wrong) return wrong;
    }
    return null;
  }

  #checkVoting(block: WatchedBlock, at: number): BrokenRule | null {
    const { hash, height, deadline } = block;
    if (height <= this.#head.height) {
      const expected = 'orphaned with the end of its sibling';
      return broken('orphan', hash, 'in voting at a height that is final', { expected });
    }
    if (deadline < at) {
      const found = `in voting after its deadline ${instantText(deadline)}`;
      return broken('deadline', hash, found, { expected: 'its end' });
    }
    return checkEnd(this.#genesis, block, { status: 'voting', isDue: false });
  }
}

const broken = (
  rule: string,
  actor: string,
  found: string,
  { expected }: { expected: string },
): BrokenRule => ({ rule, actor, expected, found });

/** A block as the safety rules see it: only what was published of it, and the votes seen. */
interface WatchedBlock {
  hash: string;
  parent: string;
  height: number;
  producer: string;
  /** Weight of the electorate, as the proposal's answer gave it. */
  electorate: number;
  deadline: number;
  approve: number;
  reject: number;
  voters: Set<string>;
  /** Heads by personality, where they may veto. */
  groups: Map<string, { approve: number; reject: number }>;
}

/** What one vote may weigh. */
const weights = { equal: [1, 1], reputation: [1, 100], alliance_bonus: [100, 110] } as const;

/** Counts a vote, with the tally after it as its answer gave it; what is wrong with it, or null. */
function countVote(
  genesis: Genesis,
  block: WatchedBlock,
  { validator, decision }: EventData['block_validation'],
  { tally }: AnswerOf['vote'],
): BrokenRule | null {
  const { id: by, personality } = validator;
  // One look at the set: a vote that is there already leaves it as large as it was.
  const before = block.voters.size;
  if (block.voters.add(by).size === before) {
    const found = `a second vote of ${shortenId(by)} was counted`;
    return { rule: 'vote-once', actor: block.hash, expected: 'one vote an elector', found };
  }
  const moved = tally[decision] - block[decision];
  const other = decision === 'approve' ? 'reject' : 'approve';
  const [least, most] = weights[genesis.weights];
  const isFair = moved >= least && moved <= most && tally[other] === block[other];
  if (!isFair || tally.electorate !== block.electorate) {
    const { approve, reject, electorate } = tally;
    const found = `${approve} to ${reject} of ${electorate} after a vote to ${decision}`;
    const was = `${block.approve} to ${block.reject} of ${block.electorate}`;
    const more = least === most ? least : `${least} to ${most}`;
    const expected = `${was}, and ${more} more to ${decision}`;
    return { rule: 'tally', actor: block.hash, expected, found };
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

/** Whether the votes seen allow this end; `isDue`: the deadline is over. */
function checkEnd(
  genesis: Genesis,
  block: WatchedBlock,
  { status, isDue }: { status: string; isDue: boolean },
): BrokenRule | null {
  const { approve, reject, electorate } = block;
  if (status === 'orphaned') return null;
  const allowed = allowedOutcomes(genesis, block, isDue);
  if (allowed.includes(status)) return null;
  const needs = genesis.policy === 'majority' ? '' : ` (needs ${leastToFinalize(electorate)})`;
  const when = isDue ? 'after the deadline' : 'before the deadline';
  const found = `${status} with ${approve} to ${reject} of ${electorate}${needs}, ${when}`;
  return { rule: 'quorum', actor: block.hash, expected: allowed.join(' or '), found };
}

/** All that the votes seen allow to become of it. What a veto takes is not all visible here. */
function allowedOutcomes(genesis: Genesis, block: WatchedBlock, isDue: boolean): readonly string[] {
  const { approve, reject, electorate } = block;
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
};

/** Whether three of one personality or more have rejected, and none of it approved. */
function mayBeVetoed({ groups }: WatchedBlock): boolean {
  for (const { approve, reject } of groups.values()) if (approve === 0 && reject >= 3) return true;
  return false;
}

const leastToFinalize = (electorate: number) => Math.floor((2 * electorate) / 3) + 1;
