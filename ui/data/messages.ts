/** Messages between the page and its player worker. Only the worker holds the whole network. */
import type { ControlView } from '../../api/contract/control.js';
import type {
  AgentRow,
  AllianceRow,
  BlockSnapshot,
  Closing,
  MemeRow,
  Message,
  Overview,
  Totals,
} from '../../api/view/model.js';
import type { NetworkParameters } from '../../api/view/reducer.js';

/** Playback mode of the page. */
export type Mode = 'live' | 'paused' | 'playing';

export interface ClockState {
  mode: Mode;
  /** Engine seconds per real second. */
  speed: number;
  /** Target or current entry; null when live. */
  goal: number | null;
  /** Newest known entry and its time. */
  head: { entry: number; at: number };
  /** False for a finished run. */
  follows: boolean;
}

/** A block with its ballots counted. */
export interface BlockItem extends Omit<BlockSnapshot, 'ballots'> {
  approvals: number;
  rejections: number;
}

/**
 * Finds the newest block in voting, or else the newest block with an outcome of its vote. An
 * orphaned block has none: a block of the same height was finalized instead.
 */
export const findCurrentBlock = <B extends { status: string }>(
  blocks: readonly B[],
): B | undefined =>
  blocks.findLast(({ status }) => status === 'voting') ??
  blocks.findLast(({ status }) => status !== 'orphaned') ??
  blocks.at(-1);

/** Overview of the history. The page shows when blocks closed, and how. */
export interface PageOverview extends Omit<Overview, 'closings'> {
  closings: readonly (Pick<Closing, 'entry' | 'status'> & Partial<Closing>)[];
}

/** Agent data that changes over time, in columns. */
export interface AgentColumns {
  /** Index into `statuses`, with the flag `DORMANT`. */
  status: Uint8Array;
  /** In millionths. */
  reputation: Uint32Array;
  votes: Uint32Array;
  memes: Uint32Array;
  produced: Uint32Array;
}

export const DORMANT = 4;

/** Agents' decisions on the focused block; 0 means no vote. */
export const approves = 1;
export const rejects = 2;

export interface Focus {
  /** Block number; null before the first block. */
  block: number | null;
  /** One decision per agent; null if only `fresh` has changed. */
  decisions: Uint8Array | null;
  /** New ballots: agent number * 2, plus 1 for reject. */
  fresh: Uint32Array;
}

export interface Position {
  entry: number;
  at: number;
  /** '' for an entry inside a batch, because the server does not send its digest. */
  digest: string;
}

export interface Patch {
  of: NetworkParameters;
  position: Position;
  totals: Totals;
  /** Finalized transactions per second of engine time; null until known. */
  transactions: number | null;
  /** Number of agents at this entry. */
  count: number;
  /** Agents that the page does not know yet. */
  roster: AgentRow[];
  /** Columns for all agents, or only for the agents in `numbers`. */
  agents: AgentColumns;
  numbers: Uint32Array | null;
  /** All blocks in the snapshot, or only changed blocks. */
  blocks: { all: boolean; list: BlockItem[] };
  focus: Focus;
  /** Null if unchanged, as for the next two members. */
  alliances: AllianceRow[] | null;
  memes: MemeRow[] | null;
  said: Message[] | null;
}

/** State of the connection to the server. */
export type LinkState =
  | { is: 'starting' }
  /** The server must read the log up to entry `to` before it can respond. */
  | { is: 'making'; entry: number; to: number }
  /** Follows by polling if the server has no watch. */
  | { is: 'following'; by: 'watch' | 'poll' }
  | { is: 'finished' }
  | { is: 'lost'; why: string; since: number; againAt: number }
  | { is: 'damaged'; why: string };

/** State of the network clock. Updates that concern only the clock omit `knows`. */
export type WorldStatus = Omit<ControlView, 'knows'> & Partial<Pick<ControlView, 'knows'>>;

export interface Notice {
  text: string;
}

/** A question to the worker about the network at the current entry. */
export interface Question {
  name: string;
  parameters: unknown;
}

/** Playback commands. */
export type Command =
  | { do: 'live' }
  /** Pauses or plays. */
  | { do: 'toggle' }
  | { do: 'seek'; entry: number }
  | { do: 'step'; by: 'event' | 'block'; forward: boolean }
  | { do: 'speed'; speed: number }
  | { do: 'focus'; block: number | null };

export type ToWorker =
  | Command
  /** `source` is the origin of a server, or a whole run as bytes. */
  | { do: 'start'; source: string | ArrayBuffer; at: number | null }
  | { do: 'hidden'; hidden: boolean }
  /** Fewer updates per second, for readers who prefer reduced motion. */
  | { do: 'calm'; calm: boolean }
  | { do: 'ask'; id: number; question: Question };

export type FromWorker =
  | { is: 'patch'; patch: Patch }
  | { is: 'clock'; clock: ClockState }
  | { is: 'link'; link: LinkState }
  | { is: 'overview'; overview: PageOverview }
  | { is: 'notice'; notice: Notice | null }
  | { is: 'world'; message: WorldStatus }
  | { is: 'answer'; id: number; answer: unknown }
  | { is: 'failed'; id: number; why: string };
