/**
 * Requests outside a run's measurement, one promise each: looking at the server, registering agents
 * and taking them out again. What is measured goes through the run's sender.
 */
import { Pool } from 'undici';
import { LoadError } from '../error.js';
import { isRecord, parsed } from '../json.js';

export interface Request {
  method: 'GET' | 'POST' | 'PUT';
  /** From /api/v1/ on. */
  target: string;
  headers?: Record<string, string>;
  body?: string | null;
}

/** What came back; `data` is undefined unless the answer is one of success. */
export interface Answer {
  status: number;
  data: unknown;
  /** The server's Date header, or null. */
  date: string | null;
  /** One line for people: the status, and what the server says about it. */
  text: string;
}

/** No answer within this time is no answer. */
const ANSWER_MS = 15_000;
/** A list of 10,000 agents is 2 MiB; what is far above is nobody's answer. */
const ANSWER_BYTES = 16 * 1024 * 1024;

export class Asker {
  readonly url: string;
  readonly #pool: Pool;
  readonly #prefix: string;

  constructor(url: string, connections: number) {
    const { origin, pathname } = new URL(url);
    this.url = url;
    this.#prefix = pathname === '/' ? '' : pathname;
    this.#pool = new Pool(origin, {
      connections,
      pipelining: 1,
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      maxResponseSize: ANSWER_BYTES,
    });
  }

  /** @throws {LoadError} when nobody answers. */
  async ask({ method, target, headers = {}, body = null }: Request, signal?: AbortSignal) {
    try {
      const path = `${this.#prefix}${target}`;
      const options = { method, path, headers, body, ...(signal ? { signal } : {}) };
      const answer = await this.#pool.request(options);
      return read(answer.statusCode, await answer.body.text(), answer.headers.date);
    } catch (cause) {
      const { message, code } = cause as Error & { code?: string };
      const why = message || (code ?? String(cause));
      throw new LoadError(`${this.url} does not answer ${method} ${target}: ${why}`, { cause });
    }
  }

  /** The data of a read that has to work. @throws {LoadError} that says what came instead. */
  async read(target: string): Promise<Answer & { data: Record<string, unknown> }> {
    const answer = await this.ask({ method: 'GET', target });
    if (isRecord(answer.data)) return { ...answer, data: answer.data };
    const came = `${this.url} answered GET ${target} with ${answer.text}`;
    throw new LoadError(`${came}; expected 200 and {success: true, data: {...}}`);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

function read(status: number, text: string, date: unknown): Answer {
  const envelope = parsed(text);
  const good = status >= 200 && status < 300 && envelope.success === true;
  return {
    status,
    data: good ? envelope.data : undefined,
    date: typeof date === 'string' ? date : null,
    text: good ? String(status) : refusal(status, envelope.error),
  };
}

function refusal(status: number, error: unknown): string {
  if (!isRecord(error)) return `${status}, and no error that could be read`;
  return `${status} ${error.code}: ${error.message}`;
}
