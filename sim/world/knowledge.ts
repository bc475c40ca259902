/**
 * Agents' knowledge. Every network event reaches each agent with a delay. Proposals and outcomes
 * arrive through the event feed, votes and memes along the social graph. Arrivals are computed when
 * an agent acts, so nothing is stored per agent and message.
 */
import { canonical } from '../../engine/protocol/canonical.js';
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import {
  blockTag,
  type ContentNote,
  type KnownHead,
  type ReceivedMeme,
  type ReceivedRemark,
  type ReceivedVote,
  stanceTag,
} from '../agents/port.js';
import type { Ordinals } from '../scenario/population.js';
import type { Outbox } from './due-queue.js';
import { Gossip, type Talk } from './gossip.js';
import type { Links } from './links.js';
import { type MessageKind, messageName, OwnNumbers, strangerPlace } from './messages.js';
import type { Cause, Mutes, Observer } from './observer.js';

/** Time for which a block is remembered after it closes. */
const TALK_MS = 10_000;
const HEADS = 8;
/** Limit on remembered contents of pending proposals. */
const CONTENTS = 1_024;

interface KnowledgeOptions {
  links: Links;
  outbox: Outbox | null;
  seedNumber: number;
  neighbours: readonly (readonly number[])[];
  ordinals: Ordinals;
  /** Network head at the start of the run. */
  head: string;
  observer: Observer;
  mutes: Mutes;
}

export class Knowledge {
  readonly #links: Links;
  #seed: number;
  readonly #size: number;
  readonly #ordinals: Ordinals;
  readonly #numbers: OwnNumbers;
  readonly #gossip: Gossip;
  readonly #alliances = new Alliances((id) => this.ordinalOf(id));
  readonly #contents = new Map<string, Content>();
  /** Scores by ordinal. */
  readonly #reputations: Float64Array;
  readonly #talks = new Map<string, Talk>();
  /** Block of the last look-up, because an agent looks up one block several times. */
  #last: Talk | undefined;
  readonly #byTag = new Map<string, Talk>();
  /** Heads with the name and time of the closing event. */
  #heads: Head[];

  constructor(options: KnowledgeOptions) {
    const { links, seedNumber, neighbours, ordinals, head } = options;
    this.#links = links;
    this.#seed = seedNumber;
    this.#size = neighbours.length;
    this.#numbers = new OwnNumbers(neighbours.length);
    this.#reputations = new Float64Array(neighbours.length).fill(FIRST_REPUTATION);
    this.#ordinals = ordinals;
    this.#gossip = new Gossip(options);
    this.#heads = [{ hash: head, closing: 0, at: 0, choice: null, standings: null }];
  }

