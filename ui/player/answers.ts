/**
 * Answers to the page's questions, by name: votes in the current snapshot, messages from agents,
 * and rows around an entry.
 */
import {
  formatRowValue,
  type Message,
  type MessageKind,
  type RowBatch,
  type RowKind,
  rowKinds,
  type Snapshot,
  viewRows,
} from '../../api/view/model.js';
import { PageError } from '../messages.js';
import { agreements, type Before, computeOpinion, listVotes } from './opinion.js';
import type { Source } from './source.js';

interface Known {
  picture: Snapshot | null;
  source: Source;
}

export type Answer = (known: Known, parameters: never) => unknown;

export const answers = {
  /** The ballots for a block in the snapshot: agent number * 2, plus 1 for reject. */
  ballots: ({ picture: snapshot }, block: number) =>
    Uint32Array.from(snapshot?.blocks.find(({ number }) => number === block)?.ballots ?? []),
  opinion: ({ picture: snapshot }, before: Before | null) => ({
    opinion: snapshot && computeOpinion(snapshot, before),
  }),
  votes: ({ picture: snapshot }, agent: number) => (snapshot ? listVotes(snapshot, agent) : []),
  alike: ({ picture: snapshot }) => (snapshot ? agreements(snapshot) : []),
  around: ({ source }, { from, to }: { from: number; to: number }) => happenings(source, from, to),
  said: ({ source }, of: Parameters<typeof saidBefore>[1]) => saidBefore(source, of),
  about: ({ source }, of: Topic | null) => (of ? messagesAbout(source, of) : []),
} satisfies Readonly<Record<string, Answer>>;

/**
 * Group of equal messages. Hundreds of scripted agents may give the same vote reason, so such
 * messages share one line.
 */
export interface MessageLine {
  /** Newest message. */
  said: Message;
  /** Number of messages. */
  count: number;
  /** Numbers of the agents that sent the messages. */
  agents: Set<number>;
  /** Numbers of the blocks that the messages concern. */
  blocks: Set<number>;
}

export interface MessagePage {
  kind: MessageKind | null;
  lines: MessageLine[];
  /** End of the next page, exclusive; null at the beginning of the log. */
  next: number | null;
}

/**
 * Returns the key that equal messages share: vote reasons of one decision across all blocks,
 * remarks of one sentiment about one block, or uses of one meme.
 */
export const getMessageKey = ({ kind, what, stance, text }: Message): string =>
  kind === 'reason' ? `${kind} ${stance} ${text}` : `${kind} ${what} ${stance} ${text}`;

/** Groups messages with equal keys into lines, newest first. @param all messages in log order */
export function groupMessages(all: readonly Message[]): MessageLine[] {
  const lines = new Map<string, MessageLine>();
  for (let place = all.length - 1; place >= 0; place -= 1) addTo(lines, all[place]!);
  return [...lines.values()];
}

function addTo(lines: Map<string, MessageLine>, said: Message): void {
  const key = getMessageKey(said);
  const line = lines.get(key) ?? { said, count: 0, agents: new Set(), blocks: new Set() };
  line.count += 1;
  line.agents.add(said.who);
  line.blocks.add(said.what);
  lines.set(key, line);
}

/** Lines per page. */
const SAID_LINES = 30;
/**
 * Maximum number of requests per page. For a rare kind of message, the page may contain fewer
 * lines.
 */
const SAID_FETCHES = 24;
/**
 * Number of entries in the first range, and the largest number. A range shrinks after a response
 * with omitted messages, because a server sends at most the last 500 messages in a range.
 */
const LEAST_ENTRIES = 500;
const MOST_ENTRIES = 8_000;

/** Reads a page of messages before an entry, of one kind or of all kinds. */
async function saidBefore(
  source: Source,
  { before, kind }: { before: number; kind: MessageKind | null },
): Promise<MessagePage> {
  const lines = new Map<string, MessageLine>();
  let last = before - 1;
  let width = LEAST_ENTRIES;
  for (let fetches = 0; last >= 0 && fetches < SAID_FETCHES; ) {
    const from = Math.max(0, last - width + 1);
    const batches = await spansOf(source, from, last);
    fetches += batches.length;
    let first = from;
    for (const batch of batches.reverse()) {
      first = firstWhole(batch, kind);
      for (let place = batch.said.length - 1; place >= 0; place -= 1) {
        const said = batch.said[place]!;
        if (said.entry < first || (kind !== null && said.kind !== kind)) continue;
        if (lines.size === SAID_LINES && !lines.has(getMessageKey(said))) {
          return { kind, lines: [...lines.values()], next: said.entry + 1 };
        }
        addTo(lines, said);
      }
      if (first > batch.from) break;
    }
    // A single entry cannot be split further.
    last = from === last ? from - 1 : first - 1;
    width = first === from ? Math.min(MOST_ENTRIES, 2 * width) : Math.ceil(width / 2);
  }
  return { kind, lines: [...lines.values()], next: last < 0 ? null : last + 1 };
}

