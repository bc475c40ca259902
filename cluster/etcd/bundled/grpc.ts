/**
 * gRPC, through one door: the build bundles this file, so that who installs the package needs none
 * of the 28 packages that it comes with, and nobody pays for it who asks no etcd.
 */

export type { ChannelCredentials, ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
export { Client, connectivityState, credentials, Metadata, status } from '@grpc/grpc-js';
export type { MethodDefinition } from '@grpc/proto-loader';
export { loadSync } from '@grpc/proto-loader';
