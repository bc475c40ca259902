/** Transport selection, and server URLs. */
import { nodeTransport } from './node-transport.js';
import type { Transport } from './transport.js';
import { uwsTransport } from './uws-transport.js';

export interface ChosenTransport {
  transport: Transport;
  /** Reason for using node:http, if the caller did not choose a transport. */
  fallback?: string;
}

/** @throws {Error} if the requested transport is unavailable. */
export async function chooseTransport(
  wanted: 'uws' | 'node' | undefined,
): Promise<ChosenTransport> {
  if (wanted === 'node') return { transport: nodeTransport };
  const uws = await uwsTransport();
  if (!('missing' in uws)) return { transport: uws };
  if (wanted === 'uws') throw new Error(uws.missing);
  return { transport: nodeTransport, fallback: uws.missing };
}

/** Formats a URL such as `http://127.0.0.1:8080`. */
export const formatUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
