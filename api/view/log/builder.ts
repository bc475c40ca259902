/**
 * Builds row batches from entries and their events. Numbers for agents, blocks, memes and alliances
 * continue from a snapshot.
 */

import type { PublishedEvent } from '../../../engine/node/encode.js';
import {
  firstEventOf,
  type IndexedEntry,
  type IndexRow,
} from '../../../engine/node/entry-index.js';
import type { ServedNetwork } from '../../../engine/node/kept-network.js';
import type { Views } from '../../../engine/node/views.js';
import {
  agentOf,
  allianceStatuses,
  eventRows,
  type RowValue,
} from '../../../engine/protocol/event-types.js';
import type { Event, EventData } from '../../../engine/protocol/schema/event.js';
import type { Genesis } from '../../../engine/protocol/schema/genesis.js';
import type { RecordOf } from '../../../engine/protocol/schema/record.js';
import { ruleOf } from '../../../engine/rules/network-rule.js';
import { defineStoreErrors, StoreError, storeError } from '../../../engine/store/messages.js';
import {
  type AgentRow,
  type AllianceRow,
  type BlockRow,
  formatRowValue,
  type Introductions,
  type Message,
  type RowBatch,
  type RowKind,
  type Rows,
  rowCode,
  type Snapshot,
  viewLimits,
} from '../model.js';
import { newRows } from '../row-batch.js';

/** Errors of a log whose events contradict each other. */
export const logError = defineStoreErrors({
  CORRUPT: {
    TIME_DECREASES: 'time decreases at entry {seq}',
    ALLIANCE_ORDER: 'alliance {id} ended before its proposal',
    EVENT_VALUE: 'unknown value in an event: {value}',
    ELECTOR_MISSING: 'agent {agent} is not in the electorate of block {block}',
    ENTRY_INCONSISTENT:
      'inconsistent events in entry {seq}: {reason}; run folkmoot replay on the folder for details',
    ENTRIES_INCONSISTENT: `inconsistent events in entries {from} to {to}: {reason};
      run folkmoot replay on the folder for details`,
  },
});

interface Built {
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
  readonly #introduced: Introductions = { agents: [], blocks: [], memes: [], alliances: [] };
  /** Open alliances, by id. */
  readonly #alliances = new Map<string, AllianceRow>();
  readonly #messages: Message[] = [];
  /** Number of characters in all texts so far. */
  characters = 0;
  #agents: number;
  #memes: number;
  #allianceCount: number;
  #eventSeq: number;
  #to: number;
  #at: number;

