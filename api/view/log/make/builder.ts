/** From entries and their events to the rows of a span. Its numbers go on from a picture's. */
import {
  type Event,
  type EventData,
  type Genesis,
  type IndexedEntry,
  StoreError,
  type Views,
} from '../../../../engine/internal.js';
import {
  type AllianceRow,
  allianceStatuses,
  blockStatuses,
  type Introduced,
  type Picture,
  type RowKind,
  rowKinds,
  type Said,
  type Span,
  sentiments,
  statuses,
} from '../../index.js';
import { Blocks } from './blocks.js';
import { Columns } from './columns.js';
import { type Roster, shortened } from './roster.js';

const code = Object.fromEntries(rowKinds.map((kind, index) => [kind, index])) as Record<
  RowKind,
  number
>;

/** One entry with what came of it. */
export interface Built {
  seq: number;
  at: number;
  indexed: IndexedEntry;
  events: readonly Event[];
}

export class Builder {
  readonly #roster: Roster;
  readonly #blocks: Blocks;
  readonly #from: number;
  readonly #columns = new Columns();
  readonly #introduced: Introduced = { agents: [], blocks: [], memes: [], alliances: [] };
  /** Those that may still change, by id. */
  readonly #alliances = new Map<string, AllianceRow>();
  readonly #said: Said[] = [];
  /** Of all texts so far. */
  characters = 0;
  #agents: number;
  #memes: number;
  #allianceCount: number;
  #eventSeq: number;
  #to: number;
  #at: number;

  /** Goes on after a picture. */
  constructor(read: Views, genesis: Genesis, roster: Roster, after: Picture) {
    this.#roster = roster;
    this.#blocks = new Blocks(read, genesis, roster);
    this.#from = after.entry + 1;
    this.#to = after.entry;
    this.#at = after.at;
    this.#eventSeq = after.event_seq;
    this.#agents = after.agents.length;
    this.#memes = after.totals.memes;
    this.#allianceCount = after.totals.alliances;
    for (const alliance of after.alliances) {
      if (isOpen(alliance.status)) this.#alliances.set(alliance.id, alliance);
    }
  }

  get rows(): number {
    return this.#columns.length;
  }

  /** The last entry that was added. */
  get to(): number {
    return this.#to;
  }

  get eventSeq(): number {
    return this.#eventSeq;
  }

  /** All rows so far; digests are for who knows them. */
  span(digests: { digest: string; log_digest: string }): Span {
    return {
      from: this.#from,
      to: this.#to,
      event_seq: this.#eventSeq,
      at: this.#at,
      ...digests,
      rows: this.#columns.view(),
      introduced: this.#introduced,
      said: this.#said,
      omitted: 0,
    };
  }

  /** @throws {StoreError} when what is stored does not fit together; it is of no use then. */
  add({ seq, at, indexed, events }: Built): void {
    if (seq !== this.#to + 1) throw new Error(`entry ${seq} does not follow ${this.#to}`);
    if (!(at >= this.#at)) throw new StoreError('CORRUPT', `entry ${seq} goes back in time`);
    if (indexed.registers) {
      const agent = this.#roster.at(this.#agents);
      this.#introduced.agents.push(agent);
      this.#agents += 1;
      this.#push(seq, at, 'registered', agent.number);
    }
    for (const event of events) this.#event(seq, at, event);
    for (const { agent, dormant } of indexed.turned) {
      this.#push(seq, at, 'dormancy', agent, 0, dormant ? 1 : 0);
    }
    this.#eventSeq += events.length;
    this.#to = seq;
    this.#at = at;
  }

  #push(entry: number, at: number, kind: RowKind, who: number, what = 0, value = 0): void {
    this.#columns.push({ entry: entry - this.#from, at, kind: code[kind], who, what, value });
  }

  #event(seq: number, at: number, event: Event): void {
    const { type, data } = event;
    if (type === 'block_validation') this.#vote(seq, at, data);
    else if (type === 'reputation_update') {
      const score = Math.round(data.new_score * 10_000);
      this.#push(seq, at, type, this.#roster.numberOf(data.agent_id), 0, score);
    } else if (type === 'block_proposal') {
      const block = this.#blocks.introduced(data.block_hash);
      this.#introduced.blocks.push(block);
      this.#push(seq, at, type, block.producer, block.number);
    } else if (type === 'block_status') {
      const { number, producer } = this.#blocks.of(data.block_hash);
      this.#push(seq, at, type, producer, number, indexIn(blockStatuses, data.status));
    } else if (type === 'network_metrics') {
      this.#push(seq, at, type, 0, 0, Math.round(data.tps * 1_000));
    } else if (type === 'agent_status') {
      const status = indexIn(statuses, data.status);
      this.#push(seq, at, type, this.#roster.numberOf(data.agent_id), 0, status);
    } else if (type === 'meme_posted') this.#meme(seq, at, data);
    else if (type === 'consensus_discussion') this.#remark(seq, at, data);
    else this.#ally(seq, at, data);
  }

  #vote(seq: number, at: number, data: EventData['block_validation']): void {
    const who = this.#roster.numberOf(data.validator.id);
    const block = this.#blocks.of(data.block_hash);
    const reject = data.decision === 'reject' ? 1 : 0;
    const value = 2 * this.#blocks.weight(block, who) + reject;
    this.#push(seq, at, 'block_validation', who, block.number, value);
    if (data.reason === '') return;
    this.#say({ entry: seq, at, who, kind: 'reason', what: block.number, text: data.reason });
  }