  noteContent({ block, number, soundness, hasMeme, transactions = [] }: ContentNote): void {
    const content = { soundness, hasMeme, transactions };
    this.#contents.set(block, number === undefined ? content : { ...content, number });
    // Refused proposals never become events, so drop the oldest.
    const [oldest] = this.#contents.keys();
    if (this.#contents.size > CONTENTS && oldest !== undefined) this.#contents.delete(oldest);
  }

  learn(event: Event, at: number, cause: Cause | null): void {
    if (event.type === 'block_validation') this.#vote(event.data, at, cause);
    else if (event.type === 'block_proposal') this.#propose(event, at);
    else if (event.type === 'block_status') this.#close(event, at);
    else if (event.type === 'meme_posted') this.#meme(event, at, cause);
    else if (event.type === 'consensus_discussion') this.#remark(event, at);
    else if (event.type === 'alliance_update') this.#alliances.update(event.data);
    else if (event.type === 'reputation_update') {
      const agent = this.ordinalOf(event.data.agent_id);
      if (agent >= 0) this.#reputations[agent] = event.data.new_score;
    }
  }

  #talk(hash: string): Talk | undefined {
    if (this.#last?.hash !== hash) this.#last = this.#talks.get(hash);
    return this.#last;
  }

  closeReceivedAt(agent: number, closing: number, closedAt: number): number {
    return this.#links.delivery(closing, agent, closedAt);
  }

  /** Uses a different seed to name later messages. */
  redraw(seed: number): void {
    this.#seed = seed;
  }

  /** Returns the name of the agent's next message of a kind, about a block if one is given. */
  nextName(kind: MessageKind, by: number, block?: Talk): number {
    const number = (block?.numbers ?? this.#numbers).take(kind, by);
    return messageName(this.#seed, kind, by, number, block ?? null);
  }

  block(agent: number, hash: string, now: number): Talk | undefined {
    const talk = this.#talk(hash);
    return talk && talk.receivedAt[agent]! <= now ? talk : undefined;
  }

  /** Returns the blocks in voting that the agent has received, in order of proposal. */
  openBlocks(agent: number, now: number): Talk[] {
    const isOpen = ({ hash, receivedAt }: Talk) =>
      receivedAt[agent]! <= now && !this.knowsClosed(agent, hash, now);
    return [...this.#talks.values()].filter(isOpen);
  }

  talk(hash: string): Talk | undefined {
    return this.#talk(hash);
  }

  knowsClosed(agent: number, hash: string, now: number): boolean {
    const talk = this.#talk(hash);
    if (!talk) return true;
    return talk.closedAt !== 0 && this.closeReceivedAt(agent, talk.closing, talk.closedAt) <= now;
  }

  head(agent: number, now: number): KnownHead {
    const known = this.#heads.findLast(
      ({ closing, at }) => this.closeReceivedAt(agent, closing, at) <= now,
    );
    const { hash, choice, standings } = known ?? this.#heads[0]!;
    let contested = false;
    for (const talk of this.#talks.values()) {
      const received = talk.parent === hash && talk.receivedAt[agent]! <= now;
      if (!received || this.knowsClosed(agent, talk.hash, now)) continue;
      if (talk.producer === agent) return { hash, contested: true, own: true, choice, standings };
      contested = true;
    }
    return { hash, contested, own: false, choice, standings };
  }

  receivedVotes(agent: number, hash: string, now: number): ReceivedVote[] {
    const talk = this.#talk(hash);
    const allies = this.#alliances.alliesOf(agent);
    return talk ? this.#gossip.receivedVotes(agent, talk, allies, now) : [];
  }

  /** Returns the approving percentage of received votes, or null without votes. */
  support(agent: number, hash: string, now: number): number | null {
    const talk = this.#talk(hash);
    const allies = this.#alliances.alliesOf(agent);
    return talk ? this.#gossip.support(agent, talk, allies, now) : null;
  }

  receivedMemes(agent: number, hash: string, now: number): readonly ReceivedMeme[] {
    const talk = this.#talk(hash);
    return talk ? this.#gossip.receivedMemes(agent, talk, now) : [];
  }

  receivedRemarks(agent: number, hash: string, now: number, most: number): ReceivedRemark[] {
    const talk = this.#talk(hash);
    return talk ? this.#gossip.receivedRemarks(agent, talk, now, most) : [];
  }

  alliancesOf(agent: number): readonly string[] {
    return this.#alliances.of(agent);
  }

  alliesOf = (agent: number): number[] => [...(this.#alliances.alliesOf(agent) ?? [])];
  membersOf = (alliance: string): readonly number[] => this.#alliances.membersOf(alliance);
  reputationOf = (agent: number): number => this.#reputations[agent] ?? FIRST_REPUTATION;

  /** Returns an agent's ordinal; -1 for an agent outside the scenario. */
  ordinalOf(agentId: string): number {
    return this.#ordinals.get(agentId) ?? -1;
  }

  /** Names an agent in draws, including agents outside the scenario. */
  placeOf(agentId: string): number {
    return this.#ordinals.get(agentId) ?? strangerPlace(agentId);
  }

  #propose(event: Event & { type: 'block_proposal' }, at: number): void {
    const { data } = event;
    const hash = data.block_hash;
    const content = this.#contents.get(hash) ?? UNKNOWN;
    this.#contents.delete(hash);
    const place = this.placeOf(data.producer.id);
    const { number = this.#numbers.take('event.proposal', place) } = content;
    const opening = messageName(this.#seed, 'event.proposal', place, number, null);
    const receivedAt = new Float64Array(this.#size);
    for (let agent = 0; agent < receivedAt.length; agent += 1) {
      receivedAt[agent] = this.#links.delivery(opening, agent, at);
    }
    const talk: Talk = {
      hash,
      place,
      number,
      numbers: new OwnNumbers(this.#size),
      parent: data.parent_hash,
      height: data.height,
      proposedAt: at,
      producer: this.ordinalOf(data.producer.id),
      soundness: content.soundness,
      hasMeme: content.hasMeme,
      transactions: content.transactions,
      options: data.options ?? none,
      opening,
      receivedAt,
      closing: messageName(this.#seed, 'event.close', place, number, null),
      openingBytes: eventBytes(event),
      ...untold(this.#size),
    };
    this.#talks.set(hash, talk);
    this.#last = talk;
    this.#byTag.set(blockTag(hash), talk);
    for (const old of this.#talks.values()) {
      if (old.closedAt === 0 || old.closedAt + TALK_MS > at) continue;
      this.#talks.delete(old.hash);
      this.#last = undefined;
      this.#byTag.delete(blockTag(old.hash));
    }
  }

  #vote(data: EventData['block_validation'], at: number, cause: Cause | null): void {
    const talk = this.#talk(data.block_hash);
    const agent = cause ? cause.from : this.ordinalOf(data.validator.id);
    if (!talk || agent < 0) return;
    talk.votedAt[agent] = at;
    talk.voteNames[agent] = this.nextName('gossip.vote', agent, talk);
    talk.voteBytes[agent] = cause?.bytes ?? 0;
    this.#gossip.vote(talk, agent, data.decision, cause?.memes ?? []);
  }

  #close(event: Event & { type: 'block_status' }, at: number): void {
    const { block_hash: hash, status, choice = null, standings = null } = event.data;
    const talk = this.#talk(hash);
    if (talk) {
      talk.closedAt = at;
      talk.closingBytes = eventBytes(event);
    }
    if (status !== 'finalized') return;
    const closing = talk?.closing ?? unheardOf(hash);
    this.#heads.push({ hash, closing, at, choice, standings });
    if (this.#heads.length > HEADS) this.#heads.shift();
  }

  #meme({ data }: Event & { type: 'meme_posted' }, at: number, cause: Cause | null): void {
    const talk = data.tags.map((tag) => this.#byTag.get(tag)).find((found) => found);
    const name = this.nextName('gossip.meme', this.placeOf(data.creator.id), talk);
    if (!talk) return;
    const stance: Decision = data.tags.includes(stanceTag.approve) ? 'approve' : 'reject';
    const text = cause?.text ?? '';
    const meme = { id: data.meme_id, at, name, bytes: cause?.bytes ?? 0, text };
    this.#gossip.meme(talk, this.ordinalOf(data.creator.id), stance, meme);
  }

  #remark(event: Event & { type: 'consensus_discussion' }, at: number): void {
    const { block_hash, agent, message, sentiment } = event.data;
    const talk = this.#talk(block_hash);
    const name = this.nextName('gossip.remark', this.placeOf(agent.id), talk);
    const stance = stances[sentiment];
    const remark = { message, stance, at, name, bytes: eventBytes(event) };
    if (talk) this.#gossip.remark(talk, this.ordinalOf(agent.id), remark);
  }
}

interface Head extends Pick<KnownHead, 'hash' | 'choice' | 'standings'> {
  closing: number;
  at: number;
}

const none: readonly string[] = [];

type Content = Required<Pick<ContentNote, 'soundness' | 'hasMeme' | 'transactions'>> & {
  /** Number of earlier proposals. Absent for blocks from outside, which are numbered on arrival. */
  number?: number;
};

/** Content of a block from outside the scenario. */
const UNKNOWN: Content = { soundness: 50, hasMeme: false, transactions: [] };
const FIRST_REPUTATION = 50;
const stances = { positive: 'approve', negative: 'reject', neutral: null } as const;

/** State before any message about a block has arrived. */
const untold = (size: number) => ({
  closedAt: 0,
  closingBytes: 0,
  votedAt: new Float64Array(size),
  decisions: new Uint8Array(size),
  voteNames: new Uint32Array(size),
  voteBytes: new Uint32Array(size),
  voteArrivals: new Map(),
  memes: new Uint8Array(size),
  stances: new Map(),
  posted: new Map(),
  remarks: new Map(),
  references: new Map(),
});

/** Message name for the closing of a block that was proposed before the run. */
const unheardOf = (block: string): number => Number.parseInt(block.slice(0, 8), 16);

/** Size as canonical JSON without the sequence number, whose length depends on other events. */
export const eventBytes = ({ type, data }: Event): number =>
  Buffer.byteLength(canonical({ data, type }));

/** Current alliances. Members learn of changes at once, because they agree on each change. */
export class Alliances {
  /** Allies by agent. Agents without allies are absent. */
  readonly #allies = new Map<number, Set<number>>();
  readonly #own = new Map<number, Set<string>>();
  readonly #members = new Map<string, number[]>();
  /** Members of proposed alliances. */
  readonly #founders = new Map<string, number[]>();
  readonly #ordinalOf: (agentId: string) => number;

  constructor(ordinalOf: (agentId: string) => number) {
    this.#ordinalOf = ordinalOf;
  }

  of(agent: number): readonly string[] {
    return [...(this.#own.get(agent) ?? [])];
  }

  alliesOf(agent: number): ReadonlySet<number> | undefined {
    return this.#allies.get(agent);
  }

  membersOf(alliance: string): readonly number[] {
    return this.#members.get(alliance) ?? this.#founders.get(alliance) ?? [];
  }

  update({ alliance_id, status, members }: EventData['alliance_update']): void {
    const before = this.#members.get(alliance_id) ?? [];
    const joined = members.filter(({ role }) => role !== 'invited');
    const inIt = joined.map(({ id }) => this.#ordinalOf(id)).filter((ordinal) => ordinal >= 0);
    const after = status === 'active' ? inIt : [];
    if (status === 'proposed') this.#founders.set(alliance_id, inIt);
    else this.#founders.delete(alliance_id);
    for (const agent of before) this.#own.get(agent)?.delete(alliance_id);
    for (const agent of after) {
      const own = this.#own.get(agent) ?? new Set();
      this.#own.set(agent, own.add(alliance_id));
    }
    if (after.length > 0) this.#members.set(alliance_id, after);
    else this.#members.delete(alliance_id);
    for (const agent of new Set([...before, ...after])) this.#refresh(agent);
  }

  #refresh(agent: number): void {
    const allies = new Set<number>();
    for (const id of this.#own.get(agent) ?? []) {
      for (const member of this.#members.get(id) ?? []) if (member !== agent) allies.add(member);
    }
    if (allies.size > 0) this.#allies.set(agent, allies);
    else this.#allies.delete(agent);
  }
}
