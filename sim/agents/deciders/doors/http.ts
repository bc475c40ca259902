/** A decider at a URL: each question is one POST, what comes back is read up to a limit. */
import { type Dispatcher, Agent as HttpAgent, request } from 'undici';
import { parseJson } from '../../../../engine/internal.js';
import { LARGEST_ANSWER_BYTES, plainLine } from '../answer.js';
import type { Question } from '../question.js';
import { type Door, NoAnswer, type Said } from './door.js';

/** What is posted, and how what comes back is read. */
export interface Dialect {
  bodyOf(question: Question): unknown;
  saidIn(value: unknown): Said;
}

export interface HttpOptions {
  url: string;
  /** Sent as a bearer token. */
  key: string | undefined;
  atOnce: number;
  dialect: Dialect;
}

/** The longest that a server may ask to be left alone. */
const LONGEST_WAIT_MS = 60_000;

export function httpDoor({ url, key, atOnce, dialect }: HttpOptions): Door {
  // How long a call may take is the caller's to say.
  const dispatcher = new HttpAgent({ connections: atOnce, headersTimeout: 0, bodyTimeout: 0 });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  return {
    lanes: 1,
    atOnce,
    async ask(question, _lane, signal) {
      const body = JSON.stringify(dialect.bodyOf(question));
      let answer: Dispatcher.ResponseData;
      let bytes: Buffer;
      try {
        answer = await request(url, { method: 'POST', headers, body, dispatcher, signal });
        bytes = await bytesOf(answer);
      } catch (error) {
        if (error instanceof NoAnswer || signal.aborted) throw error;
        throw new NoAnswer('unreachable', plainLine(reasonOf(error)));
      }
      if (answer.statusCode !== 200) {
        const text = `it answered with status ${answer.statusCode}`;
        throw new NoAnswer('refused', text, { afterMs: waitMs(answer.headers['retry-after']) });
      }
      const parsed = parseJson(bytes);
      if (!('value' in parsed)) throw new NoAnswer('no_json', plainLine(parsed.message));
      return dialect.saidIn(parsed.value);
    },
    close: () => dispatcher.destroy(),
  };
}

/** What is too long is not read to its end. */
async function bytesOf({ body }: Dispatcher.ResponseData): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Leaving the loop destroys the body, and with it the connection.
    if (size > LARGEST_ANSWER_BYTES) {
      throw new NoAnswer('too_long', `it said more than ${LARGEST_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Errors of several addresses have no message of their own. */
export function reasonOf(error: unknown): string {
  const { code, message, errors } = error as Error & { code?: string; errors?: Error[] };
  return message || errors?.[0]?.message || code || 'the connection failed';
}

/** What a server says in Retry-After, in milliseconds. */
export function waitMs(header: string | string[] | undefined): number {
  const seconds = Number(header);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds) * 1_000, LONGEST_WAIT_MS) : 0;
}
