/**
 * Event types, and the enumerations that view rows encode as numbers. The schemas for `data` are in
 * schema/event.ts, so that the page and the command line can load this module without TypeBox.
 */

/** Enumerations. A word's index is its number in a view, so new words go at the end. */
export const statuses = ['active', 'inactive', 'maintenance'] as const;
export const decisions = ['approve', 'reject'] as const;
export const sentiments = ['positive', 'negative', 'neutral'] as const;
export const blockStatuses = ['voting', 'finalized', 'rejected', 'expired', 'orphaned'] as const;
export const allianceStatuses = ['proposed', 'active', 'lapsed', 'dissolved', 'expired'] as const;

/** Lists to which rows add items, and text kinds. */
export const rowLists = ['agents', 'blocks', 'memes', 'alliances'] as const;
export const saidKinds = ['remark', 'reason', 'meme'] as const;

export type RowValue =
  /** Index of a member's value in `words`. `weighted` adds twice the vote's weight. */
  | { of: string; words: readonly string[]; weighted?: true }
  /** A member multiplied by `times`, as an integer; the page shows `digits` decimals. */
  | { of: string; times: number; digits: number };

/** Presentation in a view for an event, or for a fact without an event. */
export interface ViewRow {
  /** Number in the column `kind`, including in stored files. Never changed or reused. */
  code: number;
  /** List to which each row adds an item. */
  introduces?: (typeof rowLists)[number];
  /** Default: 0. */
  value?: RowValue;
  /** Kind of text, and the member that contains the text. */
  says?: { kind: (typeof saidKinds)[number]; of: string };
  /** Snapshot parts that a row changes; `block` is the row's block, `blocks` the list. */
  changes: readonly ('agent' | 'block' | 'blocks' | 'alliances' | 'memes')[];
  /** Row text. Names in braces are links, or the value: plain, `strong` or `faint`. */
  text: string;
}

interface EventRow {
  topics: readonly string[];
  /** Member that names the acting agent: an id, or an object with an id. */
  agent?: string;
  /** True for an extension to the first version of the interface. */
  added?: true;
  row: ViewRow;
}

/** The order of types applies to documents, table columns and index totals. */
const eventTable = {
  block_proposal: {
    topics: ['blocks', 'proposals'],
    agent: 'producer',
    row: { code: 1, introduces: 'blocks', changes: ['blocks'], text: '{agent} proposed {block}' },
  },
  block_validation: {
    topics: ['blocks', 'consensus'],
    agent: 'validator',
    row: {
      code: 2,
      value: { of: 'decision', words: decisions, weighted: true },
      says: { kind: 'reason', of: 'reason' },
      changes: ['agent', 'block'],
      text: '{agent} voted to {strong} {block}',
    },
  },
  consensus_discussion: {
    topics: ['consensus'],
    agent: 'agent',
    row: {
      code: 3,
      value: { of: 'sentiment', words: sentiments },
      says: { kind: 'remark', of: 'message' },
      changes: [],
      text: '{agent} spoke on {block}, {faint}',
    },
  },
  alliance_update: {
    topics: ['consensus', 'social'],
    row: {
      code: 4,
      introduces: 'alliances',
      value: { of: 'status', words: allianceStatuses },
      changes: ['alliances'],
      text: 'an alliance founded by {agent} is now {strong}',
    },
  },
  agent_status: {
    topics: ['network'],
    agent: 'agent_id',
    row: {
      code: 5,
      value: { of: 'status', words: statuses },
      changes: ['agent'],
      text: '{agent} is now {strong}',
    },
  },
  network_metrics: {
    topics: ['network'],
    row: {
      code: 6,
      value: { of: 'tps', times: 1_000, digits: 3 },
      changes: [],
      text: 'the network measured {value} transactions a second',
    },
  },
  meme_posted: {
    topics: ['social', 'memes'],
    agent: 'creator',
    row: {
      code: 7,
      introduces: 'memes',
      says: { kind: 'meme', of: 'content' },
      changes: ['agent', 'memes'],
      text: '{agent} posted a meme {caption}',
    },
  },
  reputation_update: {
    topics: ['social'],
    agent: 'agent_id',
    row: {
      code: 8,
      value: { of: 'new_score', times: 10_000, digits: 1 },
      changes: ['agent'],
      text: 'the reputation of {agent} is now {strong}',
    },
  },
  block_status: {
    topics: ['outcomes'],
    added: true,
    row: {
      code: 9,
      value: { of: 'status', words: blockStatuses },
      changes: ['blocks'],
      text: '{block} was {strong}',
    },
  },
} as const satisfies Record<string, EventRow>;

/** Event type: the member `type` of an event. @useDeclaredType */
export type EventType = keyof typeof eventTable;

export const eventTypes = Object.keys(eventTable) as EventType[];
/** The event table, with a type that does not depend on the event. */
export const eventRows: Readonly<Record<EventType, EventRow>> = eventTable;

/** Returns the id of the acting agent, or undefined. */
export function agentOf({ type, data }: { type: EventType; data: object }): string | undefined {
  const member = eventRows[type].agent;
  if (member === undefined) return undefined;
  const agent = (data as Record<string, string | { id: string } | undefined>)[member];
  return typeof agent === 'object' ? agent.id : agent;
}
