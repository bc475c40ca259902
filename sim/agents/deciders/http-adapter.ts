/**
 * A decider at a URL: each question is one POST, and the response is read up to a limit. There are
 * two dialects: the question as it is, and chat completions, as OpenAI and many model servers have
 * them.
 */
import { type Dispatcher, Agent as HttpAgent, request } from 'undici';
import { parseJson } from '../../../engine/protocol/json.js';
import { type DeciderAdapter, type DeciderResponse, NoAnswer, toPayload } from './adapter.js';
import { LARGEST_ANSWER_BYTES, parseUsage, plainLine, type Question } from './question.js';

/** What is posted, and how what comes back is read. */
interface Dialect {
  bodyOf(question: Question): unknown;
  saidIn(value: unknown): DeciderResponse;
}

interface HttpOptions {
  url: string;
  /** Sent as a bearer token. */
  key: string | undefined;
  atOnce: number;
  dialect: Dialect;
}

/** The longest that a server may ask to be left alone. */
const LONGEST_WAIT_MS = 60_000;

export function createHttpAdapter({ url, key, atOnce, dialect }: HttpOptions): DeciderAdapter {
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
        throw new NoAnswer('unreachable', plainLine(getErrorText(error)));
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
export function getErrorText(error: unknown): string {
  const { code, message, errors } = error as Error & { code?: string; errors?: Error[] };
  return message || errors?.[0]?.message || code || 'the connection failed';
}

/** What a server says in Retry-After, in milliseconds. */
export function waitMs(header: string | string[] | undefined): number {
  const seconds = Number(header);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds) * 1_000, LONGEST_WAIT_MS) : 0;
}

interface ChatOptions {
  model: string;
  /** Texts by `system` and by the kind of question. */
  prompts: ReadonlyMap<string, string>;
  /** Further members of the request. */
  request: Readonly<Record<string, unknown>>;
}

interface Completion {
  choices?: { message?: { content?: unknown } }[];
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
}

export const chatDialect = ({ model, prompts, request }: ChatOptions): Dialect => ({
  bodyOf(question) {
    const system = prompts.get('system');
    const content = filled(prompts.get(question.kind) ?? '{{question}}', question);
    return {
      ...request,
      model,
      messages: [
        ...(system === undefined ? [] : [{ role: 'system', content: filled(system, question) }]),
        { role: 'user', content },
      ],
    };
  },
  saidIn(value) {
    const { choices, usage: reported } = (value ?? {}) as Completion;
    const usage = parseUsage(reported?.prompt_tokens, reported?.completion_tokens);
    const content = Array.isArray(choices) ? choices[0]?.message?.content : undefined;
    if (typeof content !== 'string') {
      const problem = 'its completion has no text at choices.0.message.content';
      throw new NoAnswer('wrong', problem, { usage });
    }
    const parsed = parseJson(Buffer.from(bare(content)));
    if (!('value' in parsed)) throw new NoAnswer('no_json', plainLine(parsed.message), { usage });
    return { value: parsed.value, ...(usage ? { usage } : {}) };
  },
});

/** Models like to put JSON into a fence of Markdown. */
const bare = (content: string): string =>
  /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(content)?.[1] ?? content;

/** `{{question}}` and members of it, as `{{view.block.soundness}}`; what is no text, as JSON. */
function filled(template: string, question: Question): string {
  const known: Record<string, unknown> = { question: toPayload(question), ...toPayload(question) };
  return template.replace(/\{\{\s*([a-z_][\w.]*)\s*\}\}/g, (_, path: string) => {
    let at: unknown = known;
    for (const step of path.split('.')) {
      const named = typeof at === 'object' && at !== null && Object.hasOwn(at, step);
      at = named ? (at as Record<string, unknown>)[step] : null;
    }
    return typeof at === 'string' ? at : JSON.stringify(at);
  });
}

export const plainDialect: Dialect = {
  bodyOf: toPayload,
  saidIn: (value) => ({ value }),
};
