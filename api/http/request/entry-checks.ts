/** What a request is refused for by the way it comes, whatever it asks: name, origin, head. */
import { type Refusal, refuse } from '../../../engine/internal.js';
import type { RequestHead } from '../../transport/transport.js';
import { Origins } from './origins.js';
import { ServedNames } from './served-names.js';

export class EntryChecks {
  readonly origins: Origins;
  readonly #names: ServedNames;

  /** @throws where a name or an origin is none. */
  constructor(hosts: readonly string[], cors: readonly string[]) {
    this.#names = new ServedNames(hosts);
    this.origins = new Origins(cors);
  }

  /** For its head, for the name it takes the server by, or for the page it comes from. */
  refuse(head: RequestHead): Refusal | null {
    const { fault, method, headers } = head;
    if (fault) return fault;
    const host = headers.get('host');
    if (!this.#names.has(host)) {
      const how = 'to serve under a name, give it to serve --hosts';
      return refuse('WRONG_HOST', `the Host header says ${shown(host)}; ${how}`);
    }
    return READS.has(method) ? null : this.#refuseOrigin(headers);
  }

  /** What the opening of a WebSocket is refused for. */
  refuseSocket(head: RequestHead): Refusal | null {
    const refused = this.refuse(head) ?? this.#refuseOrigin(head.headers);
    if (refused) return refused;
    const version = head.headers.get('sec-websocket-version');
    if (version === '13') return null;
    return refuse('SOCKET_VERSION', `Sec-WebSocket-Version is ${shown(version)}; expected 13`);
  }

  /** A page of another server must not speak for its reader. */
  #refuseOrigin(headers: RequestHead['headers']): Refusal | null {
    if (!this.origins.foreign(headers)) return null;
    const how = 'to let it in, give it to serve --cors';
    return refuse('WRONG_ORIGIN', `the page comes from ${shown(headers.get('origin'))}; ${how}`);
  }
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

const shown = (text: string | undefined) =>
  text === undefined ? 'nothing' : JSON.stringify(text.slice(0, 128));
