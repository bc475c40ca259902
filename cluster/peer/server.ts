/**
 * The HTTP server that a node opens for its peers. A peer that proves knowledge of the secret
 * receives a snapshot of the data folder, and nothing else is served. See give.ts.
 */

import { createReadStream, mkdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { limits } from '../../engine/protocol/limits.js';
import { copiedName, freeBytes } from '../../engine/store/folder.js';
import { hostClock } from '../../engine/store/host-clock.js';
import type { EtcdTls } from '../etcd/wire.js';
import { SnapshotGiver } from './give.js';
import { bounds, longestMs } from './proof.js';
import { runInSubprocess } from './subprocess.js';

interface PeerServerOptions {
  host: string;
  /** 0 selects a free port. */
  port: number;
  /** From `checkedSecret`. */
  secret: string;
  /** With `cert` and `key`, the port uses TLS. With `ca`, peers need a client certificate. */
  tls?: EtcdTls | undefined;
  network: string;
  tell(line: string): void;
}

export class PeerServer {
  readonly #options: PeerServerOptions;
  readonly #server: Server;
  readonly #strangers: Strangers;
  readonly #giver: SnapshotGiver;
  readonly #closing = new AbortController();

  /** Listens, without a folder to serve yet. @throws if the port cannot be opened. */
  static async listen(options: PeerServerOptions): Promise<PeerServer> {
    const made = new PeerServer(options);
    await new Promise<void>((resolve, reject) => {
      made.#server.once('error', reject);
      made.#server.listen(options.port, options.host, resolve);
    });
    return made;
  }

  private constructor(options: PeerServerOptions) {
    this.#options = options;
    this.#giver = new SnapshotGiver({ ...options, host: hostClock, url: () => this.url });
    const handle = (request: IncomingMessage, response: ServerResponse) =>
      void this.#answer(request, response);
    const limited = {
      maxHeaderSize: bounds.headBytes,
      headersTimeout: bounds.requestMs,
      requestTimeout: bounds.requestMs,
      connectionsCheckingInterval: bounds.checkMs,
      handshakeTimeout: bounds.requestMs,
      keepAlive: false,
    };
    const { ca, cert, key } = options.tls ?? {};
    const mutual = ca ? { ca, requestCert: true, rejectUnauthorized: true } : {};
    this.#server =
      cert && key
        ? createTlsServer({ ...limited, cert, key, ...mutual, minVersion: 'TLSv1.2' }, handle)
        : createServer(limited, handle);
    // Doubled, because connections that the server is closing still count toward the limit.
    this.#server.maxConnections = 2 * bounds.connections;
    this.#strangers = new Strangers(this.#server, {
      most: bounds.connections,
      ms: bounds.requestMs,
    });
    // Closes idle connections.
    this.#server.setTimeout(bounds.silenceMs);
  }

  get url(): string {
    const { host, tls } = this.#options;
    const { port } = this.#server.address() as AddressInfo;
    const name = host.includes(':') ? `[${host}]` : host;
    return `${tls?.cert ? 'https' : 'http'}://${name}:${port}`;
  }

  /** Serves this folder from now on. A writer in this process has the folder open. */
  give(folder: string): void {
    const to = join(folder, copiedName);
    const file = join(to, 'data.mdb');
    this.#giver.source = {
      hasRoom() {
        const { size } = statSync(join(folder, 'data.mdb'));
        return freeBytes(folder) - size >= limits.freeSpaceBytes;
      },
      async copy(signal) {
        this.clear();
        mkdirSync(to, { mode: 0o700 });
        return (await runInSubprocess({ do: 'copy', folder, to }, signal))!;
      },
      read: () => createReadStream(file),
      clear: () => rmSync(to, { recursive: true, force: true }),
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Connection', 'close');
    response.setHeader('Cache-Control', 'no-store');
    const gone = new AbortController();
    const leave = () => gone.abort(new Error('the peer disconnected'));
    let cancel = () => {};
    response.once('close', leave);
    this.#closing.signal.addEventListener('abort', leave);
    try {
      await this.#giver.answer(request, {
        gone: gone.signal,
        accepted: () => {
          this.#strangers.isKnown(request.socket);
          cancel = hostClock.every(bounds.wakeMs, () => response.writeProcessing());
        },
        send(status, head, body) {
          cancel();
          const late = () => response.destroy(new Error('transfer timed out'));
          cancel = hostClock.after(longestMs(Number(head['Content-Length'] ?? 0)), late);
          response.writeHead(status, head);
          return pipeline(body, response);
        },
      });
    } catch (error) {
      if (!response.destroyed && !this.#closing.signal.aborted) {
        this.#options.tell(`cannot send a snapshot: ${(error as Error).message}`);
      }
      fail(response);
    } finally {
      cancel();
      this.#closing.signal.removeEventListener('abort', leave);
    }
  }
}

function fail(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const message = 'internal error, see the log of the node';
  response.writeHead(500, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ reason: 'FAILED', message }));
}

/*
 * Connections that are not authenticated yet. Their number and duration are limited. Above the
 * limit, the oldest connection from the address with the most connections is closed, so that
 * strangers cannot keep out a client that can authenticate.
 */

interface Stranger {
  socket: Socket;
  address: string;
  inTime: () => void;
}

export class Strangers {
  readonly #limits: { most: number; ms: number };
  /** Oldest first. */
  readonly #waiting = new Map<string, Stranger>();

  constructor(server: NetServer, limits: { most: number; ms: number }) {
    this.#limits = limits;
    server.on('connection', (socket: Socket) => this.#came(socket));
  }

  /** Records that the client on this connection has authenticated. */
  isKnown(socket: Socket): void {
    this.#forget(nameOf(socket));
  }

  #came(socket: Socket): void {
    if (this.#waiting.size >= this.#limits.most) this.#closeOne();
    const name = nameOf(socket);
    const inTime = hostClock.after(this.#limits.ms, () => socket.destroy());
    this.#waiting.set(name, { socket, address: socket.remoteAddress ?? '', inTime });
    socket.once('close', () => this.#forget(name));
  }

  #forget(name: string): void {
    this.#waiting.get(name)?.inTime();
    this.#waiting.delete(name);
  }

  #closeOne(): void {
    const counts = new Map<string, number>();
    for (const { address } of this.#waiting.values()) {
      counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    for (const [name, { socket, address }] of this.#waiting) {
      if (counts.get(address) !== most) continue;
      this.#forget(name);
      return void socket.destroy();
    }
  }
}

/** Returns a connection's key, which is equal for a TCP socket and the TLS socket over it. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
