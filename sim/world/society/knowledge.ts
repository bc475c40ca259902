/**
 * What agents have received: the network's events, each known to each agent some time after it
 * happened. Proposals and outcomes come by the network's feed; votes and memes along the social
 * graph, pulled when somebody decides, so that nothing is kept for each (agent, message).
 */
import type { Decision, Event } from '../../../engine/internal.js';
import { blockTag, stanceTag } from '../../agents/port/content.js';
import type { BlockTalk, KnownHead, ReceivedMeme, ReceivedVote } from '../../agents/port/known.js';
import type { ContentNote } from '../../agents/port/notes.js';
import type { Links } from '../links/links.js';

/** How long after its end a block is still talked about. */
const TALK_MS = 10_000;
const HEADS = 8;
/** Proposals on their way whose content is remembered. */
const CONTENTS = 1_024;

export class Knowledge {
  readonly #links: Links;
  readonly #neighbours: readonly (readonly number[])[];
  /** Told of what neighbours said, and of what was lost. */
  readonly #traffic: (what: 'sent' | 'lost', count: number) => void;
  readonly #ordinals: ReadonlyMap<string, number>;
  readonly #contents = new Map<string, Pick<ContentNote, 'soundness' | 'hasMeme'>>();
  readonly #talks = new Map<string, BlockTalk>();
  readonly #byTag = new Map<string, BlockTalk>();
  /** Of those who have any: most agents have none. */
  readonly #allies = new Map<number, Set<number>>();
  readonly #alliances = new Map<number, Set<string>>();
  readonly #members = new Map<string, number[]>();
  #heads: { hash: string; seq: number; at: number }[];

  constructor(
    links: Links,
    neighbours: readonly (readonly number[])[],
    ordinals: ReadonlyMap<string, number>,
    genesisHash: string,
    traffic: (what: 'sent' | 'lost', count: number) => void,
  ) {
    this.#links = links;
    this.#traffic = traffic;
    this.#neighbours = neighbours;
    this.#ordinals = ordinals;
    this.#heads = [{ hash: genesisHash, seq: 0, at: 0 }];
  }

