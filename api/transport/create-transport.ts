/** Which transport serves, and the address that it then has. */
import { nodeTransport } from './node-transport.js';
import type { Transport } from './transport.js';
import { uwsTransport } from './uws-transport.js';

export interface ChosenTransport {
  transport: Transport;
  /** Why the faster one does not serve, where nobody chose. */
  fallback?: string;
}

/** @throws {Error} when the one that was asked for is missing. */
export async function chooseTransport(
  wanted: 'uws' | 'node' | undefined,
): Promise<ChosenTransport> {
  if (wanted === 'node') return { transport: nodeTransport };
  const uws = await uwsTransport();
  if (!('missing' in uws)) return { transport: uws };
  if (wanted === 'uws') throw new Error(uws.missing);
  return { transport: nodeTransport, fallback: uws.missing };
}

/** As in `http://127.0.0.1:8080`. */
export const formatUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
