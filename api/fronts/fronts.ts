/**
 * Fronts are processes that read and write the connections on one port, while this process holds
 * the network and all limits. To the application, fronts are a transport like any other.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Prepared } from '../../engine/admit/admit.js';
import { socketLimits } from '../contract/channels.js';
import {
  type Application,
  createListenFailure,
  type FrontsFigures,
  type HttpResponse,
  type IncomingRequest,
  type Listening,
  type Socket,
  type SocketHandlers,
  type Transport,
  type Where,
} from '../transport/transport.js';
import type { FrontSettings } from './front-application.js';
import {
  CHANNEL,
  decodeHead,
  encodeHeaders,
  type FrontRecord,
  Outgoing,
  receive,
  SharedBytes,
} from './records.js';

/** Delay before restarting a front. */
const AGAIN_MS = 100;
/** Time without a record from a front after which the front counts as hung. */
const SILENT_MS = 30_000;
/** Additional shutdown delay after the requests in flight. */
const GRACE_MS = 3_000;

interface FrontsOptions {
  count: number;
  /** Called when a front has ended unexpectedly, before its restart. */
  onEnded: (error: Error) => void;
}

export interface FrontsTransport extends Transport {
  figures(): FrontsFigures;
}

/** Creates the transport. It requires Linux and uWebSockets.js. */
export function frontsTransport({ count, onEnded }: FrontsOptions): FrontsTransport {
  const fronts = new Set<Front>();
  const past = { restarts: 0, cpuSeconds: 0 };
  return {
    name: 'uws',
    figures() {
      const running = [...fronts];
      const sum = (of: (front: Front) => number) => running.reduce((all, one) => all + of(one), 0);
      return {
        running: running.length,
        restarts: past.restarts,
        cpuSeconds: past.cpuSeconds + sum(({ usage }) => usage.cpuSeconds),
        residentBytes: sum(({ usage }) => usage.residentBytes),
      };
    },
    async listen(application, { host, port }) {
      const where = { host, port: await findFreePort({ host, port }) };
      const published = new Published();
      const start = () => new Front(application, where, published);
      let stopping = false;
      /** Retries starting a front until it succeeds or the server stops. */
      const again = async (): Promise<Front | null> => {
        for (;;) {
          await pause(AGAIN_MS);
          if (stopping) return null;
          const front = start();
          const problem = await front.listening;
          if (problem === null) return front;
          onEnded(problem);
        }
      };
      const keep = async (first: Front) => {
        for (let front: Front | null = first; front; front = await again()) {
          fronts.add(front);
          if (front !== first) past.restarts += 1;
          if (stopping) front.stop(GRACE_MS);
          const how = await front.ended;
          fronts.delete(front);
          past.cpuSeconds += front.usage.cpuSeconds;
          if (!stopping) onEnded(new Error(`front process ended (${how}); restarting`));
        }
      };
      const kept = (await startAll(start, count)).map(keep);
      return {
        port: where.port,
        async close() {
          stopping = true;
          for (const front of fronts) front.stop(application.limits.stopMs + GRACE_MS);
          await Promise.all(kept);
        },
      } satisfies Listening;
    },
  };
}

/** Starts all fronts. If one fails, stops all fronts and throws the first problem. */
async function startAll(start: () => Front, count: number): Promise<Front[]> {
  const fronts = Array.from({ length: count }, start);
  const problems = await Promise.all(fronts.map((front) => front.listening));
  const problem = problems.find((one) => one !== null);
  if (!problem) return fronts;
  for (const front of fronts) front.stop(0);
  await Promise.all(fronts.map((front) => front.ended));
  throw problem;
}

/** Finds a free port. Fronts share a port, so only an exclusive probe detects a conflict. */
async function findFreePort({ host, port }: Where): Promise<number> {
  const probe = createServer();
  probe.listen({ host, port, exclusive: true });
  await once(probe, 'listening').catch((error: unknown) => {
    throw createListenFailure({ host, port }, error);
  });
  const address = probe.address();
  const found = typeof address === 'object' && address !== null ? address.port : port;
  probe.close();
  await once(probe, 'close');
  return found;
}

const program = fileURLToPath(new URL('./front.js', import.meta.url));
/** Semi-space for many concurrent requests, in MiB. See docs/decisions/0019-young-objects.md. */
const nodeFlags = ['--max-semi-space-size=32'];

