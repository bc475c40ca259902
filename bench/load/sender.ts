/**
 * Sends calls over a limited number of connections, without retries. A connection handles one
 * request at a time. An abandoned one is not reused, and its later bytes are ignored.
 */
import type { Span } from '@opentelemetry/api';
import { Client, type Dispatcher } from 'undici';
import { type ClientTracing, toHrTime } from '../../api/tracing.js';
import type { Nodes } from './nodes.js';
import { Fifo } from './schedule.js';
import { isRecord, parseObject } from './server.js';
import type { Call, CallOutcome } from './workload.js';

/** A request in flight. */
export interface Exchange {
  call: Call;
  intendedMs: number;
  sentMs: number;
  /** Origin of a scheduled arrival; null for a call outside the schedule. */
  arrival: Arrival | null;
  /** Number of the server; null if the request was not sent, because no server is reachable. */
  node: number | null;
  /** The request's span; absent without traces. */
  span?: Span;
}

export interface Arrival {
  scenario: number;
  user: number;
}

interface Place {
  node: number;
  origin: string;
  /** Path prefix before /api, for servers not at the root. */
  prefix: string;
  timeoutMs: number;
}

/** Response size limit. A list of 10,000 agents takes 2 MiB, so the limit leaves ample room. */
const ANSWER_BYTES = 16 * 1024 * 1024;

type Ending =
  | { status: number; body: Buffer }
  /** Connection lost or not established. */
  | 'broken'
  | 'unreachable';

const unreachableCodes = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);

/**
 * Uses undici's older interface: the newer one parses headers, which costs a tenth of a request.
 */
class Connection implements Dispatcher.DispatchHandler {
  readonly node: number;
  readonly #client: Client;
  readonly #prefix: string;
  readonly #ended: (connection: Connection, exchange: Exchange, ending: Ending) => void;
  #exchange: Exchange | null = null;
  #status = 0;
  #chunks: Buffer[] = [];

  constructor(
    { node, origin, prefix, timeoutMs }: Place,
    ended: (connection: Connection, exchange: Exchange, ending: Ending) => void,
  ) {
    this.node = node;
    this.#ended = ended;
    this.#prefix = prefix;
    this.#client = new Client(origin, {
      pipelining: 1,
      maxResponseSize: ANSWER_BYTES,
      connect: { timeout: timeoutMs },
      // The sender enforces its own deadlines.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  get exchange(): Exchange | null {
    return this.#exchange;
  }

  send(exchange: Exchange, traceHeaders: Record<string, string> | null): void {
    const { method, target, headers: own, body } = exchange.call;
    const headers = traceHeaders ? { ...own, ...traceHeaders } : own;
    this.#exchange = exchange;
    this.#status = 0;
    this.#chunks = [];
    this.#client.dispatch({ method, path: this.#prefix + target, headers, body }, this);
  }

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
    this.#end(unreachableCodes.has(error.code ?? '') ? 'unreachable' : 'broken');
  }

  #end(ending: Ending): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#chunks = [];
    if (exchange) this.#ended(this, exchange, ending);
  }
}