  noteContent({ block, soundness, hasMeme }: ContentNote): void {
    this.#contents.set(block, { soundness, hasMeme });
    // A proposal that was refused is never received: the oldest of them go.
    const [oldest] = this.#contents.keys();
    if (this.#contents.size > CONTENTS && oldest !== undefined) this.#contents.delete(oldest);
  }

  /** Takes one event in; `at` is when it happened. */
  learn(event: Event, at: number): void {
    if (event.type === 'block_proposal') this.#propose(event, at);
    else if (event.type === 'block_validation') this.#vote(event.data, at);
    else if (event.type === 'block_status') this.#close(event, at);
    else if (event.type === 'meme_posted') this.#meme(event.data, at);
    else if (event.type === 'alliance_update') this.#ally(event.data);
  }

  receivedAt(agent: number, talk: BlockTalk): number {
    return this.#links.delivery(talk.seq, agent, talk.proposedAt);
  }

  closeReceivedAt(agent: number, seq: number, closedAt: number): number {
    return this.#links.delivery(-seq, agent, closedAt);
  }

  block(agent: number, hash: string, now: number): BlockTalk | undefined {
    const talk = this.#talks.get(hash);
    return talk && this.receivedAt(agent, talk) <= now ? talk : undefined;
  }

  talk(hash: string): BlockTalk | undefined {
    return this.#talks.get(hash);
  }

  knowsClosed(agent: number, hash: string, now: number): boolean {
    const talk = this.#talks.get(hash);
    if (!talk) return true;
    return talk.closedAt !== 0 && this.closeReceivedAt(agent, talk.seq, talk.closedAt) <= now;
  }

  head(agent: number, now: number): KnownHead {
    const known = this.#heads.findLast((h) => this.closeReceivedAt(agent, h.seq, h.at) <= now);
    const hash = (known ?? this.#heads[0]!).hash;
    let contested = false;
    for (const talk of this.#talks.values()) {
      const received = talk.parent === hash && this.receivedAt(agent, talk) <= now;
      if (!received || this.knowsClosed(agent, talk.hash, now)) continue;
      if (talk.producer === agent) return { hash, contested: true, own: true };
      contested = true;
    }
    return { hash, contested, own: false };
  }

  receivedVotes(agent: number, hash: string, now: number): ReceivedVote[] {
    const talk = this.#talks.get(hash);
    const received: ReceivedVote[] = [];
    const allies = this.#allies.get(agent);
    let sent = 0;
    let lost = 0;
    for (const other of talk ? this.#neighbours[agent]! : []) {
      const at = talk!.votedAt[other]!;
      if (at === 0 || other === agent) continue;
      const arrives = this.#links.arrival(talk!.seq, other, agent, at);
      sent += 1;
      if (arrives === Number.POSITIVE_INFINITY) lost += 1;
      if (arrives > now) continue;
      const decision: Decision = talk!.decisions[other] === 1 ? 'approve' : 'reject';
      received.push({ agent: other, decision, ally: allies?.has(other) === true });
    }
    if (sent > 0) this.#traffic('sent', sent);
    if (lost > 0) this.#traffic('lost', lost);
    return received;
  }

  receivedMemes(agent: number, hash: string, now: number): ReceivedMeme[] {
    const talk = this.#talks.get(hash);
    const received = new Map<string, ReceivedMeme>();
    for (const other of talk ? this.#neighbours[agent]! : []) {
      for (const id of talk!.passedOn.get(other) ?? []) {
        const meme = talk!.memes.get(id);
        if (!meme || this.#links.arrival(talk!.seq, other, agent, meme.at) > now) continue;
        received.set(id, { id, stance: meme.stance });
      }
    }
    return [...received.values()];
  }

  share(agent: number, hash: string, memes: readonly string[]): void {
    const talk = this.#talks.get(hash);
    if (!talk) return;
    for (const id of memes) this.#passOn(talk, agent, id);
  }

  alliancesOf(agent: number): readonly string[] {
    return [...(this.#alliances.get(agent) ?? [])];
  }

  /** -1 for an agent that is not of the scenario. */
  ordinalOf(agentId: string): number {
    return this.#ordinals.get(agentId) ?? -1;
  }

  /** Blocks in voting. */
  *open(): Iterable<BlockTalk> {
    for (const talk of this.#talks.values()) if (talk.closedAt === 0) yield talk;
  }

  #propose({ data, seq }: Event & { type: 'block_proposal' }, at: number): void {
    const content = this.#contents.get(data.block_hash) ?? { soundness: 50, hasMeme: false };
    this.#contents.delete(data.block_hash);
    const size = this.#neighbours.length;
    const talk: BlockTalk = {
      hash: data.block_hash,
      seq,
      parent: data.parent_hash,
      proposedAt: at,
      producer: this.ordinalOf(data.producer.id),
      closedAt: 0,
      ...content,
      votedAt: new Float64Array(size),
      decisions: new Uint8Array(size),
      memes: new Map(),
      passedOn: new Map(),
    };
    this.#talks.set(talk.hash, talk);
    this.#byTag.set(blockTag(talk.hash), talk);
    for (const old of this.#talks.values()) {
      if (old.closedAt === 0 || old.closedAt + TALK_MS > at) continue;
      this.#talks.delete(old.hash);
      this.#byTag.delete(blockTag(old.hash));
    }
  }

  #vote(data: (Event & { type: 'block_validation' })['data'], at: number): void {
    const talk = this.#talks.get(data.block_hash);
    if (!talk) return;
    const agent = this.ordinalOf(data.validator.id);
    if (agent < 0) return;
    talk.votedAt[agent] = at;
    talk.decisions[agent] = data.decision === 'approve' ? 1 : 2;
  }

  #close({ data }: Event & { type: 'block_status' }, at: number): void {
    const talk = this.#talks.get(data.block_hash);
    if (talk) talk.closedAt = at;
    if (data.status !== 'finalized') return;
    this.#heads.push({ hash: data.block_hash, seq: talk?.seq ?? 0, at });
    if (this.#heads.length > HEADS) this.#heads.shift();
  }

  #meme(data: (Event & { type: 'meme_posted' })['data'], at: number): void {
    const talk = data.tags.map((tag) => this.#byTag.get(tag)).find((found) => found);
    if (!talk) return;
    const stance: Decision = data.tags.includes(stanceTag.approve) ? 'approve' : 'reject';
    talk.memes.set(data.meme_id, { stance, at });
    this.#passOn(talk, this.ordinalOf(data.creator.id), data.meme_id);
  }

  #passOn(talk: BlockTalk, agent: number, meme: string): void {
    const known = talk.passedOn.get(agent);
    if (!known) talk.passedOn.set(agent, [meme]);
    else if (!known.includes(meme)) known.push(meme);
  }

  /** Members hear of each other at once: an alliance is agreed between them. */
  #ally({ alliance_id, status, members }: (Event & { type: 'alliance_update' })['data']): void {
    const before = this.#members.get(alliance_id) ?? [];
    const joined = members.filter(({ role }) => status === 'active' && role !== 'invited');
    const after = joined.map(({ id }) => this.ordinalOf(id)).filter((ordinal) => ordinal >= 0);
    for (const agent of before) this.#alliances.get(agent)?.delete(alliance_id);
    for (const agent of after) {
      const own = this.#alliances.get(agent) ?? new Set();
      this.#alliances.set(agent, own.add(alliance_id));
    }
    if (after.length > 0) this.#members.set(alliance_id, after);
    else this.#members.delete(alliance_id);
    for (const agent of new Set([...before, ...after])) this.#refreshAllies(agent);
  }

  #refreshAllies(agent: number): void {
    const allies = new Set<number>();
    for (const id of this.#alliances.get(agent) ?? []) {
      for (const member of this.#members.get(id) ?? []) if (member !== agent) allies.add(member);
    }
    if (allies.size > 0) this.#allies.set(agent, allies);
    else this.#allies.delete(agent);
  }
}
