/**
 * One member of an etcd cluster: its connection, calls with a time limit, streams, and the gRPC
 * status codes that its answers carry.
 */
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { Client, ClientDuplexStream, Metadata } from './bundled/grpc.js';
import {
  type Answers,
  EtcdError,
  type EtcdTls,
  loadGrpc,
  type MethodName,
  toEtcdError,
} from './wire.js';

/** What a member may answer at once: a range that is larger is asked for in parts. */
const LARGEST_BYTES = 64 * 1_048_576;

/**
 * A dead connection under a stream is found by these at the latest, in milliseconds. More often
 * than every 5 s etcd does not let itself be asked.
 */
const KEEPALIVE = { everyMs: 10_000, answerMs: 3_000 } as const;

const channel = {
  'grpc.max_receive_message_length': LARGEST_BYTES,
  'grpc.max_send_message_length': LARGEST_BYTES,
  'grpc.keepalive_time_ms': KEEPALIVE.everyMs,
  'grpc.keepalive_timeout_ms': KEEPALIVE.answerMs,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // Whoever asks knows what may be asked twice; and a proxy of the environment is for the web.
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
} as const;

export class Member {
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
    // A member without a leader says so at once, in place of waiting for one.
    this.#ledOnly = new GrpcMetadata();
    this.#ledOnly.set('hasleader', 'true');
  }

  /** @param limits in milliseconds: for a connection, and for the answer with it. */
  async call<Name extends MethodName>(
    name: Name,
    request: object,
    limits: { connectMs: number; callMs: number },
  ): Promise<Answers[Name]> {
    await this.#connect(limits.connectMs);
    const { path, requestSerialize, responseDeserialize } = loadGrpc().methods[name];
    const options = { deadline: Date.now() + limits.callMs };
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

  /** What goes wrong on it is given by its event `error`, as gRPC says it. */
  async stream<Name extends MethodName>(
    name: Name,
    limits: { connectMs: number; callMs?: number },
  ): Promise<ClientDuplexStream<object, Answers[Name]>> {
    await this.#connect(limits.connectMs);
    const { path, requestSerialize, responseDeserialize } = loadGrpc().methods[name];
    const options = limits.callMs === undefined ? {} : { deadline: Date.now() + limits.callMs };
    const metadata = this.#metadataOf(name, {});
    return this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
      options,
    );
  }

  close(): void {
    this.#client.close();
  }

  /** How a member is, and what it has itself, is seen of one without a leader, too. */
  #metadataOf(name: MethodName, request: { serializable?: boolean }): Metadata {
    const { Metadata: GrpcMetadata } = loadGrpc().grpc;
    const ownOnly = name.startsWith('Maintenance/') || request.serializable === true;
    return ownOnly ? new GrpcMetadata() : this.#ledOnly.clone();
  }

  /**
   * Resolves when there is a connection, or when a call would say at once why there is none.
   * @throws {EtcdError} `unavailable` when neither comes in time: nothing was sent.
   */
  async #connect(connectMs: number): Promise<void> {
    const { connectivityState: states } = loadGrpc().grpc;
    const deadline = Date.now() + connectMs;
    const connection = this.#client.getChannel();
    for (;;) {
      const state = connection.getConnectivityState(true);
      if (state === states.READY || state === states.TRANSIENT_FAILURE) return;
      if (state === states.SHUTDOWN) throw new EtcdError('unavailable', 'this client is closed');
      const failure = await new Promise<Error | undefined>((resolve) => {
        connection.watchConnectivityState(state, deadline, resolve);
      });
      if (!failure) continue;
      const within = `no connection within ${connectMs} ms`;
      const message = `etcd at ${this.endpoint}: ${within}`;
      throw new EtcdError('unavailable', message, { member: 'silent' });
    }
  }
}

/** Of `host:port`; null where the host is a name. */
function addressIn(endpoint: string): string | null {
  const host = endpoint.slice(0, endpoint.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  return isIP(host) ? host : null;
}

/**
 * TLS asks for a server by its name, of which an address is none, and Node warns of that: so such a
 * server is asked for by this one, and its certificate held against the address.
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

/** What one member says of itself; of one that does not answer, why. */
export type MemberStatus = { endpoint: string } & (
  | { problem: string }
  | {
      problem: null;
      version: string;
      clusterId: string;
      memberId: string;
      /** The `memberId` of the leader that it knows; `0` without one. */
      leader: string;
      revision: number;
      raftTerm: number;
      databaseBytes: number;
    }
);

/** Throws for a bug only. */
export async function fetchStatus(
  member: Member,
  limits: { connectMs: number; callMs: number },
): Promise<MemberStatus> {
  const { endpoint } = member;
  try {
    const found = await member.call('Maintenance/Status', {}, limits);
    const { header, version, leader, dbSize, raftTerm } = found;
    return {
      endpoint,
      problem: null,
      version,
      clusterId: header.cluster_id,
      memberId: header.member_id,
      leader,
      revision: Number(header.revision),
      raftTerm: Number(raftTerm),
      databaseBytes: Number(dbSize),
    };
  } catch (error) {
    if (error instanceof EtcdError) return { endpoint, problem: error.message };
    throw error;
  }
}
