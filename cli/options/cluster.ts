/** `--cluster` and what goes with it: the etcd that orders what nodes are asked. */
import { type Command, Option } from 'commander';
import type { EtcdOrder, EtcdTls } from '../../cluster/index.js';
import { given } from './client.js';

export interface ClusterFlags {
  cluster?: string;
  clusterCa?: string;
  clusterCert?: string;
  clusterKey?: string;
}

const option = (flags: string, name: string, text: string) =>
  new Option(flags, text).env(`FOLKMOOT_${name}`);

export function addClusterOptions(command: Command): Command {
  return command
    .addOption(
      option('--cluster <url>', 'CLUSTER', 'etcd that orders requests: etcd://host:port,host:port'),
    )
    .addOption(option('--cluster-ca <file>', 'CLUSTER_CA', 'authority that vouches for it, PEM'))
    .addOption(option('--cluster-cert <file>', 'CLUSTER_CERT', 'certificate it wants of us, PEM'))
    .addOption(option('--cluster-key <file>', 'CLUSTER_KEY', 'the key of that certificate, PEM'));
}

/**
 * The files of TLS that are named; undefined where none is.
 * @throws {EtcdAddressError}
 */
export async function tlsOf(flags: ClusterFlags): Promise<EtcdTls | undefined> {
  const { readTls } = await import('../../cluster/index.js');
  const { clusterCa, clusterCert, clusterKey } = flags;
  return readTls(given({ ca: clusterCa, cert: clusterCert, key: clusterKey }));
}

/**
 * The order of a network in that etcd, which is asked when it is used.
 * @param tell reports values in etcd that no node has written.
 * @throws {EtcdAddressError}
 */
export async function orderOf(
  flags: ClusterFlags,
  networkId: string,
  tell: (line: string) => void = () => {},
): Promise<EtcdOrder> {
  const { EtcdOrder, endpointsOf } = await import('../../cluster/index.js');
  const tls = await tlsOf(flags);
  const endpoints = endpointsOf(flags.cluster ?? '');
  return new EtcdOrder({ endpoints, networkId, tell, ...(tls ? { tls } : {}) });
}