  #remark(seq: number, at: number, data: EventData['consensus_discussion']): void {
    const who = this.#roster.numberOf(data.agent.id);
    const { number } = this.#blocks.of(data.block_hash);
    const tone = indexIn(sentiments, data.sentiment);
    this.#push(seq, at, 'consensus_discussion', who, number, tone);
    this.#say({ entry: seq, at, who, kind: 'remark', what: number, text: data.message });
  }

  #meme(seq: number, at: number, data: EventData['meme_posted']): void {
    const creator = this.#roster.numberOf(data.creator.id);
    const number = this.#memes;
    this.#memes += 1;
    const { type } = data.content;
    const caption = shortened(data.content.caption);
    const meme = { number, id: data.meme_id, creator, type, caption, entry: seq };
    this.#introduced.memes.push(meme);
    this.#push(seq, at, 'meme_posted', creator, number);
    this.#say({ entry: seq, at, who: creator, kind: 'meme', what: number, text: caption });
  }

  #ally(seq: number, at: number, data: EventData['alliance_update']): void {
    const known = this.#alliances.get(data.alliance_id);
    const row = isOpen(data.status) ? this.#allied(data, known) : over(data, known);
    const made: AllianceRow = { ...row, status: data.status, at, entry: seq };
    if (!known) {
      made.number = this.#allianceCount;
      made.proposed_at = at;
      this.#allianceCount += 1;
    }
    if (isOpen(data.status)) this.#alliances.set(data.alliance_id, made);
    else this.#alliances.delete(data.alliance_id);
    this.#introduced.alliances.push(made);
    const value = indexIn(allianceStatuses, data.status);
    this.#push(seq, at, 'alliance_update', made.founder, made.number, value);
  }

  #allied(data: EventData['alliance_update'], known: AllianceRow | undefined): AllianceRow {
    const numbers = (roles: readonly string[]) =>
      data.members
        .filter(({ role }) => roles.includes(role))
        .map(({ id }) => this.#roster.numberOf(id));
    const [founder = 0] = numbers(['founder']);
    return {
      number: known?.number ?? 0,
      id: data.alliance_id,
      purpose: shortened(data.purpose),
      duration: shortened(data.duration),
      status: data.status,
      founder,
      members: numbers(['founder', 'member']),
      invited: numbers(['invited']),
      proposed_at: known?.proposed_at ?? 0,
      at: 0,
      entry: 0,
    };
  }

  #say(said: Said): void {
    const text = shortened(said.text);
    this.#said.push({ ...said, text });
    this.characters += text.length;
  }
}

const isOpen = (status: string) => status === 'proposed' || status === 'active';

/** One that is over shows no members: those that it last had stay, and nobody is asked any more. */
function over(data: EventData['alliance_update'], known: AllianceRow | undefined): AllianceRow {
  if (known) return { ...known, invited: [] };
  throw new StoreError('CORRUPT', `alliance ${data.alliance_id} ended before it was proposed`);
}

function indexIn(names: readonly string[], name: string): number {
  const index = names.indexOf(name);
  if (index < 0) throw new StoreError('CORRUPT', `an event says ${JSON.stringify(name)}`);
  return index;
}
