/**
 * A node's own port for the other nodes: whoever proves to have their secret is given a snapshot of
 * this node's folder, one at a time. Nothing else is answered there, and to nobody else.
 */
import { createReadStream, mkdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { copiedName, freeBytes, limits } from '../../engine/internal.js';
import type { EtcdTls } from '../etcd/index.js';
import { doneApart } from './apart.js';
import { bounds, longestMs } from './bounds.js';
import { describe, PROTOCOL } from './description.js';
import { type Asking, headers, isSame, Proofs, proofOfAnswer, proofOfAsking } from './proof.js';
import { Strangers } from './strangers.js';

export interface PeerServerOptions {
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
  #checked(request: IncomingMessage): Asking {
    const asking = askingIn(request.headers[headers.asking]);
    const { secret, network } = this.#options;
    const proof = asking ? proofOfAsking(secret, asking) : '';
    if (!asking || !isSame(proof, request.headers[headers.proof])) {
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

  async #giveTo(asking: Asking, response: ServerResponse): Promise<void> {
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
      const copied = await doneApart({ do: 'copy', folder: from, to }, signal);
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
    { node, nonce }: Asking,
    response: ServerResponse,
  ): Promise<void> {
    const { file, ...rest } = copied;
    const { bytes, version } = rest;
    const description = describe({ protocol: PROTOCOL, ...rest });
    this.#options.tell(`node ${node} is given a snapshot of batch ${version}, ${bytes} bytes`);
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': bytes,
      [headers.snapshot]: description,
      [headers.proof]: proofOfAnswer(this.#options.secret, nonce, description),
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
function askingIn(header: string | string[] | undefined): Asking | null {
  try {
    const found = JSON.parse(Buffer.from(String(header), 'base64url').toString('utf8')) as Asking;
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
