/** Who is told of events over one WebSocket, and how far it has come. */
import type { Socket } from '../../transport/transport.js';
import type { Traffic } from '../traffic.js';

export interface Subscriber {
  readonly socket: Socket;
  /** Whose it is: replays of one agent come one after another. */
  agent: string;
  readonly topics: Set<string>;
  /** The last event it has been given, or that did not concern it. */
  cursor: number;
  /** Reading history: may be as slow as it likes. */
  catchingUp: boolean;
  lastSent: number;
  /** What left over its socket. */
  readonly traffic: Traffic;
  /** The feed has given it up. */
  onCut(why: 'slow' | 'damaged'): void;
}

/** One that has no agent, and no topics, yet. */
export const newSubscriber = (
  socket: Socket,
  traffic: Traffic,
  onCut: Subscriber['onCut'],
): Subscriber => ({
  socket,
  traffic,
  agent: '',
  topics: new Set(),
  cursor: 0,
  catchingUp: false,
  lastSent: 0,
  onCut,
});

/** What its owner is shown of it. */
export interface SessionFigures {
  topics: string[];
  last_seq_sent: number;
  messages_in: number;
  messages_out: number;
  bytes_out: number;
  buffered_bytes: number;
}

export const figuresOf = (
  { topics, lastSent, traffic, socket }: Subscriber,
  closed: boolean,
): SessionFigures => ({
  topics: [...topics].sort(),
  last_seq_sent: lastSent,
  messages_in: traffic.messagesIn,
  messages_out: traffic.messagesOut,
  bytes_out: traffic.bytesOut,
  buffered_bytes: closed ? 0 : socket.bufferedBytes(),
});
