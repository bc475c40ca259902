/** What the page and its worker tell each other. The worker knows all, the page what it draws. */

import type {
  AgentRow,
  AllianceRow,
  BlockSnapshot,
  MemeRow,
  Message,
  Overview,
  Totals,
} from '../../api/view/model.js';
import type { NetworkParameters } from '../../api/view/reducer.js';

/** How the view's clock goes. It never touches the network's. */
export type Mode = 'live' | 'paused' | 'playing';

export interface ClockState {
  mode: Mode;
  /** Engine time that passes in a second of ours. */
  speed: number;
  /** The entry that it goes to, or stands at; null where it goes with the network. */
  goal: number | null;
  /** The newest entry that is known, and its time. */
  head: { entry: number; at: number };
  /** Whether more may come: not of a finished run. */
  follows: boolean;
}

/** A block as it is drawn: its ballots are counted. */
export interface BlockItem extends Omit<BlockSnapshot, 'ballots'> {
  approvals: number;
  rejections: number;
}

/** What changes of agents, column by column. */
export interface AgentColumns {
  /** Index into `statuses`, plus `DORMANT`. */
  status: Uint8Array;
  /** Of 1,000,000. */
  reputation: Uint32Array;
  votes: Uint32Array;
  memes: Uint32Array;
  produced: Uint32Array;
}

export const DORMANT = 4;

/** The vote of each agent on the block that is shown; 0 where it has not voted. */
export const approves = 1;
export const rejects = 2;

export interface Focus {
  /** Number of the block; null where there is none yet. */
  block: number | null;
  /** One for each agent; null where only `fresh` is new. */
  decisions: Uint8Array | null;
  /** Ballots that came since: number of the agent * 2, plus 1 for reject. */
  fresh: Uint32Array;
}

/** Events and votes in a second of engine time, over the last ten; null before there is one. */
export interface Rates {
  events: number | null;
  votes: number | null;
  transactions: number | null;
}

export interface Position {
  entry: number;
  at: number;
  event_seq: number;
  /** '' where a fold ended inside of what the server sent. */
  digest: string;
  log_digest: string;
  height: number;
}

export interface Patch {
  of: NetworkParameters;
  position: Position;
  totals: Totals;
  rates: Rates;
  /** How many agents there are at this entry. */
  count: number;
  /** Those that the page has not been told of. */
  roster: AgentRow[];
  /** Of all agents, or of those in `numbers`. */
  agents: AgentColumns;
  numbers: Uint32Array | null;
  /** All that are shown, or only those that changed. */
  blocks: { all: boolean; list: BlockItem[] };
  focus: Focus;
  /** Null where they are as before. */
  alliances: AllianceRow[] | null;
  memes: MemeRow[] | null;
  said: Message[] | null;
}

/** How the page stands with its server. */
export type LinkState =
  | { is: 'starting' }
  /** The server goes through the log once, before it can show any of it. */
  | { is: 'making'; entry: number; to: number }
  /** `by` polling where the server has no watch. */
  | { is: 'following'; by: 'watch' | 'poll' }
  | { is: 'finished' }
  | { is: 'lost'; why: string; since: number; againAt: number }
  | { is: 'damaged'; why: string };

/** What may be asked of the clock of what is shown. */
export type WorldCommand =
  | { do: 'pause' | 'resume' | 'step' }
  | { do: 'until'; until: { what: 'block' | 'outcome' | 'time'; status?: string; ms?: number } }
  | { do: 'speed'; speed: number | null };

/** What the server says of its world and its clock. */
export interface WorldStatus {
  kind: 'live' | 'sim' | 'folder' | 'replay' | 'load';
  clock: {
    /** What stands still while it is paused. */
    holds: 'network' | 'agents' | 'run' | 'nothing';
    paused: boolean;
    speed: number | null;
    /** The time that it showed, as it was told: ISO 8601. */
    at: string;
    /** Nothing more will come. */
    over?: boolean;
  };
  can: WorldCommand['do'][];
  /** Why nothing new can be shown any more. */
  lost?: string;
  /** What its server can be asked beside what every one is asked. */
  knows?: KnownPart[];
}

export type KnownPart = 'history' | 'scenario' | 'neighbours' | 'decisions' | 'cluster';

/** Something happened that a reader should know, and what was done about it. */
export interface Notice {
  text: string;
}

/** A question to the worker about the network at the entry that is shown. */
export interface Question {
  name: string;
  parameters: unknown;
}

/** What a reader wants of the view's clock. */
export type Command =
  | { do: 'live' }
  /** Pauses what goes on, lets go on what stands still. */
  | { do: 'toggle' }
  | { do: 'seek'; entry: number }
  | { do: 'step'; by: 'event' | 'entry' | 'block'; forward: boolean }
  | { do: 'speed'; speed: number }
  | { do: 'focus'; block: number | null };

export type ToWorker =
  | Command
  /** Of a server's origin, or a whole run as bytes. */
  | { do: 'start'; source: string | ArrayBuffer; at: number | null }
  | { do: 'hidden'; hidden: boolean }
  /** Fewer changes a second, for who wants little motion. */
  | { do: 'calm'; calm: boolean }
  | { do: 'ask'; id: number; question: Question };

export type FromWorker =
  | { is: 'patch'; patch: Patch }
  | { is: 'clock'; clock: ClockState }
  | { is: 'link'; link: LinkState }
  | { is: 'overview'; overview: Overview }
  | { is: 'notice'; notice: Notice | null }
  | { is: 'world'; message: WorldStatus }
  | { is: 'answer'; id: number; answer: unknown }
  | { is: 'failed'; id: number; why: string };
