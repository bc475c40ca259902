/** Options for etcd: `--cluster` orders requests across nodes, `--queue` distributes runs. */
import { Option } from 'commander';
import type { EtcdTls } from '../../cluster/etcd/wire.js';
import type { EtcdOrder } from '../../cluster/order/etcd.js';
import type { OfferOptions } from '../../sim/queue/offer.js';
import type { JobRunner } from '../../sim/run/jobs.js';
import { writeStderr } from '../output/output.js';
import { build } from '../output/provenance.js';
import { omitAbsent } from './client.js';
import { variableOf } from './config.js';

export interface ClusterFlags {
  cluster?: string;
  clusterCa?: string;
  clusterCert?: string;
  clusterKey?: string;
}

export const clusterOptions = (): Option[] =>
  [
    new Option('--cluster <url>', 'etcd endpoints, such as etcd://host:port,host:port'),
    new Option('--cluster-ca <file>', 'CA certificate of etcd (PEM)'),
    new Option('--cluster-cert <file>', 'client certificate for etcd (PEM)'),
    new Option('--cluster-key <file>', 'key of the client certificate (PEM)'),
  ].map((option) => option.env(variableOf(option)));

/** Reads the TLS files, or returns undefined if no option names a file. @throws {Failure} */
export async function readTlsFlags(flags: ClusterFlags): Promise<EtcdTls | undefined> {
  const { readTls } = await import('../../cluster/etcd/wire.js');
  const { clusterCa, clusterCert, clusterKey } = flags;
  return readTls(omitAbsent({ ca: clusterCa, cert: clusterCert, key: clusterKey }));
}

/**
 * Creates a network's request order. Connects to etcd on first use.
 * @param tell reports values in etcd that no node has written.
 * @throws {Failure}
 */
export async function openOrder(
  flags: ClusterFlags,
  networkId: string,
  tell: (line: string) => void = () => {},
): Promise<EtcdOrder> {
  const { EtcdOrder } = await import('../../cluster/order/etcd.js');
  const { parseEndpoints } = await import('../../cluster/etcd/wire.js');
  const tls = await readTlsFlags(flags);
  const endpoints = parseEndpoints(flags.cluster ?? '');
  return new EtcdOrder({ endpoints, networkId, tell, ...(tls ? { tls } : {}) });
}

export interface QueueFlags {
  queue?: string;
  queueCa?: string;
  queueCert?: string;
  queueKey?: string;
}

export const queueOptions = (presence: 'required' | 'optional' = 'optional'): Option[] => [
  new Option(
    '--queue <url>',
    'etcd endpoints of the job queue, such as etcd://host:port',
  ).makeOptionMandatory(presence === 'required'),
  new Option('--queue-ca <file>', 'CA certificate of etcd (PEM), enables TLS'),
  new Option('--queue-cert <file>', 'client certificate for etcd (PEM)'),
  new Option('--queue-key <file>', 'key of the client certificate (PEM)'),
];

/** Connects to etcd and checks that etcd responds. @throws {Failure} @throws {EtcdError} */
export async function openEtcd({ queue = '', queueCa, queueCert, queueKey }: QueueFlags) {
  const { EtcdClient } = await import('../../cluster/etcd/client.js');
  const { parseEndpoints, readTls } = await import('../../cluster/etcd/wire.js');
  const tls = readTls(omitAbsent({ ca: queueCa, cert: queueCert, key: queueKey }));
  const client = new EtcdClient({ endpoints: parseEndpoints(queue), ...(tls ? { tls } : {}) });
  try {
    await client.get('folkmoot');
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Returns undefined without `--queue`. Processes on this machine then execute the runs. */
export async function spreadOver(
  flags: QueueFlags,
  about: Pick<OfferOptions, 'title' | 'files'>,
): Promise<{ given: { spread: JobRunner }; close(): void } | undefined> {
  if (flags.queue === undefined) return undefined;
  const { runInQueue } = await import('../../sim/queue/offer.js');
  const client = await openEtcd(flags);
  const tell = (line: string) => writeStderr(`queue: ${line}`);
  const spread = runInQueue(client, { ...about, made: build(), say: tell });
  return { given: { spread }, close: () => client.close() };
}
