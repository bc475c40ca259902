/** Sends signed requests over keep-alive connections, and reads committed state. */
import { Agent, request as httpRequest } from 'node:http';
import { carriage, type SignedRequest } from 'folkmoot';
import { BOUNDARY, formOf } from '../../support/service/signer.js';

export interface Answer {
  status: number;
  text: string;
}

/** Members of `data` that the tests use. */
export type Data = Record<string, unknown>;

/** Error message for a truncated response. */
const CUT = 'the answer was cut';

/** Client whose calls reject if the connection ends without a response. */
export class Caller {
  readonly #url: string;
  readonly #agent: Agent;

  constructor(url: string, connections = 16) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    onTestFinished(() => this.close());
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy();
  }

  async send(request: SignedRequest): Promise<Answer> {
    const { method, path, signed } = carriage[request.kind];
    const headers: Record<string, string> = { 'X-Agent-Public-Key': request.public_key };
    if (signed !== 'body') headers['X-Timestamp'] = request.timestamp;
    if (signed === 'header') headers['X-Agent-Signature'] = request.signature;
    const form = signed === 'form';
    headers['Content-Type'] = form
      ? `multipart/form-data; boundary=${BOUNDARY}`
      : 'application/json';
    return this.call(
      method,
      request.target || path,
      headers,
      form ? formBody(request) : request.body,
    );
  }

  /** Sends a request that must succeed. Returns the response data. */
  async do(request: SignedRequest): Promise<Data> {
    const { status, text } = await this.send(request);
    expect([200, 201], text).toContain(status);
    return (JSON.parse(text) as { data: Data }).data;
  }

  /** Returns the data from a read, or null if not found. */
  async find<Shape = Data>(path: string): Promise<Shape | null> {
    const { status, text } = await this.call('GET', path);
    if (status === 404) return null;
    expect(status, text).toBe(200);
    return (JSON.parse(text) as { data: Shape }).data;
  }

  async read<Shape = Data>(path: string): Promise<Shape> {
    const data = await this.find<Shape>(path);
    expect(data, path).not.toBe(null);
    return data!;
  }

  /** Reads all committed events after `after`, page by page. */
  async events(after = 0, topics = ''): Promise<ReadEvent[]> {
    const all: ReadEvent[] = [];
    const about = topics === '' ? '' : `&topics=${topics}`;
    for (let next: string | null = String(after); next !== null; ) {
      const path = `/api/v1/events?limit=1000&after=${next}${about}`;
      const page: { events: ReadEvent[]; next_cursor: string | null } = await this.read(path);
      for (const event of page.events) all.push(event);
      next = page.next_cursor;
    }
    return all;
  }

  call(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body: Uint8Array = new Uint8Array(),
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const carried =
        body.length > 0 ? { ...headers, 'Content-Length': `${body.length}` } : headers;
      const options = { method, headers: carried, agent: this.#agent };
      const sent = httpRequest(`${this.#url}${path}`, options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (more: string) => {
          text += more;
        });
        answer.on('end', () => resolve({ status: answer.statusCode!, text }));
        answer.on('error', reject);
        answer.on('close', () => reject(new Error(CUT)));
      });
      sent.on('error', (error: Error & { code?: string }) => {
        // The server may close an idle connection during a request, so retry on a new connection.
        if (!sent.reusedSocket || error.code !== 'ECONNRESET') return reject(error);
        this.call(method, path, headers, body).then(resolve, reject);
      });
      sent.end(body);
    });
  }
}

/** Accepts the error from a call to a killed server, and rethrows any other error. */
export function expectCut(error: Error & { code?: string }): void {
  const cut = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(error.code ?? '');
  if (!cut && error.message !== CUT) throw error;
}

export interface ReadEvent {
  seq: number;
  type: string;
  data: Data;
}

function formBody({ body, file, signature }: SignedRequest): Uint8Array {
  const { caption, tags } = JSON.parse(Buffer.from(body).toString());
  const named = tags.map((tag: string) => ['tags', tag]);
  return formOf([['caption', caption], ...named, ['signature', signature]], file!);
}

/** Runs `work` for each item, `width` at a time. */
export async function inParallel<Item>(
  items: Iterable<Item>,
  width: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
