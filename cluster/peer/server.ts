/**
 * The port that a node opens for the other nodes. A peer that proves to know the secret receives a
 * snapshot of the node's folder, one peer at a time; the server answers nothing else.
 */
import { createReadStream, mkdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { limits } from '../../engine/protocol/limits.js';
import { copiedName, freeBytes } from '../../engine/store/folder.js';
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
  /** 0 picks a free one. */
  port: number;
  /** As `checkedSecret` gives it. */
  secret: string;
  /** With a certificate of this node, all is encrypted; with an authority, peers must have one. */
  tls?: EtcdTls | undefined;
  network: string;
  /** What whoever runs the node should know. */
  tell(line: string): void;
}

/** Why a request is not done: told as JSON `{reason, message}`. */
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

  /** Resolves when it listens; it has nothing to give yet. @throws where it cannot listen. */
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
    // Twice as many: connections that the server closes count until they are closed.
    this.#server.maxConnections = 2 * bounds.connections;
    this.#strangers = new Strangers(this.#server, {
      most: bounds.connections,
      ms: bounds.requestMs,
    });
    // Closes connections on which nothing moves.
    this.#server.setTimeout(bounds.silenceMs);
  }

  /** Where peers find it. */
  get url(): string {
    const { host, tls } = this.#options;
    const { port } = this.#server.address() as AddressInfo;
    const name = host.includes(':') ? `[${host}]` : host;
    return `${tls?.cert ? 'https' : 'http'}://${name}:${port}`;
  }

  /** From now on this folder is what it gives; a writer of this process has it open. */
  give(folder: string): void {
    this.#folder = folder;
  }

  /** Ends what is under way. */
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
        this.#options.tell(`a snapshot is not given: ${(error as Error).message}`);
      }
      refuse(response, error);
    }
  }

  /** Nobody without the secret learns anything, not even what there is. @throws {Refused} */
  #checked(request: IncomingMessage): PeerRequest {
    const asking = askingIn(request.headers[headers.asking]);
    const { secret, network } = this.#options;
    const proof = asking ? proveRequest(secret, asking) : '';
    if (!asking || !isEqualProof(proof, request.headers[headers.proof])) {
      throw new Refused(401, 'SECRET', 'expected the proof of a node that has the secret');
    }
    if (asking.network !== network) {
      throw new Refused(409, 'OTHER_NETWORK', `this is a node of ${network}`);
    }
    if (asking.to !== this.url) {
      throw new Refused(401, 'ADDRESS', `asked was ${asking.to}, and this is ${this.url}`);
    }
    const apartMs = Math.abs(asking.at - Date.now());
    if (apartMs > bounds.proofMs) {
      throw new Refused(401, 'CLOCK', `the clocks of both nodes are ${apartMs} ms apart`);
    }
    if (!this.#proofs.use(asking.nonce, asking.at)) {
      throw new Refused(401, 'USED', 'this proof was used before, or too many were');
    }
    const { method, url } = request;
    if (url !== '/snapshot') throw new Refused(404, 'ROUTE', 'there is only /snapshot');
    if (method !== 'GET') throw new Refused(405, 'METHOD', 'a snapshot is asked for by GET');
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (length !== '0' || coding) throw new Refused(413, 'TOO_LARGE', 'expected no body');
    return asking;
  }

  async #giveTo(asking: PeerRequest, response: ServerResponse): Promise<void> {
    const folder = this.#folder;
    if (folder === null) throw new Refused(503, 'STARTING', 'this node is behind itself');
    if (this.#giving >= bounds.givenAtOnce) {
      throw new Refused(503, 'BUSY', `${this.#giving} snapshot is given now; try again later`);
    }
    this.#giving += 1;
    const gone = new AbortController();
    const leave = () => gone.abort(new Error(`node ${asking.node} has gone`));
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
    const awake = setInterval(() => response.writeProcessing(), bounds.wakeMs);
    try {
      const copied = await runInSubprocess({ do: 'copy', folder: from, to }, signal);
      return { ...copied!, file: join(to, 'data.mdb') };
    } finally {
      clearInterval(awake);
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
    this.#options.tell(`node ${node} is given a snapshot of batch ${version}, ${bytes} bytes`);
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': bytes,
      [headers.snapshot]: description,
      [headers.proof]: proveResponse(this.#options.secret, nonce, description),
    });
    const late = setTimeout(() => response.destroy(new Error('it is too slow')), longestMs(bytes));
    try {
      await pipeline(createReadStream(file), response);
    } finally {
      clearTimeout(late);
    }
  }
}

/** @throws {Refused} where a copy could fill the disk. */
function assertRoom(folder: string): void {
  const { size } = statSync(join(folder, 'data.mdb'));
  if (freeBytes(folder) - size >= limits.freeSpaceBytes) return;
  throw new Refused(507, 'DISK_FULL', 'this node has no room for a copy of its data');
}

/** What a header says; null where it is none of ours. */
function askingIn(header: string | string[] | undefined): PeerRequest | null {
  try {
    const found = JSON.parse(
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
  const { reason, message } = refused ? error : { reason: 'FAILED', message: 'see its log' };
  response.writeHead(refused ? error.status : 500, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ reason, message }));
}

/*
 * Connections of a server whose clients have not proved yet that they know its secret. There are
 * at most so many, each for a limited time. One more closes the oldest connection of the address
 * that has most of them, so that strangers cannot keep out a client that knows the secret.
 */

interface Stranger {
  socket: Socket;
  address: string;
  late: NodeJS.Timeout;
}

export class Strangers {
  readonly #limits: { most: number; ms: number };
  /** Oldest first. */
  readonly #waiting = new Map<string, Stranger>();

  constructor(server: NetServer, limits: { most: number; ms: number }) {
    this.#limits = limits;
    server.on('connection', (socket: Socket) => this.#came(socket));
  }

  /** The client of this connection has proved that it knows the secret. */
  isKnown(socket: Socket): void {
    this.#forget(nameOf(socket));
  }

  #came(socket: Socket): void {
    if (this.#waiting.size >= this.#limits.most) this.#closeOne();
    const name = nameOf(socket);
    const late = setTimeout(() => socket.destroy(), this.#limits.ms);
    this.#waiting.set(name, { socket, address: socket.remoteAddress ?? '', late });
    socket.once('close', () => this.#forget(name));
  }

  #forget(name: string): void {
    clearTimeout(this.#waiting.get(name)?.late);
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

/** The same for a connection and for the TLS connection in it. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