/** Reads all rows in a range, in as many requests as the server requires. */
async function spansOf(source: Source, from: number, to: number): Promise<RowBatch[]> {
  const batches: RowBatch[] = [];
  for (let end = from - 1; end < to; end = batches.at(-1)!.to) {
    const batch = await source.columns(end + 1, to);
    if (batch.to <= end) throw new PageError('ENTRY_NOT_FOUND', { entry: end + 1 });
    batches.push(batch);
  }
  return batches;
}

interface Topic {
  /** Block number, and the entries between which its messages are read. */
  block: number;
  from: number;
  to: number;
  /** Time of closing, after which there are no messages; null while the block is in voting. */
  closedAt: number | null;
  /** Null for remarks and vote reasons. */
  kind: MessageKind | null;
}

/** Entries per request: fewer than the messages that a server sends at most. */
const TOPIC_ENTRIES = 400;
/** Longest range in which messages about a block are read. */
const MOST_TOPIC_ENTRIES = 20_000;

/** Messages about the last block that was asked for, up to an entry. */
let read: { source: Source; block: number; to: number; found: Message[] } | null = null;

/** Reads the messages about a block, oldest first. Reads only entries that it has not read yet. */
async function messagesAbout(source: Source, of: Topic): Promise<Message[]> {
  const { block, from, closedAt, kind } = of;
  const known = read?.block === block && read.source === source ? read : null;
  const found = [...(known?.found ?? [])];
  const end = Math.min(of.to, from + MOST_TOPIC_ENTRIES);
  let last = known?.to ?? from - 1;
  while (last < end) {
    const to = Math.min(end, last + TOPIC_ENTRIES);
    const batches = await spansOf(source, last + 1, to);
    const all = batches.flatMap(({ said }) => said);
    found.push(...all.filter((one) => one.kind !== 'meme' && one.what === block));
    last = closedAt !== null && batches.at(-1)!.at > closedAt ? Number.POSITIVE_INFINITY : to;
  }
  if (!known || last > known.to) read = { source, block, to: last, found };
  return found.filter((one) => one.entry <= end && (kind === null || one.kind === kind));
}

/** Returns the first entry from which a batch contains every message of a kind. */
function firstWhole({ from, to, rows, said, omitted }: RowBatch, kind: MessageKind | null): number {
  if (omitted === 0) return from;
  const first = said[0]?.entry ?? to + 1;
  const says = (code: number) => viewRows[rowKinds[code]!].says?.kind;
  const isOmitted = rows.kind.some(
    (code, row) => from + rows.entry[row]! < first && (kind === null || says(code) === kind),
  );
  return isOmitted ? first : from;
}

/** A row near an entry, for the list in the Explore view. */
export interface Happening {
  entry: number;
  at: number;
  kind: RowKind;
  who: number;
  /** Block, meme or alliance number. */
  what: number;
  /** Value as text: a decision, a status, a sentiment, a number. */
  value: string;
  /** Number of later rows of the same kind and entry that are omitted. */
  others: number;
}

export interface Happenings {
  from: number;
  to: number;
  rows: Happening[];
  /** Blocks proposed in the range. */
  blocks: { number: number; height: number; hash: string }[];
  /** Number of earlier rows that are omitted. */
  omitted: number;
}

const MOST_ROWS = 500;
/**
 * Maximum rows shown per entry for each kind of consequence. A block's outcome changes every
 * agent's score. Further rows are only counted, so that the deciding vote and the outcome stay
 * visible.
 */
const MOST_ALIKE = 2;
const consequences: readonly RowKind[] = ['reputation_update', 'dormancy'];

async function happenings(source: Source, from: number, to: number): Promise<Happenings> {
  const all: Happening[] = [];
  const blocks: Happenings['blocks'] = [];
  // An outcome produces one row per agent, so a single response may not reach the current entry.
  const batches = await spansOf(source, from, to);
  for (const batch of batches) {
    all.push(...happeningsOf(batch));
    for (const { number, height, hash } of batch.introduced.blocks) {
      blocks.push({ number, height, hash });
    }
  }
  const rows = all.slice(-MOST_ROWS);
  return { from, to: batches.at(-1)?.to ?? to, rows, blocks, omitted: all.length - rows.length };
}

function happeningsOf(batch: RowBatch): Happening[] {
  const { rows } = batch;
  const shown: Happening[] = [];
  /** Rows shown for the current entry, by kind. */
  const alike = new Map<RowKind, Happening[]>();
  for (let row = 0; row < rows.entry.length; row += 1) {
    const kind = rowKinds[rows.kind[row]!]!;
    if (rows.entry[row] !== rows.entry[row - 1]) alike.clear();
    const same = alike.get(kind) ?? [];
    if (consequences.includes(kind) && same.length === MOST_ALIKE) {
      same.at(-1)!.others += 1;
      continue;
    }
    const one = happening(batch, row);
    alike.set(kind, [...same, one]);
    shown.push(one);
  }
  return shown;
}

function happening({ from, rows }: RowBatch, row: number): Happening {
  const kind = rowKinds[rows.kind[row]!]!;
  const value = rows.value[row]!;
  return {
    entry: from + rows.entry[row]!,
    at: rows.at[row]!,
    kind,
    who: rows.who[row]!,
    what: rows.what[row]!,
    value: formatRowValue(viewRows[kind].value, value),
    others: 0,
  };
}
