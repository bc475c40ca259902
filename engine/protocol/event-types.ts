/**
 * The event types, one row each, and the enumerations that rows of a view number. The schema of an
 * event's `data` is in schema/event.ts: this module is without TypeBox, so that the page and the
 * command line load it at once.
 */

/** Enumerations. The index of a word is its number in a view: new words go to the end. */
export const statuses = ['active', 'inactive', 'maintenance'] as const;
export const decisions = ['approve', 'reject'] as const;
export const sentiments = ['positive', 'negative', 'neutral'] as const;
export const blockStatuses = ['voting', 'finalized', 'rejected', 'expired', 'orphaned'] as const;
export const allianceStatuses = ['proposed', 'active', 'lapsed', 'dissolved', 'expired'] as const;

/** Lists of what rows introduce, and kinds of texts that readers are shown. */
export const rowLists = ['agents', 'blocks', 'memes', 'alliances'] as const;
export const saidKinds = ['remark', 'reason', 'meme'] as const;

/** The number that a row of a view carries. */
export type RowValue =
  /** The index of a member's word. `weighted`: twice the weight of the vote is added to it. */
  | { of: string; words: readonly string[]; weighted?: true }
  /** A member times `times`, to a whole number; the page shows it with so many digits. */
  | { of: string; times: number; digits: number };

/** How a view shows an event, or a fact that no event tells. */
export interface ViewRow {
  /** Its number in the column `kind`, in kept files too: never changed, never used again. */
  code: number;
  /** The list of a span to which each row adds an item. */
  introduces?: (typeof rowLists)[number];
  /** 0 without it. */
  value?: RowValue;
  /** What a reader is shown of its text, and the member that has it. */
  says?: { kind: (typeof saidKinds)[number]; of: string };
  /** Parts of the picture that a row changes; `block` is the row's own, `blocks` the list. */
  changes: readonly ('agent' | 'block' | 'blocks' | 'alliances' | 'memes')[];
  /** Names in braces stand for links, and for the value in words: plain, `strong` or `faint`. */
  text: string;
}

interface EventRow {
  /** Under which subscribers find it. */
  topics: readonly string[];
  /** The member that names the agent whose event it is: an id, or an object that has one. */
  agent?: string;
  /** The first version of the interface did not have it. */
  added?: true;
  row: ViewRow;
}

/** Documents, columns of tables and totals of the index have the types in this order. */
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

/**
 * The name of an event: the member `type` of each.
 *
 * @useDeclaredType
 */
export type EventType = keyof typeof eventTable;

export const eventTypes = Object.keys(eventTable) as EventType[];
/** The same table where what is read of a row depends on no one type. */
export const eventRows: Readonly<Record<EventType, EventRow>> = eventTable;

/** The id of the agent whose event it is, or undefined. */
export function agentOf({ type, data }: { type: EventType; data: object }): string | undefined {
  const member = eventRows[type].agent;
  if (member === undefined) return undefined;
  const agent = (data as Record<string, string | { id: string } | undefined>)[member];
  return typeof agent === 'object' ? agent.id : agent;
}
