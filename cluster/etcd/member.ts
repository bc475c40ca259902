/** A member of an etcd cluster: its connection, unary calls with a timeout, and streams. */
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { hostClock } from '../../engine/store/host-clock.js';
import type { Client, ClientDuplexStream, Metadata, ServiceError } from './bundled/grpc.js';
import {
  type Answers,
  EtcdError,
  type EtcdTls,
  loadGrpc,
  type MethodName,
  toEtcdError,
} from './wire.js';

/** Size limit for a response. Larger ranges must be read in pages. */
const LARGEST_BYTES = 64 * 1_048_576;

/**
 * Keepalive intervals in milliseconds, to detect a dead connection under a stream. etcd rejects
 * pings sent more often than every 5 s.
 */
const KEEPALIVE = { everyMs: 10_000, answerMs: 3_000 } as const;

const channel = {
  'grpc.max_receive_message_length': LARGEST_BYTES,
  'grpc.max_send_message_length': LARGEST_BYTES,
  'grpc.keepalive_time_ms': KEEPALIVE.everyMs,
  'grpc.keepalive_timeout_ms': KEEPALIVE.answerMs,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // The caller decides about retries. Proxy variables in the environment are meant for web traffic.
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
} as const;

/** Timeouts of a call in milliseconds: for the connection, and then for the response. */
export interface CallLimits {
  connectMs: number;
  callMs: number;
}

/** Messages in both directions. Iteration rejects with {@link EtcdError} once the stream breaks. */
export interface MemberStream<Answer> extends AsyncIterable<Answer> {
  write(request: object): void;
  /** Sends a last request. The member's answers continue. */
  end(request: object): void;
  /** Ends the stream. Iteration then ends or rejects. */
  cancel(): void;
  /** Makes iteration reject with `error`. */
  destroy(error: EtcdError): void;
}

/** A member as its client sees it. Requests and answers are those of etcd.proto. */
export interface EtcdMember {
  readonly endpoint: string;
  /** @throws {EtcdError} */
  call<Name extends MethodName>(
    name: Name,
    request: object,
    limits: CallLimits,
  ): Promise<Answers[Name]>;
  /** @throws {EtcdError} `unavailable` if no connection exists, in which case nothing was sent. */
  stream<Name extends MethodName>(
    name: Name,
    limits: { connectMs: number; callMs?: number },
  ): Promise<MemberStream<Answers[Name]>>;
  close(): void;
}

/** A member over gRPC. */
export class Member implements EtcdMember {
  readonly endpoint: string;
  readonly #client: Client;
  readonly #ledOnly: Metadata;

  constructor(endpoint: string, tls: EtcdTls | undefined) {
    const { Client: GrpcClient, credentials, Metadata: GrpcMetadata } = loadGrpc().grpc;
    this.endpoint = endpoint;
    const address = addressIn(endpoint);
    const named = tls && address ? { 'grpc.ssl_target_name_override': UNNAMED } : {};
    const known = credentialsOf(tls, address, credentials);
    this.#client = new GrpcClient(endpoint, known, { ...channel, ...named });
    // Makes a member without a leader fail immediately rather than wait for a leader.
    this.#ledOnly = new GrpcMetadata();
    this.#ledOnly.set('hasleader', 'true');
  }

