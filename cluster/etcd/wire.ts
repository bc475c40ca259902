/** Messages as they come out of the protocol's file: 64 bits as text, keys and values as bytes. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { MethodDefinition } from './bundled/grpc.js';

export interface Header {
  cluster_id: string;
  member_id: string;
  revision: string;
  raft_term: string;
}

export interface WireKeyValue {
  key: Buffer;
  value: Buffer;
  create_revision: string;
  mod_revision: string;
  version: string;
  lease: string;
}

export interface RangeResponse {
  header: Header;
  kvs: WireKeyValue[];
  more: boolean;
  count: string;
}

export interface PutResponse {
  header: Header;
}

export interface DeleteRangeResponse {
  header: Header;
  deleted: string;
}

/** One of them is there. */
export interface ResponseOp {
  response_range?: RangeResponse;
  response_put?: PutResponse;
  response_delete_range?: DeleteRangeResponse;
}

export interface TxnResponse {
  header: Header;
  succeeded: boolean;
  responses: ResponseOp[];
}

export interface WatchResponse {
  header: Header;
  created: boolean;
  canceled: boolean;
  compact_revision: string;
  cancel_reason: string;
  events: { type: 'PUT' | 'DELETE'; kv: WireKeyValue }[];
}

export interface LeaseGrantResponse {
  header: Header;
  ID: string;
  TTL: string;
}

export interface AlarmResponse {
  alarms: { memberID: string; alarm: 'NONE' | 'NOSPACE' | 'CORRUPT' }[];
}

export interface StatusResponse {
  header: Header;
  version: string;
  dbSize: string;
  leader: string;
  raftIndex: string;
  raftTerm: string;
}

/** What each method answers with; streams, with what comes on them. */
export interface Answers {
  'KV/Range': RangeResponse;
  'KV/Put': PutResponse;
  'KV/DeleteRange': DeleteRangeResponse;
  'KV/Txn': TxnResponse;
  'KV/Compact': PutResponse;
  'Watch/Watch': WatchResponse;
  'Lease/LeaseGrant': LeaseGrantResponse;
  'Lease/LeaseRevoke': PutResponse;
  'Lease/LeaseKeepAlive': LeaseGrantResponse;
  'Maintenance/Alarm': AlarmResponse;
  'Maintenance/Status': StatusResponse;
}

export type MethodName = keyof Answers;
export type Methods = {
  [Name in MethodName]: MethodDefinition<object, Answers[Name]>;
};

type Grpc = typeof import('./bundled/grpc.js');
let loaded: { grpc: Grpc; methods: Methods } | undefined;

/** gRPC and the methods of the protocol: required when they are first used, which takes 60 ms. */
export function loadGrpc(): { grpc: Grpc; methods: Methods } {
  if (loaded) return loaded;
  const grpc = createRequire(import.meta.url)('./bundled/grpc.cjs') as Grpc;
  const file = fileURLToPath(new URL('../../../cluster/etcd/etcd.proto', import.meta.url));
  const read = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
  const definition = grpc.loadSync(file, read);
  const methods: Record<string, unknown> = {};
  for (const service of ['KV', 'Watch', 'Lease', 'Maintenance']) {
    const found = definition[`etcdserverpb.${service}`] as Record<string, unknown>;
    for (const [name, method] of Object.entries(found)) methods[`${service}/${name}`] = method;
  }
  loaded = { grpc, methods: methods as Methods };
  return loaded;
}