/** A request in flight: a connection, or a call that sends no HTTP request. */
interface Busy {
  node: number;
  exchange: Exchange | null;
  giveUp(): void;
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

/** Returns false for data of an unexpected shape, even if the check throws. */
function holdsWhatItMust(call: Call, data: unknown): boolean {
  try {
    return call.holds(data);
  } catch {
    return false;
  }
}

/** Returns the value if it is a short text, as every code is, and `-` if not. */
const word = (value: unknown) =>
  typeof value === 'string' && value !== '' && value.length <= 64 ? value : '-';

/* Calls outside the schedule go first, because everything else would wait for a block's votes. */

interface SenderOptions {
  nodes: Nodes;
  connections: number;
  timeoutMs: number;
  now: () => number;
  sent(exchange: Exchange): void;
  completed(exchange: Exchange, outcome: CallOutcome, atMs: number): void;
  /** Called when a connection is free and no call outside the schedule is waiting for it. */
  free(): void;
  /** Traces of requests; null if they are off. */
  tracing: ClientTracing | null;
}

const SWEEP_MS = 20;
/** Pause after two failures in a row, because a refused connection fails at once. */
const REST_MS = 100;

const timedOut: CallOutcome = { kind: 'timed_out' };

export class Sender {
  readonly #options: SenderOptions;
  readonly #places: readonly Place[];
  /** Per server; last in, first out, so that unused connections can close. */
  readonly #free: readonly Connection[][];
  readonly #busy = new Set<Busy>();
  /** Times at which connection pauses end. */
  #resting: number[] = [];
  readonly #unscheduled = new Fifo<{ call: Call; intendedMs: number }>();
  readonly #sweep: NodeJS.Timeout;
  #brokenInRow = 0;
  #isSending = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#places = options.nodes.urls.map((url, node) => {
      const { origin, pathname } = new URL(url);
      const prefix = pathname.replace(/\/+$/, '');
      return { node, origin, prefix, timeoutMs: options.timeoutMs };
    });
    this.#free = this.#places.map(() => []);
    this.#sweep = setInterval(() => this.#expire(), SWEEP_MS);
  }

  get hasRoom(): boolean {
    const used = this.#busy.size + this.#resting.length;
    return used < this.#options.connections;
  }

  /** Abandons the requests of a scenario that are in flight. */
  interrupt(scenario: number): void {
    for (const connection of [...this.#busy]) {
      const isIts = connection.exchange?.arrival?.scenario === scenario;
      if (isIts) this.#giveUp(connection, { kind: 'unfinished' });
    }
    this.#refill();
  }

  /** Sends at once, or as soon as a connection is free. */
  sendUnscheduled(call: Call): void {
    this.#unscheduled.push({ call, intendedMs: this.#options.now() });
    this.#sendWaiting();
  }

  /** Marks all pending calls as unfinished. More can be sent afterwards. */
  abandon(): void {
    const waiting = this.#unscheduled.drain();
    for (const connection of [...this.#busy]) this.#giveUp(connection, { kind: 'unfinished' });
    for (const { call } of waiting) call.completed({ kind: 'unfinished' });
  }

  close(): void {
    clearInterval(this.#sweep);
    this.abandon();
    for (const connection of this.#free.flat()) connection.giveUp();
  }

  /** Counts a call as failed without sending it, because no server is reachable. */
  drop(call: Call, intendedMs: number, arrival: Arrival | null): void {
    this.#fail({ kind: 'broken' }, { call, intendedMs, arrival });
  }

  /** Completes a call that was not sent. */
  #fail(outcome: CallOutcome, what: Pick<Exchange, 'call' | 'intendedMs' | 'arrival'>): void {
    const exchange = { ...what, sentMs: this.#options.now(), node: null };
    this.#options.sent(exchange);
    this.#complete(exchange, outcome);
  }

  /** Requires `hasRoom`. */
  send(call: Call, intendedMs: number, arrival: Arrival | null): void {
    if (call.outcome) return this.#fail(call.outcome, { call, intendedMs, arrival });
    const node = this.#options.nodes.choose(call.agent);
    const sentMs = this.#options.now();
    const exchange: Exchange = { call, intendedMs, sentMs, arrival, node };
    if (call.perform) return this.#perform(exchange, node);
    const ended = (which: Connection, what: Exchange, ending: Ending) =>
      this.#ended(which, what, ending);
    const connection = this.#free[node]!.pop() ?? new Connection(this.#places[node]!, ended);
    this.#busy.add(connection);
    this.#options.sent(exchange);
    const { method, target } = exchange.call;
    const trace = this.#options.tracing?.begin(method, target);
    if (trace) exchange.span = trace.span;
    connection.send(exchange, trace?.headers ?? null);
  }

  #perform(exchange: Exchange, node: number): void {
    this.#options.sent(exchange);
    let isOver = false;
    const giveUp = () => {
      isOver = true;
    };
    const call: Busy = { node, exchange, giveUp };
    const ended = (outcome: CallOutcome) => {
      if (isOver) return;
      this.#busy.delete(call);
      if (outcome.kind === 'broken') this.#options.nodes.failed(node, false);
      else this.#options.nodes.answered(node);
      this.#complete(exchange, outcome);
      this.#refill();
    };
    this.#busy.add(call);
    exchange.call.perform!().then(ended, () => ended({ kind: 'broken' }));
  }

  #ended(connection: Connection, exchange: Exchange, ending: Ending): void {
    this.#busy.delete(connection);
    if (typeof ending === 'string') {
      connection.giveUp();
      this.#broke(connection, ending === 'unreachable');
      this.#complete(exchange, { kind: 'broken' });
    } else {
      this.#brokenInRow = 0;
      this.#options.nodes.answered(connection.node);
      this.#free[connection.node]!.push(connection);
      // A response between two sweeps may exceed the deadline.
      const late = this.#options.now() - exchange.sentMs >= this.#options.timeoutMs;
      const { call } = exchange;
      this.#complete(exchange, late ? timedOut : fateOf(call, ending.status, ending.body));
    }
    this.#refill();
  }

  #complete(exchange: Exchange, outcome: CallOutcome): void {
    this.#options.completed(exchange, outcome, this.#options.now());
    exchange.span?.setAttribute('folkmoot.outcome', outcome.kind);
    exchange.span?.end(toHrTime(performance.now()));
    exchange.call.completed(outcome);
  }

  #broke({ node }: Connection, isRefused: boolean): void {
    const { nodes, now } = this.#options;
    this.#brokenInRow += 1;
    // A run that keeps going sends no requests to a server that refuses connections.
    if (this.#brokenInRow > 1 && !nodes.keepGoing) this.#resting.push(now() + REST_MS);
    nodes.failed(node, isRefused);
  }

  #giveUp(connection: Busy, outcome: CallOutcome): void {
    const { exchange } = connection;
    connection.giveUp();
    this.#busy.delete(connection);
    if (exchange) this.#complete(exchange, outcome);
  }

  /** Abandons late requests, and ends pauses. */
  #expire(): void {
    const now = this.#options.now();
    const { timeoutMs } = this.#options;
    for (const connection of [...this.#busy]) {
      const { exchange } = connection;
      if (exchange && now - exchange.sentMs >= timeoutMs) {
        this.#options.nodes.timedOut(connection.node, exchange.sentMs);
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
    // A dropped call completes at once, and may send further calls.
    if (this.#isSending) return;
    this.#isSending = true;
    const { nodes } = this.#options;
    while (this.#unscheduled.size > 0 && (nodes.isDown || this.hasRoom)) {
      const { call, intendedMs } = this.#unscheduled.shift()!;
      if (nodes.isDown) this.drop(call, intendedMs, null);
      else this.send(call, intendedMs, null);
    }
    this.#isSending = false;
  }
}
