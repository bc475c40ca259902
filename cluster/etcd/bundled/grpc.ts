/**
 * The parts of gRPC that etcd calls use. The build bundles this file, so that the package does not
 * depend on gRPC's 28 packages and only a program that uses etcd loads gRPC.
 */

export type { ChannelCredentials, ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
export { Client, connectivityState, credentials, Metadata, status } from '@grpc/grpc-js';
export type { MethodDefinition } from '@grpc/proto-loader';
export { loadSync } from '@grpc/proto-loader';
