/**
 * Sends calls over a bounded number of HTTP connections and judges the answers. A connection has
 * one request at a time and reads its answer whole. It never retries, and once given up it is never
 * used again: later bytes from it are ignored.
 */
import { Client, type Dispatcher } from 'undici';
import { Fifo } from './schedule.js';
import { isRecord, parseObject } from './server.js';
import type { Call, CallOutcome } from './workload.js';

/** A request under way. */
export interface Exchange {
  call: Call;
  intendedMs: number;
  sentMs: number;
  /** An arrival of the schedule; else the workload sent it beside the schedule. */
  scheduled: boolean;
}

interface Place {
  origin: string;
  /** Before /api: of servers that are not at the root. */
  prefix: string;
  timeoutMs: number;
}

/** A list of 10,000 agents is 2 MiB; what is far above is nobody's answer. */
const ANSWER_BYTES = 16 * 1024 * 1024;

type Ending =
  | { status: number; body: Buffer }
  /** Broken by a server that was there, or not even begun: nobody listens. */
  | 'broken'
  | 'nobody';

const nobody = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);

/**
 * Speaks undici's older form of a handler: the newer one parses all headers of each answer, a tenth
 * of what a request costs, and nobody here reads them.
 */
class Connection implements Dispatcher.DispatchHandler {
  readonly #client: Client;
  readonly #prefix: string;
  readonly #ended: (connection: Connection, exchange: Exchange, ending: Ending) => void;
  #exchange: Exchange | null = null;
  #status = 0;
  #chunks: Buffer[] = [];

  constructor(
    { origin, prefix, timeoutMs }: Place,
    ended: (connection: Connection, exchange: Exchange, ending: Ending) => void,
  ) {
    this.#ended = ended;
    this.#prefix = prefix;
    this.#client = new Client(origin, {
      pipelining: 1,
      maxResponseSize: ANSWER_BYTES,
      connect: { timeout: timeoutMs },
      // The sender has deadlines of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** What is under way. */
  get exchange(): Exchange | null {
    return this.#exchange;
  }

  send(exchange: Exchange): void {
    const { method, target, headers, body } = exchange.call;
    this.#exchange = exchange;
    this.#status = 0;
    this.#chunks = [];
    this.#client.dispatch({ method, path: this.#prefix + target, headers, body }, this);
  }

  /** Closes the connection in the middle of whatever it does. */
  giveUp(): void {
    this.#exchange = null;
    this.#client.destroy(() => {});
  }

  onConnect(): void {}

  onHeaders(status: number): boolean {
    this.#status = status;
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    const [first = Buffer.alloc(0), ...more] = this.#chunks;
    const body = more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#end({ status: this.#status, body });
  }

  onError(error: Error & { code?: string }): void {
    this.#end(nobody.has(error.code ?? '') ? 'nobody' : 'broken');
  }

  #end(ending: Ending): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#chunks = [];
    if (exchange) this.#ended(this, exchange, ending);
  }
}

function fateOf(call: Call, status: number, body: Buffer): CallOutcome {
  const { success, data, error } = parseObject(body.toString());
  if (status >= 200 && status < 300) {
    const holds = success === true && holdsWhatItMust(call, data);
    return holds ? { kind: 'accepted', status, data } : { kind: 'lie' };
  }
  const { code, details } = isRecord(error) ? error : {};
  const { reason } = isRecord(details) ? details : {};
  return { kind: 'refused', status, code: word(code), reason: word(reason) };
}

/** Data of a shape that nobody thought of does not hold what it must. */
function holdsWhatItMust(call: Call, data: unknown): boolean {
  try {
    return call.holds(data);
  } catch {
    return false;
  }
}

/** A server may write anything there: a code is short, or it is none. */
const word = (value: unknown) =>
  typeof value === 'string' && value !== '' && value.length <= 64 ? value : '-';

/*
 * Sends calls over a bounded number of connections, each with a deadline from when it is sent.
 * What is sent beside the schedule goes first: blocks that wait for votes would stop all else.
 */

interface SenderOptions {
  url: string;
  connections: number;
  timeoutMs: number;
  now: () => number;
  sent(exchange: Exchange): void;
  completed(exchange: Exchange, outcome: CallOutcome, atMs: number): void;
  /** A connection is free, and nothing beside the schedule wants it. */
  free(): void;
  /** For so long nobody has listened. */
  onUnreachable(forMs: number): void;
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
    if (awayMs > GONE_MS) this.#options.onUnreachable(awayMs);
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
