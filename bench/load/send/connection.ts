/**
 * One HTTP connection: one request at a time, its answer read whole. It is never retried, and once
 * given up never used again: what still comes out of it is ignored.
 */
import { Client, type Dispatcher } from 'undici';
import type { Call } from '../workload.js';

/** A request under way. */
export interface Exchange {
  call: Call;
  intendedMs: number;
  sentMs: number;
  /** An arrival of the schedule; else the workload sent it beside the schedule. */
  scheduled: boolean;
}

export interface Place {
  origin: string;
  /** Before /api: of servers that are not at the root. */
  prefix: string;
  timeoutMs: number;
}

/** A list of 10,000 agents is 2 MiB; what is far above is nobody's answer. */
const ANSWER_BYTES = 16 * 1024 * 1024;

export type Ending =
  | { status: number; body: Buffer }
  /** Broken by a server that was there, or not even begun: nobody listens. */
  | 'broken'
  | 'nobody';

const nobody = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);

/**
 * Speaks undici's older form of a handler: the newer one parses all headers of each answer, a tenth
 * of what a request costs, and nobody here reads them.
 */
export class Connection implements Dispatcher.DispatchHandler {
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
