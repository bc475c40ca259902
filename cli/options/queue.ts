/** `--queue` and what goes with it: where the etcd is by which runs go to workers. */
import { Option } from 'commander';
import type { OfferOptions } from '../../sim/queue/index.js';
import type { Spread } from '../../sim/run/jobs/index.js';
import { say } from '../output/output.js';
import { build } from '../output/version.js';
import { given } from './client.js';

export interface QueueFlags {
  queue?: string;
  queueCa?: string;
  queueCert?: string;
  queueKey?: string;
}

export const queueOptions = (): Option[] => [
  new Option(
    '--queue <url>',
    'workers do the runs, by way of this etcd: etcd://host:port,host:port',
  ),
  new Option('--queue-ca <file>', 'authority that vouches for etcd, PEM: a connection with TLS'),
  new Option('--queue-cert <file>', 'certificate that etcd wants of us, PEM'),
  new Option('--queue-key <file>', 'its key, PEM'),
];

/**
 * A client of the etcd, which has answered once.
 * @throws {EtcdAddressError} @throws {EtcdError}
 */
export async function etcdOf({ queue = '', queueCa, queueCert, queueKey }: QueueFlags) {
  const { EtcdClient, endpointsOf, readTls } = await import('../../cluster/etcd/index.js');
  const tls = readTls(given({ ca: queueCa, cert: queueCert, key: queueKey }));
  const client = new EtcdClient({ endpoints: endpointsOf(queue), ...(tls ? { tls } : {}) });
  try {
    await client.get('folkmoot');
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Undefined without `--queue`: then processes of this machine do the runs. */
export async function spreadOver(
  flags: QueueFlags,
  about: Pick<OfferOptions, 'title' | 'files'>,
): Promise<{ given: { spread: Spread }; close(): void } | undefined> {
  if (flags.queue === undefined) return undefined;
  const { offeredIn } = await import('../../sim/queue/index.js');
  const client = await etcdOf(flags);
  const tell = (line: string) => say(`queue: ${line}`);
  const spread = offeredIn(client, { ...about, made: build(), say: tell });
  return { given: { spread }, close: () => client.close() };
}