/** A front process, as its parent sees it. */
class Front {
  /** Resolves to null once the front is listening, or to the problem. */
  readonly listening: Promise<Error | null>;
  /** Resolves to the exit reason, after all connections have ended. */
  readonly ended: Promise<string>;
  usage = { cpuSeconds: 0, residentBytes: 0 };
  readonly #child: ChildProcess;
  readonly #out: Outgoing;
  readonly #carrier: Carrier;
  #listens: (problem: Error | null) => void = () => {};
  #heardMs = performance.now();

  constructor(application: Application, { host, port }: Where, published: Published) {
    this.#child = spawn(process.execPath, [...nodeFlags, program], {
      stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
    });
    passOn(this.#child.stderr!);
    const channel = this.#child.stdio[CHANNEL] as Duplex;
    channel.on('error', () => {});
    // A front that hangs does not end by itself.
    channel.on('close', () => this.#child.kill('SIGKILL'));
    const watch = setInterval(() => this.#killIfSilent(), SILENT_MS / 4);
    this.#out = new Outgoing(channel);
    this.#carrier = new Carrier(application, this.#out, published);
    this.listening = new Promise((resolve) => {
      this.#listens = resolve;
    });
    this.ended = new Promise((resolve) => {
      const end = (how: string) => {
        clearInterval(watch);
        this.#carrier.end();
        this.#listens(new Error(`front process ended before listening (${how})`));
        resolve(how);
      };
      this.#child.on('error', (error) => end(error.message));
      // Emitted after the process's output ends.
      this.#child.on('close', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    receive(channel, (record) => this.#take(record));
    const { limits, socketPath, preparation } = application;
    const settings: FrontSettings = { host, port, limits, socketPath, preparation };
    this.#out.send('settings', 0, { text: JSON.stringify(settings) });
  }

  /** Stops the front after the requests in flight. Kills the process after `afterMs`. */
  stop(afterMs: number): void {
    this.#out.send('stop', 0);
    const cut = setTimeout(() => this.#child.kill('SIGKILL'), afterMs);
    void this.ended.then(() => clearTimeout(cut));
  }

  #killIfSilent(): void {
    if (performance.now() - this.#heardMs > SILENT_MS) this.#child.kill('SIGKILL');
  }

  #take(record: FrontRecord): void {
    if (record.kind === 'usage') this.#heardMs = performance.now();
    if (record.kind === 'listening') this.#listens(null);
    else if (record.kind === 'deaf') this.#deaf(record.text);
    else if (record.kind === 'usage') this.usage = JSON.parse(record.text) as Front['usage'];
    else this.#carrier.take(record);
  }

  #deaf(why: string): void {
    this.#listens(new Error(`front process cannot listen: ${why}`));
    this.#child.kill('SIGKILL');
  }
}

/**
 * uWebSockets.js warns about a handshake outside a cork, which costs an additional write. Inside a
 * cork, it may treat the new WebSocket as an answered request and close it.
 */
const KNOWN_WARNING = 'Warning: uWS.HttpResponse writes must be made from within a corked callback';

/** Forwards a front's standard error, without the known warning. */
function passOn(stream: Readable): void {
  createInterface(stream).on('line', (line) => {
    if (!line.startsWith(KNOWN_WARNING)) process.stderr.write(`${line}\n`);
  });
}

/** Topics of all fronts. A published message goes once to each front with a member. */
class Published {
  /** Members of each topic, by front. */
  readonly #members = new Map<string, Map<Outgoing, number>>();

  join(topic: string, front: Outgoing): void {
    const members = this.#members.get(topic) ?? new Map<Outgoing, number>();
    members.set(front, (members.get(front) ?? 0) + 1);
    this.#members.set(topic, members);
  }

  leave(topic: string, front: Outgoing): void {
    const members = this.#members.get(topic);
    const left = (members?.get(front) ?? 0) - 1;
    if (left > 0) members?.set(front, left);
    else members?.delete(front);
    if (members?.size === 0) this.#members.delete(topic);
  }

  publish(topic: string, bytes: Uint8Array): void {
    for (const front of this.#members.get(topic)?.keys() ?? []) {
      front.send('publish', 0, { text: topic, bytes });
    }
  }
}

/*
 * A front's connections, in the engine's process. Passes requests and WebSockets to the application
 * like a local transport, and sends back the results.
 */

/** Close code for WebSockets whose front ended. */
const GONE = 1006;

interface Carried {
  request: IncomingRequest;
  /** True if the request was refused before the end of its body. */
  refused: boolean;
}

const decoder = new TextDecoder();

class Carrier {
  readonly #application: Application;
  readonly #out: Outgoing;
  readonly #published: Published;
  readonly #shared: SharedBytes;
  readonly #requests = new Map<number, Carried>();
  readonly #sockets = new Map<number, CarriedSocket>();

  constructor(application: Application, out: Outgoing, published: Published) {
    this.#application = application;
    this.#out = out;
    this.#published = published;
    this.#shared = new SharedBytes(out);
  }

  take(record: FrontRecord): void {
    const { kind, id, value, text, bytes } = record;
    if (kind === 'whole' || kind === 'prepared') this.#whole(record);
    else if (kind === 'begin') this.#begin(id, value, text);
    else if (kind === 'upgrade') this.#upgrade(id, text);
    else if (kind === 'release') this.#release(id);
    else if (kind === 'connected') this.#connected(text);
    else if (kind === 'answered') this.#application.answered?.(value);
    else if (kind === 'closed') this.#closed(id, value);
    else if (kind === 'took' || kind === 'late' || kind === 'body' || kind === 'unread') {
      const carried = this.#requests.get(id);
      if (!carried) return;
      if (kind === 'took') this.#took(id, carried, value);
      else if (kind === 'late') this.#answer(id, carried, carried.request.timeOut());
      else if (!carried.refused) {
        const body = kind === 'unread' ? 'unread' : bytes;
        this.#answer(id, carried, carried.request.answer(body));
      }
    } else this.#sockets.get(id)?.take(record);
  }

  /**
   * Ends all connections to a front that ended. Requests already received may still take effect.
   */
  end(): void {
    for (const id of [...this.#requests.keys()]) this.#release(id);
    for (const id of [...this.#sockets.keys()]) this.#closed(id, GONE);
  }

  #connected(address: string): void {
    if (!this.#application.accepts(address)) this.#out.send('crowded', 0, { text: address });
  }

  #whole({ kind, id, value, text, bytes }: FrontRecord): void {
    const request = this.#application.begin(decodeHead(text), value < 0 ? null : value);
    const isPrepared = kind === 'prepared';
    const body = isPrepared ? bytes.subarray(0, value) : bytes;
    const taken = body.length === 0 || (request.readsBody && request.take(body.length));
    const carried = { request, refused: false };
    this.#requests.set(id, carried);
    const prepared = isPrepared ? preparedIn(bytes.subarray(value)) : undefined;
    this.#answer(id, carried, request.answer(taken ? body : 'unread', prepared));
  }

  #begin(id: number, value: number, text: string): void {
    const request = this.#application.begin(decodeHead(text), value < 0 ? null : value);
    const carried = { request, refused: false };
    this.#requests.set(id, carried);
    if (!request.readsBody) this.#refuse(id, carried);
  }

  #took(id: number, carried: Carried, bytes: number): void {
    if (!carried.refused && !carried.request.take(bytes)) this.#refuse(id, carried);
  }

  /** Refuses immediately. The front closes the connection after the response. */
  #refuse(id: number, carried: Carried): void {
    carried.refused = true;
    this.#answer(id, carried, carried.request.answer('unread'));
  }

  #answer(id: number, carried: Carried, response: HttpResponse | Promise<HttpResponse>): void {
    if (response instanceof Promise) {
      void response.then((answer) => this.#send(id, carried, answer));
    } else this.#send(id, carried, response);
  }

  /** Sends a response, unless it was already sent or the client disconnected. */
  #send(id: number, carried: Carried, { status, headers, body }: HttpResponse): void {
    if (this.#requests.get(id) !== carried) return;
    this.#requests.delete(id);
    carried.request.release();
    this.#out.send('answer', id, { value: status, text: encodeHeaders(headers), bytes: body });
  }

  #release(id: number): void {
    this.#requests.get(id)?.request.release();
    this.#requests.delete(id);
    this.#closed(id, GONE);
  }

  /** Opens the session synchronously, so that connection limits are exact. */
  #upgrade(id: number, text: string): void {
    const request = this.#application.begin(decodeHead(text), 0);
    const opened = request.upgrade();
    if (opened instanceof Promise) throw new Error('upgrade must be synchronous');
    if ('answer' in opened) {
      const carried = { request, refused: false };
      this.#requests.set(id, carried);
      return this.#answer(id, carried, opened.answer);
    }
    this.#out.send('upgraded', id);
    const socket = new CarriedSocket(id, opened.addressKey, this.#out, {
      shared: this.#shared,
      published: this.#published,
    });
    this.#sockets.set(id, socket);
    socket.handlers = this.#application.open(socket);
  }

  #closed(id: number, code: number): void {
    const socket = this.#sockets.get(id);
    this.#sockets.delete(id);
    socket?.handleClose(code);
  }
}

