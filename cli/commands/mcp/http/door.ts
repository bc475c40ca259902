/**
 * Who may come in over HTTP: no web page, under no name of its own (DNS rebinding), and nobody
 * without the token. It decides by a request's head alone.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ServedNames } from '../../../../api/http/request/served-names.js';

/** Where the protocol is spoken. */
export const PATH = '/mcp';
const methods = ['GET', 'POST', 'DELETE'];

/** Why a request is turned away. */
export interface TurnedAway {
  status: number;
  message: string;
  headers?: Record<string, string>;
}

export class Door {
  readonly #token: Buffer;
  readonly #names: ServedNames;

  /** @throws where a name is none. */
  constructor({ token, names }: { token: string; names: readonly string[] }) {
    this.#token = hashed(token);
    this.#names = new ServedNames(names);
  }

  /** Null for who may come in. */
  turnsAway({ headers, method = '', url = '' }: IncomingMessage): TurnedAway | null {
    const { host, origin, authorization } = headers;
    if (!this.#names.has(host)) {
      return { status: 421, message: 'the Host header names another server; --hosts adds names' };
    }
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
      return { status: 403, message: 'web pages of other origins are not let in' };
    }
    if (url.split('?')[0] !== PATH) return { status: 404, message: `expected ${PATH}` };
    if (!this.#has(authorization)) {
      const message = 'expected the token that was printed at the start, as Authorization: Bearer';
      return { status: 401, message, headers: { 'WWW-Authenticate': 'Bearer' } };
    }
    if (methods.includes(method)) return null;
    const Allow = methods.join(', ');
    return { status: 405, message: `expected ${Allow}`, headers: { Allow } };
  }

  /** Compared as hashes, in a time that does not depend on where they differ. */
  #has(authorization = ''): boolean {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return token !== undefined && timingSafeEqual(hashed(token), this.#token);
  }
}

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest();
