/** The event stream of a known server, with its own count of deliveries. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Fields } from './network.js';
import type { Made, Record } from './record.js';

/** Topics of each event. */
const topicsOf: { [type: string]: readonly string[] } = {
  block_proposal: ['blocks', 'proposals'],
  block_validation: ['blocks', 'consensus'],
  agent_status: ['network'],
  network_metrics: ['network'],
  meme_posted: ['social', 'memes'],
  block_status: ['outcomes'],
};
const topics = ['blocks', 'consensus', 'network', 'social', 'memes'];
const added = ['proposals', 'outcomes'];

interface Connection {
  socket: WebSocket;
  topics: Set<string>;
  authenticated: boolean;
}

/** The stream's access to the network. */
interface Host {
  epoch: string;
  knows(key: string): boolean;
  idOf(key: string): string;
}

export class KnownSockets {
  readonly #made: Made;
  readonly #record: Record;
  readonly #host: () => Host;
  readonly #server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  readonly #connections = new Set<Connection>();
  readonly #bare: boolean;
  #seq = 0;
  #chosen = 0;

  constructor(made: Made, record: Record, host: () => Host) {
    this.#made = made;
    this.#bare = made.shows !== 'everything';
    this.#record = record;
    this.#host = host;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (request.url !== '/ws/v1') return void socket.destroy();
    this.#server.handleUpgrade(request, socket, head, (open) => this.#opened(open));
  }

  /** Sends an event to all subscribers, except for planned faults. */
  tell(type: string, data: Fields): void {
    if (this.#bare && type === 'block_status') return;
    this.#seq += 1;
    const event = this.#bare ? { type, data } : { type, data, seq: this.#seq };
    const text = JSON.stringify(event);
    for (const one of this.#connections) {
      if (!topicsOf[type]!.some((topic) => one.topics.has(topic))) continue;
      const texts = this.#textsOf(type, text);
      for (const sent of texts) one.socket.send(sent);
      const times = texts.filter((sent) => sent === text).length;
      this.#record.delivered[type] = (this.#record.delivered[type] ?? 0) + times;
    }
  }

  /** Closes all connections, as a stopping server does. */
  closeAll(): void {
    for (const { socket } of this.#connections) {
      this.#record.sockets.closed += 1;
      socket.close(1001, 'server stopping');
    }
    this.#connections.clear();
  }

  /** Returns the messages of the next delivery, after its treatment. */
  #textsOf(type: string, text: string): string[] {
    const { misdelivers } = this.#made;
    if (!misdelivers?.types.includes(type)) return [text];
    this.#chosen += 1;
    if (this.#chosen % misdelivers.every !== 0) return [text];
    this.#record.misdelivered += 1;
    if (misdelivers.does === 'withhold') return [];
    return misdelivers.does === 'repeat' ? [text, text] : garbled(text);
  }

  #opened(socket: WebSocket): void {
    const connection: Connection = { socket, topics: new Set(), authenticated: false };
    this.#record.sockets.opened += 1;
    this.#connections.add(connection);
    socket.on('error', () => {});
    socket.on('close', () => this.#connections.delete(connection));
    socket.on('message', (bytes) => this.#take(connection, JSON.parse(String(bytes)) as Fields));
  }

  #take(connection: Connection, message: Fields): void {
    if (message.type === 'auth') return this.#auth(connection, message);
    if (!connection.authenticated) return refuse(connection, 4401, 'INVALID_SIGNATURE', 'MISSING');
    if (message.type === 'subscribe') return this.#subscribe(connection, message);
    if (message.type !== 'ping') return complain(connection, 'INVALID_REQUEST', 'SCHEMA');
    if (!this.#bare) say(connection, 'pong', { id: message.id, server_time: '' });
  }

  #auth(connection: Connection, message: Fields): void {
    const host = this.#host();
    const key = String(message.public_key).toLowerCase();
    if (!host.knows(key)) return refuse(connection, 4403, 'INVALID_AGENT', 'UNKNOWN_KEY');
    connection.authenticated = true;
    this.#record.sockets.authenticated += 1;
    if (this.#bare) return;
    const ids = { connection_id: 'conn', agent_id: host.idOf(key) };
    const now = { epoch: host.epoch, last_seq: this.#seq, heartbeat_ms: 30_000 };
    say(connection, 'auth_ok', { ...ids, ...now });
  }

  #subscribe(connection: Connection, message: Fields): void {
    const asked = message.topics as string[];
    const known = this.#bare ? topics : [...topics, ...added];
    if (!asked.every((topic) => known.includes(topic))) {
      return complain(connection, 'INVALID_REQUEST', 'UNKNOWN_TOPIC');
    }
    for (const topic of asked) connection.topics.add(topic);
    if (this.#bare) return;
    const now = { topics: [...connection.topics].sort(), epoch: this.#host().epoch };
    say(connection, 'subscribed', { ...now, last_seq: this.#seq, replay: 0, gap: false });
  }
}

/** Returns invalid event texts. */
const garbled = (text: string): string[] => [
  text.slice(0, -9),
  'null',
  '[]',
  '"block_status"',
  '{"type":"block_status","data":null}',
  '{"type":"network_metrics","data":{"block_height":"high"}}',
  '{"type":"block_proposal","data":{"producer":null,"height":{}}}',
];

function say({ socket }: Connection, type: string, data: Fields): void {
  socket.send(JSON.stringify({ type, data }));
}

function complain({ socket }: Connection, code: string, reason: string): void {
  const message = `${reason}: as a real server would say`;
  socket.send(JSON.stringify({ type: 'error', error: { code, message, details: { reason } } }));
}

function refuse(connection: Connection, close: number, code: string, reason: string): void {
  complain(connection, code, reason);
  connection.socket.close(close, reason);
}
