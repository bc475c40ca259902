/**
 * The HTTP server that a node opens for its peers. A peer that proves knowledge of the secret
 * receives a snapshot of the data folder. One snapshot is sent at a time, and nothing else is
 * served.
 */

import { createReadStream, mkdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { limits } from '../../engine/protocol/limits.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import { copiedName, freeBytes } from '../../engine/store/folder.js';
import { hostClock } from '../../engine/store/host-clock.js';
import type { EtcdTls } from '../etcd/wire.js';
import {
  bounds,
  formatDescription,
  headers,
  isEqualProof,
  longestMs,
  type PeerRequest,
  PROTOCOL,
  Proofs,
  proveRequest,
  proveResponse,
} from './proof.js';
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

/** A refused request, answered with JSON `{reason, message}`. */
class Refused extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

export class PeerServer {
  readonly #options: PeerServerOptions;
  readonly #server: Server;
  readonly #strangers: Strangers;
  readonly #proofs = new Proofs();
  readonly #closing = new AbortController();
  #folder: string | null = null;
  #giving = 0;

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
    this.#folder = folder;
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
    try {
      const asking = this.#checked(request);
      this.#strangers.isKnown(request.socket);
      await this.#giveTo(asking, response);
    } catch (error) {
      if (!(error instanceof Refused) && !response.destroyed && !this.#closing.signal.aborted) {
        this.#options.tell(`cannot send a snapshot: ${(error as Error).message}`);
      }
      refuse(response, error);
    }
  }

  /** Authenticates first, so that a client without the secret learns nothing. @throws {Refused} */
  #checked(request: IncomingMessage): PeerRequest {
    const asking = askingIn(request.headers[headers.asking]);
    const { secret, network } = this.#options;
    const proof = asking ? proveRequest(secret, asking) : '';
    if (!asking || !isEqualProof(proof, request.headers[headers.proof])) {
      throw new Refused(401, 'SECRET', 'missing or invalid proof of the shared secret');
    }
    if (asking.network !== network) {
      throw new Refused(
        409,
        'OTHER_NETWORK',
        `other network: ${asking.network} (expected ${network})`,
      );
    }
    if (asking.to !== this.url) {
      throw new Refused(401, 'ADDRESS', `other address: ${asking.to} (expected ${this.url})`);
    }
    const apartMs = Math.abs(asking.at - hostClock.now());
    if (apartMs > bounds.proofMs) {
      throw new Refused(401, 'CLOCK', `clocks differ by ${apartMs} ms (limit ${bounds.proofMs})`);
    }
    if (!this.#proofs.use(asking.nonce, asking.at)) {
      throw new Refused(401, 'USED', 'proof already used, or too many requests');
    }
    const { method, url } = request;
    if (url !== '/snapshot') throw new Refused(404, 'ROUTE', 'not found (expected /snapshot)');
    if (method !== 'GET') throw new Refused(405, 'METHOD', 'method not allowed (expected GET)');
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (length !== '0' || coding) throw new Refused(413, 'TOO_LARGE', 'body not allowed');
    return asking;
  }

  async #giveTo(asking: PeerRequest, response: ServerResponse): Promise<void> {
    const folder = this.#folder;
    if (folder === null) throw new Refused(503, 'STARTING', 'this node is catching up');
    if (this.#giving >= bounds.givenAtOnce) {
      throw new Refused(503, 'BUSY', 'another snapshot is being sent; retry later');
    }
    this.#giving += 1;
    const gone = new AbortController();
    const leave = () => gone.abort(new Error(`node ${asking.node} disconnected`));
    response.once('close', leave);
    this.#closing.signal.addEventListener('abort', leave);
    const to = join(folder, copiedName);
    try {
      assertRoom(folder);
      rmSync(to, { recursive: true, force: true });
      mkdirSync(to, { mode: 0o700 });
      await this.#send(await this.#copied(folder, to, response, gone.signal), asking, response);
    } finally {
      this.#closing.signal.removeEventListener('abort', leave);
      rmSync(to, { recursive: true, force: true });
      this.#giving -= 1;
    }
  }

  async #copied(from: string, to: string, response: ServerResponse, signal: AbortSignal) {
    const sleepAgain = hostClock.every(bounds.wakeMs, () => response.writeProcessing());
    try {
      const copied = await runInSubprocess({ do: 'copy', folder: from, to }, signal);
      return { ...copied!, file: join(to, 'data.mdb') };
    } finally {
      sleepAgain();
    }
  }

  async #send(
    copied: { file: string; network: string; log: string; version: number } & {
      bytes: number;
      sha256: string;
    },
    { node, nonce }: PeerRequest,
    response: ServerResponse,
  ): Promise<void> {
    const { file, ...rest } = copied;
    const { bytes, version } = rest;
    const description = formatDescription({ protocol: PROTOCOL, ...rest });
    this.#options.tell(`sending a snapshot to node ${node}: batch ${version}, ${bytes} bytes`);
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': bytes,
      [headers.snapshot]: description,
      [headers.proof]: proveResponse(this.#options.secret, nonce, description),
    });
    const inTime = hostClock.after(longestMs(bytes), () =>
      response.destroy(new Error('transfer timed out')),
    );
    try {
      await pipeline(createReadStream(file), response);
    } finally {
      inTime();
    }
  }
}

/** @throws {Refused} if a copy could fill the disk. */
function assertRoom(folder: string): void {
  const { size } = statSync(join(folder, 'data.mdb'));
  if (freeBytes(folder) - size >= limits.freeSpaceBytes) return;
  throw new Refused(507, 'DISK_FULL', 'not enough disk space for a copy of the data');
}

/** Parses a request header. Returns null if the header is invalid. */
function askingIn(header: string | string[] | undefined): PeerRequest | null {
  try {
    const found = parseUnique(
      Buffer.from(String(header), 'base64url').toString('utf8'),
    ) as PeerRequest;
    const { network, to, node, at, nonce } = found;
    const texts = [network, to, node, nonce].every((text) => typeof text === 'string');
    return texts && Number.isSafeInteger(at) ? { network, to, node, at, nonce } : null;
  } catch {
    return null;
  }
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const refused = error instanceof Refused;
  const { reason, message } = refused
    ? error
    : { reason: 'FAILED', message: 'internal error, see the log of the node' };
  response.writeHead(refused ? error.status : 500, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ reason, message }));
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