  /** Continues after a snapshot. */
  constructor(read: Views, genesis: Genesis, roster: Roster, after: Snapshot) {
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

  /** Last added entry. */
  get to(): number {
    return this.#to;
  }

  get eventSeq(): number {
    return this.#eventSeq;
  }

  /** Returns all rows so far, with the given digests. */
  toRowBatch(digests: { digest: string; log_digest: string }): RowBatch {
    return {
      from: this.#from,
      to: this.#to,
      event_seq: this.#eventSeq,
      at: this.#at,
      ...digests,
      rows: this.#columns.view(),
      introduced: this.#introduced,
      said: this.#messages,
      omitted: 0,
    };
  }

  /** @throws {StoreError} if the stored data is inconsistent. The builder is then unusable. */
  add({ seq, at, indexed, events }: Built): void {
    if (seq !== this.#to + 1) throw new Error(`entry ${seq} does not follow ${this.#to}`);
    if (!(at >= this.#at)) throw logError('TIME_DECREASES', { seq });
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
    this.#columns.push({ entry: entry - this.#from, at, kind: rowCode[kind], who, what, value });
  }

  #event(seq: number, at: number, event: Event): void {
    const { type, data } = event;
    if (type === 'meme_posted') this.#meme(seq, at, data);
    else if (type === 'alliance_update') this.#ally(seq, at, data);
    else {
      if (type === 'block_proposal') {
        this.#introduced.blocks.push(this.#blocks.introduced(data.block_hash));
      }
      this.#tell(seq, at, event);
    }
  }

  /** Adds an event's row, under its agent or its block's producer. */
  #tell(seq: number, at: number, event: Event): void {
    const { type, data } = event;
    const { value, says } = eventRows[type].row;
    const id = agentOf(event);
    const block = 'block_hash' in data ? this.#blocks.of(data.block_hash) : null;
    const who = id === undefined ? (block?.producer ?? 0) : this.#roster.numberOf(id);
    const what = block?.number ?? 0;
    let code = value ? codeOf(value, data) : 0;
    if (value && 'weighted' in value) code += 2 * this.#blocks.weight(block!, who);
    this.#push(seq, at, type, who, what, code);
    const text = says && memberOf(data, says.of);
    if (!text) return;
    const stance = formatRowValue(value, code);
    const said = { entry: seq, at, who, kind: says.kind, what, stance, text: text as string };
    this.#addMessage(said);
  }

  #meme(seq: number, at: number, data: EventData['meme_posted']): void {
    const creator = this.#roster.numberOf(data.creator.id);
    const number = this.#memes;
    this.#memes += 1;
    const { type } = data.content;
    const caption = shortened(data.content.caption);
    const meme = { number, id: data.meme_id, creator, type, caption, entry: seq, at };
    this.#introduced.memes.push(meme);
    this.#push(seq, at, 'meme_posted', creator, number);
    const said = { entry: seq, at, who: creator, kind: 'meme', what: number, stance: '' } as const;
    this.#addMessage({ ...said, text: caption });
  }

  #ally(seq: number, at: number, data: EventData['alliance_update']): void {
    const known = this.#alliances.get(data.alliance_id);
    const row = isOpen(data.status) ? this.#allied(data, known) : endAlliance(data, known);
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

  #addMessage(said: Message): void {
    const text = shortened(said.text);
    this.#messages.push({ ...said, text });
    this.characters += text.length;
  }
}

const isOpen = (status: string) => status === 'proposed' || status === 'active';

/** An ended alliance keeps its last members, without invitations. */
function endAlliance(
  data: EventData['alliance_update'],
  known: AllianceRow | undefined,
): AllianceRow {
  if (known) return { ...known, invited: [] };
  throw logError('ALLIANCE_ORDER', { id: data.alliance_id });
}

const memberOf = (data: object, name: string) => (data as Record<string, unknown>)[name];

function codeOf(value: RowValue, data: object): number {
  const member = memberOf(data, value.of);
  if ('words' in value) return indexIn(value.words, member as string);
  return Math.round((member as number) * value.times);
}

function indexIn(names: readonly string[], name: string): number {
  const index = names.indexOf(name);
  if (index < 0) throw logError('EVENT_VALUE', { value: JSON.stringify(name) });
  return index;
}

/**
 * Adds an index row's entries, from the builder's position to `to`.
 *
 * @throws {StoreError} if data is unreadable or inconsistent. The builder is then unusable.
 */
export function addRow(
  builder: Builder,
  network: ServedNetwork,
  cache: EventCache,
  { row, to }: { row: IndexRow; to: number },
): void {
  const { first, entries, event_seq } = row;
  let next = firstEventOf(row);
  const from = builder.to + 1;
  const skipped = entries.slice(0, Math.max(0, from - first));
  next += skipped.reduce((sum, { events }) => sum + events, 0);
  const events = eventsOf(network, cache, next, event_seq);
  let taken = 0;
  for (let seq = Math.max(from, first); seq <= Math.min(row.last, to); seq += 1) {
    const indexed = entries[seq - first]!;
    const own = events.slice(taken, taken + indexed.events);
    taken += indexed.events;
    add(builder, network, { seq, indexed, events: own });
  }
}

