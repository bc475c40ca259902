/**
 * Gives snapshots to peers. A peer that proves knowledge of the secret receives a copy of the data.
 * One snapshot is sent at a time. The network and the disk are ports, so that the same code runs in
 * a simulated cluster.
 */
import type { IncomingMessage } from 'node:http';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import type { HostClock } from '../../engine/store/host-clock.js';
import {
  bounds,
  formatDescription,
  headers,
  isEqualProof,
  type PeerRequest,
  PROTOCOL,
  Proofs,
  proveRequest,
  proveResponse,
} from './proof.js';
import type { CopiedFiles } from './subprocess.js';

interface GiverOptions {
  host: HostClock;
  secret: string;
  network: string;
  /** Returns the address of this node, which a request must name. */
  url(): string;
  tell(line: string): void;
}

/** Data of a node, and a place for one copy. */
interface SnapshotSource {
  /** True if the disk has space for a copy. */
  hasRoom(): boolean;
  /** Copies the data, which a writer may have open. */
  copy(signal: AbortSignal): Promise<CopiedFiles>;
  /** Reads the copy. */
  read(): AsyncIterable<Uint8Array>;
  /** Deletes the copy. */
  clear(): void;
}

type GivenRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export interface GivenResponse {
  /** Aborts once the peer has disconnected. */
  gone: AbortSignal;
  /** Called once the peer has proved that it knows the secret. */
  accepted(): void;
  /** Sends the response. Resolves once it is sent. */
  send(
    status: number,
    headers: Readonly<Record<string, string | number>>,
    body: AsyncIterable<Uint8Array> | Iterable<string>,
  ): Promise<void>;
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

export class SnapshotGiver {
  /** Null until this node has data to give. */
  source: SnapshotSource | null = null;
  readonly #options: GiverOptions;
  readonly #proofs: Proofs;
  #giving = 0;

  constructor(options: GiverOptions) {
    this.#options = options;
    this.#proofs = new Proofs(options.host);
  }

  /** Sends a snapshot or a refusal. Rejects if neither can be sent. */
  async answer(request: GivenRequest, response: GivenResponse): Promise<void> {
    try {
      const asking = this.#checked(request);
      response.accepted();
      await this.#give(asking, response);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { status, reason, message } = error;
      const type = { 'Content-Type': 'application/json' };
      await response.send(status, type, [JSON.stringify({ reason, message })]);
    }
  }

  /** Authenticates first, so that a client without the secret learns nothing. @throws {Refused} */
  #checked(request: GivenRequest): PeerRequest {
    const asking = askingIn(request.headers[headers.asking]);
    const { host, secret, network, url: own } = this.#options;
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
    if (asking.to !== own()) {
      throw new Refused(401, 'ADDRESS', `other address: ${asking.to} (expected ${own()})`);
    }
    const apartMs = Math.abs(asking.at - host.now());
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

  async #give(asking: PeerRequest, response: GivenResponse): Promise<void> {
    const { source } = this;
    if (source === null) throw new Refused(503, 'STARTING', 'this node is catching up');
    if (this.#giving >= bounds.givenAtOnce) {
      throw new Refused(503, 'BUSY', 'another snapshot is being sent; retry later');
    }
    this.#giving += 1;
    try {
      if (!source.hasRoom()) {
        throw new Refused(507, 'DISK_FULL', 'not enough disk space for a copy of the data');
      }
      await this.#send(await source.copy(response.gone), source, asking, response);
    } finally {
      source.clear();
      this.#giving -= 1;
    }
  }

  async #send(
    copied: CopiedFiles,
    source: SnapshotSource,
    { node, nonce }: PeerRequest,
    response: GivenResponse,
  ): Promise<void> {
    const { bytes, version } = copied;
    const { secret, tell } = this.#options;
    const description = formatDescription({ protocol: PROTOCOL, ...copied });
    tell(`sending a snapshot to node ${node}: batch ${version}, ${bytes} bytes`);
    const head = {
      'Content-Type': 'application/octet-stream',
      'Content-Length': bytes,
      [headers.snapshot]: description,
      [headers.proof]: proveResponse(secret, nonce, description),
    };
    await response.send(200, head, source.read());
  }
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
