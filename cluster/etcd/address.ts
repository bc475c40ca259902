/** Where an etcd is: `etcd://host:port,host:port`, and the files by which it and we are known. */
import { fileBounds, readBounded } from '../../engine/internal.js';

const DEFAULT_PORT = 2379;
/** More members no etcd should have. */
const MOST_ENDPOINTS = 16;

/** An address or a file of TLS that cannot be used: a user can mend it. */
export class EtcdAddressError extends Error {
  override name = 'EtcdAddressError';
}

/** PEM, as bytes: who may vouch for etcd, and who we are where etcd asks for that. */
export interface EtcdTls {
  /** Left out, the authorities that Node knows. */
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

/**
 * The members that an address names, each as `host:port`.
 *
 * @throws {EtcdAddressError}
 */
export function endpointsOf(address: string): string[] {
  const expected = `expected etcd://host:port, with commas between several`;
  const [, list] = /^etcd:\/\/([^/?#@\s]+)\/?$/.exec(address) ?? [];
  if (list === undefined) {
    throw new EtcdAddressError(
      `${JSON.stringify(address)} is not the address of an etcd: ${expected}`,
    );
  }
  const endpoints = list.split(',').map((part) => {
    const [, host, port = String(DEFAULT_PORT)] =
      /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(part) ?? [];
    if (host !== undefined && 1 <= Number(port) && Number(port) <= 65_535) return `${host}:${port}`;
    throw new EtcdAddressError(
      `${JSON.stringify(part)} in ${address} is no host:port; ${expected}`,
    );
  });
  const different = [...new Set(endpoints)];
  if (different.length <= MOST_ENDPOINTS) return different;
  throw new EtcdAddressError(
    `${address} names ${different.length} members; expected at most ${MOST_ENDPOINTS}`,
  );
}

/**
 * Reads the files of TLS; undefined when none is named, which is a connection without it.
 *
 * @throws {EtcdAddressError}
 */
export function readTls(files: { ca?: string; cert?: string; key?: string }): EtcdTls | undefined {
  const named = Object.entries(files).filter(([, path]) => path !== undefined);
  if (named.length === 0) return undefined;
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw new EtcdAddressError('a certificate needs its key, and a key its certificate: give both');
  }
  return Object.fromEntries(named.map(([what, path]) => [what, pemIn(path)]));
}

function pemIn(path: string): Buffer {
  let text: Buffer;
  try {
    text = readBounded(path, fileBounds.text);
  } catch (error) {
    throw new EtcdAddressError(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (text.includes('-----BEGIN ')) return text;
  throw new EtcdAddressError(`${path} is not PEM; expected a text with -----BEGIN in it`);
}