const preparedIn = (bytes: Uint8Array): Prepared => JSON.parse(decoder.decode(bytes)) as Prepared;

interface Together {
  shared: SharedBytes;
  published: Published;
}

/** A WebSocket of a front, as the application sees it. */
class CarriedSocket implements Socket {
  readonly addressKey: string;
  readonly together: Socket['together'];
  readonly #id: number;
  readonly #out: Outgoing;
  readonly #shared: SharedBytes;
  readonly #published: Published;
  readonly #topics = new Set<string>();
  /** Bytes not yet reported as sent. */
  #buffered = 0;
  #isClosed = false;
  handlers: SocketHandlers | null = null;

  constructor(id: number, addressKey: string, out: Outgoing, { shared, published }: Together) {
    this.#id = id;
    this.addressKey = addressKey;
    this.#out = out;
    this.#shared = shared;
    this.#published = published;
    this.together = {
      join: (topic) => this.#join(topic),
      leave: (topic) => this.#leave(topic),
      publish: (topic, text) => published.publish(topic, text),
    };
  }

  send = (text: Uint8Array | string): boolean => this.#send('text', text);
  sendBytes = (bytes: Uint8Array): boolean => this.#send('bytes', bytes);
  bufferedBytes = (): number => (this.#isClosed ? 0 : this.#buffered);
  /** Runs the work directly, because records from one turn are sent together anyway. */
  cork = (work: () => void): void => {
    if (!this.#isClosed) work();
  };
  ping = (): void => {
    if (!this.#isClosed) this.#out.send('ping', this.#id);
  };
  close = (code: number, reason: string): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#out.send('close', this.#id, { value: code, text: reason });
  };

  /** Handles a record about this socket. */
  take({ kind, value, bytes }: FrontRecord): void {
    if (kind === 'left') {
      this.#buffered -= value;
      if (!this.#isClosed && value > 0) this.handlers?.drained();
    } else if (kind === 'message') this.handlers?.message(decoder.decode(bytes));
    else if (kind === 'binary') this.handlers?.message(null);
    else if (kind === 'pinged') this.handlers?.pinged();
    else if (kind === 'ponged') this.handlers?.pong();
    else if (kind === 'missed') this.handlers?.missed();
  }

  handleClose(code: number): void {
    this.#isClosed = true;
    for (const topic of this.#topics) this.#published.leave(topic, this.#out);
    this.#topics.clear();
    const { handlers } = this;
    this.handlers = null;
    handlers?.closed(code);
  }

  #join(topic: string): void {
    if (this.#isClosed || this.#topics.has(topic)) return;
    this.#topics.add(topic);
    this.#published.join(topic, this.#out);
    this.#out.send('join', this.#id, { text: topic });
  }

  #leave(topic: string): void {
    if (!this.#topics.delete(topic)) return;
    this.#published.leave(topic, this.#out);
    if (!this.#isClosed) this.#out.send('leave', this.#id, { text: topic });
  }

  #send(kind: 'text' | 'bytes', bytes: Uint8Array | string): boolean {
    if (this.#isClosed) return true;
    if (this.#buffered > socketLimits.backlogBytes) return false;
    const value = typeof bytes === 'string' ? 0 : this.#shared.numberOf(bytes);
    this.#buffered += typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
    this.#out.send(kind, this.#id, value > 0 ? { value } : { bytes });
    return true;
  }
}
