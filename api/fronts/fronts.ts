/**
 * Fronts are processes that read and write the connections on one port, while this process holds
 * the network and all limits. To the application, fronts are a transport like any other.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Application,
  type Body,
  type FrontsFigures,
  type HttpResponse,
  type IncomingRequest,
  type Listening,
  ListenProblem,
  type Transport,
  type Where,
} from '../transport/transport.js';
import {
  CHANNEL,
  decodeHead,
  encodeHeaders,
  type FrontRecord,
  Outgoing,
  receive,
  SharedBytes,
} from './codec.js';
import { type FrontSettings, FrontSocket } from './front-application.js';

/** Delay before restarting a front. */
const AGAIN_MS = 100;
/** Additional shutdown delay after the requests in flight. */
const GRACE_MS = 3_000;

interface FrontsOptions {
  count: number;
  /** Called when a front has ended unexpectedly, before its restart. */
  onEnded: (error: Error) => void;
}

interface FrontsTransport extends Transport {
  figures(): FrontsFigures;
}

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
      const where = { host, port: await freePort({ host, port }) };
      const folder = await mkdtemp(join(tmpdir(), 'folkmoot-fronts-'));
      let stopping = false;
      /** Retries starting a front until it succeeds or the server stops. */
      const again = async (): Promise<Front | null> => {
        for (;;) {
          await pause(AGAIN_MS);
          if (stopping) return null;
          const front = new Front(application, where, folder);
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
      const clean = () => rm(folder, { recursive: true, force: true });
      const started = await startAll(application, where, folder, count).catch(async (error) => {
        await clean();
        throw error;
      });
      const kept = started.map(keep);
      return {
        port: where.port,
        async close() {
          stopping = true;
          for (const front of fronts) front.stop(application.limits.stopMs + GRACE_MS);
          await Promise.all(kept);
          await clean();
        },
      } satisfies Listening;
    },
  };
}

/** Starts all fronts. If one fails, stops all fronts and throws the first problem. */
async function startAll(
  application: Application,
  where: Where,
  folder: string,
  count: number,
): Promise<Front[]> {
  const fronts = Array.from({ length: count }, () => new Front(application, where, folder));
  const problems = await Promise.all(fronts.map((front) => front.listening));
  const problem = problems.find((one) => one !== null);
  if (!problem) return fronts;
  for (const front of fronts) front.stop(0);
  await Promise.all(fronts.map((front) => front.ended));
  throw problem;
}

/** Finds a free port. Fronts share a port, so only an exclusive probe detects a conflict. */
async function freePort({ host, port }: Where): Promise<number> {
  const probe = createServer();
  probe.listen({ host, port, exclusive: true });
  await once(probe, 'listening').catch((error: unknown) => {
    throw new ListenProblem({ host, port }, error);
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

  /** @param folder shared by the fronts on a port */
  constructor(application: Application, { host, port }: Where, folder: string) {
    this.#child = spawn(process.execPath, [...nodeFlags, program], {
      stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
    });
    passOn(this.#child.stderr!);
    const channel = this.#child.stdio[CHANNEL] as Duplex;
    // An error closes the channel, which ends the front.
    channel.on('error', () => {});
    this.#out = new Outgoing(channel);
    this.#carrier = new Carrier(application, this.#out);
    this.listening = new Promise((resolve) => {
      this.#listens = resolve;
    });
    this.ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#carrier.end();
        this.#listens(new Error(`front process ended before listening (${how})`));
        resolve(how);
      };
      this.#child.on('error', (error) => end(error.message));
      // Emitted after the process's output ends.
      this.#child.on('close', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    receive(channel, (record) => this.#take(record));
    const { limits, verifiesFor, connectionPolicy } = application;
    const settings: FrontSettings = { host, port, limits, connectionPolicy, folder, verifiesFor };
    this.#out.send('settings', 0, { text: JSON.stringify(settings) });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Stops the front after the requests in flight. Kills the process after `afterMs`. */
  stop(afterMs: number): void {
    this.#out.send('stop', 0);
    const cut = setTimeout(() => this.#child.kill('SIGKILL'), afterMs);
    void this.ended.then(() => clearTimeout(cut));
  }

  #take(record: FrontRecord): void {
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

class Carrier {
  readonly #application: Application;
  readonly #out: Outgoing;
  readonly #shared: SharedBytes;
  readonly #requests = new Map<number, Carried>();
  readonly #sockets = new Map<number, FrontSocket>();

  constructor(application: Application, out: Outgoing) {
    this.#application = application;
    this.#out = out;
    this.#shared = new SharedBytes(out);
  }

  take(record: FrontRecord): void {
    const { kind, id, value, text, bytes } = record;
    if (kind === 'whole' || kind === 'held') this.#whole(record);
    else if (kind === 'begin') this.#begin(id, value, text);
    else if (kind === 'upgrade') this.#upgrade(id, text);
    else if (kind === 'release') this.#release(id);
    else if (kind === 'message') this.#sockets.get(id)?.handlers?.message(text);
    else if (kind === 'binary') this.#sockets.get(id)?.handlers?.message(null);
    else if (kind === 'pinged') this.#sockets.get(id)?.handlers?.pinged();
    else if (kind === 'ponged') this.#sockets.get(id)?.handlers?.pong();
    else if (kind === 'left') this.#sockets.get(id)?.left(value);
    else if (kind === 'closed') this.#closed(id, value);
    else {
      const carried = this.#requests.get(id);
      if (!carried) return;
      if (kind === 'took') this.#took(id, carried, value);
      else if (kind === 'late') this.#answer(id, carried, carried.request.timeOut());
      else this.#body(id, carried, kind === 'unread' ? 'unread' : bytes);
    }
  }

  /**
   * Ends all connections to a front that ended. Requests already received may still take effect.
   */
  end(): void {
    for (const id of [...this.#requests.keys()]) this.#release(id);
    for (const id of [...this.#sockets.keys()]) this.#closed(id, GONE);
  }

  #whole({ kind, id, value, text, bytes }: FrontRecord): void {
    const request = this.#application.begin(decodeHead(text), value < 0 ? null : value);
    const taken = bytes.length === 0 || (request.readsBody && request.take(bytes.length));
    const carried = { request, refused: false };
    this.#requests.set(id, carried);
    this.#answer(id, carried, request.answer(taken ? bytes : 'unread', kind === 'held'));
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

  #body(id: number, carried: Carried, body: Body): void {
    if (!carried.refused) this.#answer(id, carried, carried.request.answer(body));
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
    const socket = new FrontSocket(id, opened.addressKey, this.#out, this.#shared);
    this.#sockets.set(id, socket);
    socket.handlers = this.#application.open(socket);
  }

  #closed(id: number, code: number): void {
    const socket = this.#sockets.get(id);
    this.#sockets.delete(id);
    socket?.handleClose(code);
  }
}
