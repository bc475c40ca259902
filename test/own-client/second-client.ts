/** A second client, from docs/protocol.md alone: it must never import anything of the project. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { request } from 'node:http';
import { type Message, openWebSocket, type RawWebSocket } from './raw-websocket.js';

export type Fields = Record<string, unknown>;

export interface Answer {
  status: number;
  headers: Fields;
  /** `data` of a success, `error` of a refusal. */
  data: Fields;
  error: { code: string; message: string; details: Fields };
}

export const sha256 = (data: string | Uint8Array) =>
  createHash('sha256').update(data).digest('hex');

/** Canonical JSON, for names of ASCII letters and numbers that are integers. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(',')}}`;
}

/** One request, whatever it is. */
export function call(
  url: string,
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body: string | Uint8Array = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(`${url}${target}`, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const envelope = JSON.parse(Buffer.concat(chunks).toString()) as Pick<Answer, 'data'>;
        resolve({ status: response.statusCode!, headers: response.headers, ...envelope } as Answer);
      });
    });
    asking.once('error', reject);
    asking.end(body);
  });
}

export class SecondClient {
  readonly publicKey: string;
  readonly agentId: string;
  readonly #url: string;
  readonly #privateKey: KeyObject;
  #socket: RawWebSocket | null = null;
  #inbox: Message[] = [];
  #wake: () => void = () => {};
  #code: number | null = null;
  /** The history and the last event seen in it: where a later connection goes on. */
  position = { epoch: '', seq: 0 };

  constructor(url: string) {
    this.#url = url;
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    this.#privateKey = privateKey;
    this.publicKey = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString(
      'hex',
    );
    this.agentId = `agent_${sha256(`agentnet-v1-agent\n${this.publicKey}`).slice(0, 32)}`;
  }

  read = (target: string) => call(this.#url, 'GET', target);

  #sign = (text: string) => sign(null, Buffer.from(text), this.#privateKey).toString('hex');

  /** Signed by header: method, target, time and the hash of the body. */
  signed(method: string, target: string, fields?: Fields): Promise<Answer> {
    const body = fields ? JSON.stringify(fields) : '';
    const timestamp = new Date().toISOString();
    const text = `agentnet-v1-http\n${method}\n${target}\n${timestamp}\n${sha256(body)}`;
    const headers = {
      'Content-Type': 'application/json',
      'X-Agent-Public-Key': this.publicKey,
      'X-Timestamp': timestamp,
      'X-Agent-Signature': this.#sign(text),
    };
    return call(this.#url, method, target, headers, body);
  }

  /** Signed inside: the canonical body without its signature. */
  #inside(target: string, kind: string, given: Fields): Promise<Answer> {
    const fields = { ...given, timestamp: new Date().toISOString() };
    const signature = this.#sign(`agentnet-v1-${kind}\n${canonical(fields)}`);
    const headers = { 'Content-Type': 'application/json', 'X-Agent-Public-Key': this.publicKey };
    return call(this.#url, 'POST', target, headers, JSON.stringify({ ...fields, signature }));
  }

  register(name: string, capabilities: string[]): Promise<Answer> {
    const fields = { public_key: this.publicKey, personality: 'rational', name, capabilities };
    return this.signed('POST', '/api/v1/agents/register', fields);
  }

  setStatus = (status: string) =>
    this.signed('PUT', `/api/v1/agents/${this.agentId}/status`, { status });

  vote = (block_hash: unknown, decision: string, more: Fields = {}) =>
    this.#inside('/api/v1/consensus/vote', 'vote', { block_hash, decision, ...more });

  propose = (fields: Fields) => this.#inside('/api/v1/blocks/propose', 'block', fields);

  /** A transaction that any producer may put into a block of this network. */
  transaction(networkId: unknown, data: string): Fields {
    const hash = sha256(data);
    const signature = this.#sign(`agentnet-v1-tx\n${networkId}\n${hash}`);
    return { hash, data, sender: this.publicKey, signature };
  }

  /** A text as a meme, in a form with a single-line caption. */
  postMeme(caption: string, tags: string[], file: string): Promise<Answer> {
    const timestamp = new Date().toISOString();
    const meme = { caption, content_sha256: sha256(file), tags, timestamp };
    const signature = this.#sign(`agentnet-v1-meme\n${canonical(meme)}`);
    const named = [['caption', caption], ...tags.map((tag) => ['tags', tag])];
    const parts = [...named, ['signature', signature], ['meme_file"; filename="meme', file]].map(
      ([name, value]) =>
        `--cut\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const headers = {
      'Content-Type': 'multipart/form-data; boundary=cut',
      'X-Agent-Public-Key': this.publicKey,
      'X-Timestamp': timestamp,
    };
    const body = `${parts.join('')}--cut--\r\n`;
    return call(this.#url, 'POST', '/api/v1/social/memes', headers, body);
  }

  /** The hash that a proposal will have. */
  static blockHash(proposal: Fields, producer: string, network_id: unknown): string {
    const { signature: _, ...fields } = proposal;
    return sha256(`agentnet-v1-blockhash\n${canonical({ ...fields, producer, network_id })}`);
  }

  /** Connects, authenticates and subscribes, without waiting between; gives the last answer. */
  async follow(wsUrl: string, topics: string[], since?: Fields): Promise<Fields> {
    this.#code = null;
    this.#socket = await openWebSocket(wsUrl, {
      onMessage: (message) => {
        this.#inbox.push(message);
        this.#wake();
      },
      onClose: (code) => {
        this.#code = code;
        this.#wake();
      },
    });
    const timestamp = new Date().toISOString();
    const signature = this.#sign(`auth:${this.publicKey}:${timestamp}`);
    this.#socket.send({ type: 'auth', public_key: this.publicKey, timestamp, signature });
    this.#socket.send({ type: 'subscribe', topics, ...(since ? { since } : {}) });
    const { epoch } = await this.next('auth_ok');
    this.position = { ...this.position, epoch: String(epoch) };
    return this.next('subscribed');
  }

  /** The data of the next message of a type; an error throws. */
  async next(type: string): Promise<Fields> {
    for (;;) {
      const message = this.#inbox.shift();
      if (!message) await this.#something();
      else if (typeof message.seq === 'number') this.position.seq = message.seq;
      if (message?.type === 'error') throw new Error(JSON.stringify(message));
      if (message?.type === type) return message.data as Fields;
    }
  }

  /** Hangs up; gives the close code. */
  async leave(): Promise<number | null> {
    this.#socket?.close();
    while (this.#code === null) await this.#something();
    this.#inbox = [];
    return this.#code;
  }

  #something(): Promise<void> {
    if (this.#code !== null) throw new Error(`the connection was closed with ${this.#code}`);
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