  async call<Name extends MethodName>(
    name: Name,
    request: object,
    limits: CallLimits,
  ): Promise<Answers[Name]> {
    await this.#connect(limits.connectMs);
    const { path, requestSerialize, responseDeserialize } = loadGrpc().methods[name];
    const options = { deadline: hostClock.now() + limits.callMs };
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadataOf(name, request),
        options,
        (error, answer) => {
          if (error) reject(toEtcdError(error, this.endpoint));
          else resolve(answer!);
        },
      );
    });
  }

  async stream<Name extends MethodName>(
    name: Name,
    limits: { connectMs: number; callMs?: number },
  ): Promise<MemberStream<Answers[Name]>> {
    await this.#connect(limits.connectMs);
    const { path, requestSerialize, responseDeserialize } = loadGrpc().methods[name];
    const options =
      limits.callMs === undefined ? {} : { deadline: hostClock.now() + limits.callMs };
    const metadata = this.#metadataOf(name, {});
    const stream = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
      options,
    );
    return {
      write: (request) => void stream.write(request),
      end: (request) => void stream.end(request),
      cancel: () => stream.cancel(),
      destroy: (error) => void stream.destroy(error),
      [Symbol.asyncIterator]: () => answersIn(stream, this.endpoint),
    };
  }

  close(): void {
    this.#client.close();
  }

  /** Reads of a member's own state work even without a leader. */
  #metadataOf(name: MethodName, request: { serializable?: boolean }): Metadata {
    const { Metadata: GrpcMetadata } = loadGrpc().grpc;
    const ownOnly = name.startsWith('Maintenance/') || request.serializable === true;
    return ownOnly ? new GrpcMetadata() : this.#ledOnly.clone();
  }

  /**
   * Resolves once connected, or once a call would fail immediately with the reason.
   * @throws {EtcdError} `unavailable` after a timeout, in which case nothing was sent.
   */
  async #connect(connectMs: number): Promise<void> {
    const { connectivityState: states } = loadGrpc().grpc;
    const deadline = hostClock.now() + connectMs;
    const connection = this.#client.getChannel();
    for (;;) {
      const state = connection.getConnectivityState(true);
      if (state === states.READY || state === states.TRANSIENT_FAILURE) return;
      if (state === states.SHUTDOWN) throw new EtcdError('CLIENT_CLOSED', {});
      const failure = await new Promise<Error | undefined>((resolve) => {
        connection.watchConnectivityState(state, deadline, resolve);
      });
      if (!failure) continue;
      const values = { endpoint: this.endpoint, connectMs };
      throw new EtcdError('CONNECT_TIMEOUT', values, { member: 'silent' });
    }
  }
}

async function* answersIn<Answer>(
  stream: ClientDuplexStream<object, Answer>,
  endpoint: string,
): AsyncGenerator<Answer, void, undefined> {
  try {
    yield* stream;
  } catch (error) {
    throw error instanceof EtcdError ? error : toEtcdError(error as ServiceError, endpoint);
  }
}

/** Returns the IP address in `host:port`, or null for a host name. */
function addressIn(endpoint: string): string | null {
  const host = endpoint.slice(0, endpoint.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  return isIP(host) ? host : null;
}

/**
 * TLS server names cannot be IP addresses, and Node.js warns about such names. For an IP address,
 * the client sends this name and checks the certificate against the address.
 */
const UNNAMED = 'etcd';

function credentialsOf(
  tls: EtcdTls | undefined,
  address: string | null,
  credentials: typeof import('./bundled/grpc.js').credentials,
) {
  if (!tls) return credentials.createInsecure();
  const { ca = null, key = null, cert = null } = tls;
  if (address === null) return credentials.createSsl(ca, key, cert);
  return credentials.createSsl(ca, key, cert, {
    checkServerIdentity: (_, certificate) => checkServerIdentity(address, certificate),
  });
}

/** A member's status, or the problem with the member. */
export type MemberStatus = { endpoint: string } & (
  | { problem: string }
  | {
      problem: null;
      version: string;
      memberId: string;
      /** Member id of the known leader; `0` without a leader. */
      leader: string;
      databaseBytes: number;
    }
);

/** Fetches a member's status. Rejects only on a bug. */
export async function fetchStatus(member: EtcdMember, limits: CallLimits): Promise<MemberStatus> {
  const { endpoint } = member;
  try {
    const found = await member.call('Maintenance/Status', {}, limits);
    const { header, version, leader, dbSize } = found;
    const size = { databaseBytes: Number(dbSize) };
    return { endpoint, problem: null, version, memberId: header.member_id, leader, ...size };
  } catch (error) {
    if (error instanceof EtcdError) return { endpoint, problem: error.message };
    throw error;
  }
}