function add(
  builder: Builder,
  network: ServedNetwork,
  { seq, indexed, events }: { seq: number; indexed: IndexedEntry; events: readonly Event[] },
): void {
  try {
    const at = timeOf(network, seq, events[0]);
    builder.add({ seq, at, indexed, events });
  } catch (cause) {
    if (cause instanceof StoreError && cause.code !== 'CORRUPT') throw cause;
    const reason = (cause as Error).message;
    throw logError('ENTRY_INCONSISTENT', { seq, reason }, { cause });
  }
}

/** Returns the entry's time, which its events carry. */
function timeOf(network: ServedNetwork, seq: number, event: Event | undefined): number {
  if (event) return Date.parse(event.data.timestamp);
  const entry = network.read.log.entry(seq);
  if (!entry) throw storeError('ENTRY_MISSING', { seq });
  return entry.at;
}

function eventsOf(network: ServedNetwork, cache: EventCache, from: number, to: number): Event[] {
  const events: Event[] = [];
  for (let seq = from; seq <= to; seq += 1) {
    const event = cache.take(seq);
    if (!event) return [...events, ...stored(network, seq, to)];
    events.push(event);
  }
  return events;
}

function stored({ read }: ServedNetwork, from: number, to: number): Event[] {
  const events: Event[] = [];
  for (const { seq, json } of read.eventTexts(from, to)) {
    if (seq !== from + events.length) break;
    try {
      events.push(JSON.parse(json) as Event);
    } catch (cause) {
      const start = JSON.stringify(json.slice(0, 60));
      throw storeError('EVENT_DAMAGED', { seq, start }, { cause });
    }
  }
  const missing = from + events.length;
  if (missing <= to) throw storeError('EVENT_MISSING', { seq: missing });
  return events;
}

interface Row {
  entry: number;
  at: number;
  kind: number;
  who: number;
  what: number;
  value: number;
}

const names = ['entry', 'at', 'kind', 'who', 'what', 'value'] as const;

class Columns {
  #rows = newRows(1_024);
  length = 0;

  push(row: Row): void {
    if (this.length === this.#rows.entry.length) this.#grow();
    for (const name of names) this.#rows[name][this.length] = row[name];
    this.length += 1;
  }

  /** Returns the rows so far, without rows added later. */
  view(): Rows {
    const { entry, at, kind, who, what, value } = this.#rows;
    const { length } = this;
    return {
      entry: entry.subarray(0, length),
      at: at.subarray(0, length),
      kind: kind.subarray(0, length),
      who: who.subarray(0, length),
      what: what.subarray(0, length),
      value: value.subarray(0, length),
    };
  }

  #grow(): void {
    const grown = newRows(2 * this.length);
    for (const name of names) grown[name].set(this.#rows[name]);
    this.#rows = grown;
  }
}

/** Number of cached events. Older events are read from the store. */
const MOST = 65_536;

export class EventCache {
  readonly #events: (Event | undefined)[] = [];
  #holders = 0;
  #stop: () => void = () => {};

  constructor(private readonly network: Pick<ServedNetwork, 'onEvents'>) {}

  /** Caches published events until all holders have released them. Returns the release function. */
  retain(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) this.#stop = this.network.onEvents((events) => this.#take(events));
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders > 0) return;
      this.#stop();
      this.#events.length = 0;
    };
  }

  /** Removes and returns an event. */
  take(seq: number): Event | undefined {
    const event = this.#events[seq % MOST];
    if (event?.seq !== seq) return undefined;
    this.#events[seq % MOST] = undefined;
    return event;
  }

  #take(events: readonly PublishedEvent[]): void {
    for (const { seq, event } of events) this.#events[seq % MOST] = event;
  }
}

/** Truncates a text to the snapshot's limit. */
const shortened = (text: string) =>
  text.length <= viewLimits.textCharacters ? text : text.slice(0, viewLimits.textCharacters);

export class Roster {
  readonly #rows: AgentRow[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(private readonly read: Views) {}

