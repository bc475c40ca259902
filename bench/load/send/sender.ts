/**
 * Sends calls over a bounded number of connections, each with a deadline from when it is sent.
 * What is sent beside the schedule goes first: blocks that wait for votes would stop all else.
 */
import type { Call, CallOutcome } from '../workload.js';
import { fateOf } from './answer.js';
import { Connection, type Ending, type Exchange } from './connection.js';
import { Fifo } from './fifo.js';

export interface SenderOptions {
  url: string;
  connections: number;
  timeoutMs: number;
  now: () => number;
  sent(exchange: Exchange): void;
  completed(exchange: Exchange, outcome: CallOutcome, atMs: number): void;
  /** A connection is free, and nothing beside the schedule wants it. */
  free(): void;
  /** For so long nobody has listened. */
  gone(forMs: number): void;
}

/** How exactly deadlines are kept. */
const SWEEP_MS = 20;
/** After two broken connections in a row, a place is empty for as long: refusals come at once. */
const REST_MS = 100;
/** A server that is started anew may be away for less. */
const GONE_MS = 2_000;

const timedOut: CallOutcome = { kind: 'timed_out' };

export class Sender {
  readonly #options: SenderOptions;
  readonly #place: { origin: string; prefix: string; timeoutMs: number };
  /** The last one used is used next: the others may close. */
  readonly #free: Connection[] = [];
  readonly #busy = new Set<Connection>();
  /** Until when places stay empty. */
  #resting: number[] = [];
  readonly #beside = new Fifo<{ call: Call; intendedMs: number }>();
  readonly #sweep: NodeJS.Timeout;
  #brokenInRow = 0;
  #awaySinceMs: number | null = null;

  constructor(options: SenderOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.url);
    const prefix = pathname.replace(/\/+$/, '');
    this.#place = { origin, prefix, timeoutMs: options.timeoutMs };
    this.#sweep = setInterval(() => this.#expire(), SWEEP_MS);
  }

  get hasRoom(): boolean {
    const used = this.#busy.size + this.#resting.length;
    return used < this.#options.connections;
  }

  /** Needs room. */
  sendArrival(call: Call, intendedMs: number): void {
    this.#send({ call, intendedMs, sentMs: this.#options.now(), scheduled: true });
  }

  /** At once, or as soon as there is room. */
  sendBeside(call: Call): void {
    this.#beside.push({ call, intendedMs: this.#options.now() });
    this.#sendWaiting();
  }

  /** What is under way or waits is unfinished; more may be sent afterwards. */
  abandon(): void {
    const waiting = this.#beside.drain();
    for (const connection of [...this.#busy]) this.#giveUp(connection, { kind: 'unfinished' });
    for (const { call } of waiting) call.completed({ kind: 'unfinished' });
  }

  close(): void {
    clearInterval(this.#sweep);
    this.abandon();
    for (const connection of this.#free) connection.giveUp();
  }

  #send(exchange: Exchange): void {
    const ended = (which: Connection, what: Exchange, ending: Ending) =>
      this.#ended(which, what, ending);
    const connection = this.#free.pop() ?? new Connection(this.#place, ended);
    this.#busy.add(connection);
    this.#options.sent(exchange);
    connection.send(exchange);
  }

  #ended(connection: Connection, exchange: Exchange, ending: Ending): void {
    this.#busy.delete(connection);
    if (typeof ending === 'string') {
      connection.giveUp();
      this.#broke(ending === 'nobody');
      this.#complete(exchange, { kind: 'broken' });
    } else {
      this.#brokenInRow = 0;
      this.#awaySinceMs = null;
      this.#free.push(connection);
      // Between two sweeps a late answer may come in: late it is all the same.
      const late = this.#options.now() - exchange.sentMs >= this.#options.timeoutMs;
      const { call } = exchange;
      this.#complete(exchange, late ? timedOut : fateOf(call, ending.status, ending.body));
    }
    this.#refill();
  }

  #complete(exchange: Exchange, outcome: CallOutcome): void {
    this.#options.completed(exchange, outcome, this.#options.now());
    exchange.call.completed(outcome);
  }

  #broke(away: boolean): void {
    const now = this.#options.now();
    this.#brokenInRow += 1;
    if (this.#brokenInRow > 1) this.#resting.push(now + REST_MS);
    this.#awaySinceMs = away ? (this.#awaySinceMs ?? now) : null;
    const awayMs = now - (this.#awaySinceMs ?? now);
    if (awayMs > GONE_MS) this.#options.gone(awayMs);
  }

  #giveUp(connection: Connection, outcome: CallOutcome): void {
    const { exchange } = connection;
    connection.giveUp();
    this.#busy.delete(connection);
    if (exchange) this.#complete(exchange, outcome);
  }

  /** Gives up what is late, and lets rested places be used again. */
  #expire(): void {
    const now = this.#options.now();
    const { timeoutMs } = this.#options;
    for (const connection of [...this.#busy]) {
      const { exchange } = connection;
      if (exchange && now - exchange.sentMs >= timeoutMs) {
        this.#giveUp(connection, timedOut);
      }
    }
    this.#resting = this.#resting.filter((untilMs) => untilMs > now);
    this.#refill();
  }

  #refill(): void {
    this.#sendWaiting();
    if (this.hasRoom) this.#options.free();
  }

  #sendWaiting(): void {
    while (this.#beside.size > 0 && this.hasRoom) {
      const { call, intendedMs } = this.#beside.shift()!;
      this.#send({ call, intendedMs, sentMs: this.#options.now(), scheduled: false });
    }
  }
}
