/**
 * The parts of gRPC in use. The build bundles this file, so the package does not depend on the 28
 * packages of gRPC, and only a program that uses etcd loads it.
 */

export type { ChannelCredentials, ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
export { Client, connectivityState, credentials, Metadata, status } from '@grpc/grpc-js';
export type { MethodDefinition } from '@grpc/proto-loader';
export { loadSync } from '@grpc/proto-loader';