  /** @throws {StoreError} `CORRUPT` if the agent does not exist. */
  at(number: number): AgentRow {
    while (this.#rows.length <= number) this.#readNext();
    return this.#rows[number]!;
  }

  /** @throws {StoreError} `CORRUPT` if the agent never registered. */
  numberOf(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const ordinal = this.read.record('agents', id)?.ordinal;
    if (ordinal === undefined) throw storeError('RECORD_MISSING', { table: 'agents', key: id });
    this.at(ordinal);
    return ordinal;
  }

  #readNext(): void {
    const number = this.#rows.length;
    const id = this.read.record('agent_numbers', number)?.agent_id;
    const profile = id === undefined ? undefined : this.read.record('agents', id);
    if (!profile) throw storeError('RECORD_MISSING', { table: 'agent_numbers', key: number });
    const { agent_id, public_key, name, personality, capabilities } = profile;
    this.#numbers.set(agent_id, number);
    this.#rows.push({
      number,
      id: agent_id,
      public_key,
      name: shortened(name),
      personality: shortened(personality),
      validator: capabilities.includes('validator'),
      producer: capabilities.includes('producer'),
    });
  }
}

/** Number of closed blocks whose numbers are cached, for late remarks. */
const REMEMBERED = 256;

interface OpenBlock {
  number: number;
  producer: number;
  electorate: number;
}

class Blocks {
  readonly #read: Views;
  readonly #genesis: Genesis;
  readonly #roster: Roster;
  /** Recent blocks by hash, oldest first. */
  readonly #known = new Map<string, OpenBlock>();
  readonly #weights = new Map<number, ReadonlyMap<number, number>>();

  constructor(read: Views, genesis: Genesis, roster: Roster) {
    this.#read = read;
    this.#genesis = genesis;
    this.#roster = roster;
  }

  /** @throws {StoreError} `CORRUPT` if the block does not exist. */
  of(hash: string): OpenBlock {
    const known = this.#known.get(hash);
    if (known) return known;
    const { ordinal, producer, electorate } = this.#context(hash);
    const block = { number: ordinal, producer: this.#roster.numberOf(producer), electorate };
    this.#known.set(hash, block);
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
    return block;
  }

  /** Returns a block's introduction, which follows from the block's record. */
  introduced(hash: string): BlockRow {
    const context = this.#context(hash);
    const unvoted = { ...context, approve: 0, reject: 0, voted: 0, vetoes: 0 };
    return {
      number: context.ordinal,
      hash,
      parent: context.parent_hash,
      height: context.height,
      producer: this.#roster.numberOf(context.producer),
      transactions: context.transactions,
      total: context.total,
      electors: context.electors,
      needed: ruleOf(this.#genesis).needed(unvoted),
      proposed_at: context.proposed_at,
      deadline: context.deadline,
      entry: context.entry,
    };
  }

  weight({ electorate, number }: OpenBlock, agent: number): number {
    if (this.#genesis.weights === 'equal') return 1;
    const weight = this.#weightsOf(electorate).get(agent);
    if (weight !== undefined) return weight;
    throw logError('ELECTOR_MISSING', { agent, block: number });
  }

  #weightsOf(electorate: number): ReadonlyMap<number, number> {
    const known = this.#weights.get(electorate);
    if (known) return known;
    const record = this.#read.record('electorates', electorate);
    if (!record) throw storeError('RECORD_MISSING', { table: 'electorates', key: electorate });
    const { agents, weights } = record;
    const made = new Map(agents.map((agent, index) => [agent, weights[index]!]));
    this.#weights.set(electorate, made);
    if (this.#weights.size > 16) this.#weights.delete(this.#weights.keys().next().value!);
    return made;
  }

  #context(hash: string): RecordOf['blocks']['context'] {
    const record = this.#read.record('blocks', hash);
    if (!record) throw storeError('RECORD_MISSING', { table: 'blocks', key: hash });
    return record.context;
  }
}
