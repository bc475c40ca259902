/**
 * Decider at a URL, called with one POST per question. The request uses one of two dialects: the
 * plain question, or chat completions as served by OpenAI and many model servers.
 */
import { type Dispatcher, Agent as HttpAgent, request } from 'undici';
import { parseJson } from '../../../engine/protocol/json.js';
import { DELIBERATE_PROMPT } from '../deliberation/prompts.js';
import { type DeciderAdapter, type DeciderResponse, NoAnswer, toPayload } from './adapter.js';
import {
  LARGEST_ANSWER_BYTES,
  parseUsage,
  plainLine,
  type Question,
  type Usage,
} from './question.js';

/** Request and response format. */
interface Dialect {
  bodyOf(question: Question): unknown;
  saidIn(value: unknown): DeciderResponse;
}

interface HttpOptions {
  url: string;
  key: string | undefined;
  atOnce: number;
  dialect: Dialect;
}

/** Upper limit for Retry-After. */
const LONGEST_WAIT_MS = 60_000;

export function createHttpAdapter({ url, key, atOnce, dialect }: HttpOptions): DeciderAdapter {
  // No timeouts here, because the caller aborts the request.
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
      const chunks: Uint8Array[] = [];
      try {
        answer = await request(url, { method: 'POST', headers, body, dispatcher, signal });
        for await (const chunk of bounded(answer.body, LARGEST_ANSWER_BYTES)) chunks.push(chunk);
      } catch (error) {
        if (error instanceof NoAnswer || signal.aborted) throw error;
        throw new NoAnswer('UNREACHABLE', { detail: plainLine(getErrorText(error)) });
      }
      const { statusCode: status } = answer;
      if (status === 200) return dialect.saidIn(parseAnswerText(Buffer.concat(chunks)));
      const afterMs = waitMs(answer.headers['retry-after']);
      throw new NoAnswer('HTTP_STATUS', { status }, { afterMs });
    },
    close: () => dispatcher.destroy(),
  };
}

/** Passes a body on. To leave the loop destroys the body and closes the connection. */
export async function* bounded(body: AsyncIterable<Uint8Array>, bytes: number) {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytes) throw new NoAnswer('ANSWER_TOO_LONG', { bytes });
    yield chunk;
  }
}

/** @throws {NoAnswer} if the text is not JSON by the strict rules of the network. */
export function parseAnswerText(text: Uint8Array, usage?: Usage): unknown {
  const parsed = parseJson(text);
  if ('value' in parsed) return parsed.value;
  throw new NoAnswer('INVALID_JSON', { detail: plainLine(parsed.message) }, { usage });
}

/** Returns an error's text. An AggregateError for several addresses has no message itself. */
export function getErrorText(error: unknown): string {
  const { code, message, errors } = error as Error & { code?: string; errors?: Error[] };
  return message || errors?.[0]?.message || code || 'the connection failed';
}

/** Parses Retry-After into milliseconds. Returns 0 if the header is absent or not a number. */
export function waitMs(header: string | string[] | undefined): number {
  const seconds = Number(header);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds) * 1_000, LONGEST_WAIT_MS) : 0;
}

interface ChatOptions {
  model: string;
  /** Prompt texts by `system` or question kind. */
  prompts: ReadonlyMap<string, string>;
  /** Additional members of the request. */
  request: Readonly<Record<string, unknown>>;
}

interface Completion {
  choices?: { message?: { content?: unknown } }[];
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
}

export const chatDialect = ({ model, prompts, request }: ChatOptions): Dialect => ({
  bodyOf(question) {
    const system = prompts.get('system');
    const standard = question.kind === 'deliberate' ? DELIBERATE_PROMPT : '{{question}}';
    const content = filled(prompts.get(question.kind) ?? standard, question);
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
    if (typeof content !== 'string') throw new NoAnswer('EMPTY_COMPLETION', {}, { usage });
    const said = parseAnswerText(Buffer.from(bare(content)), usage);
    return { value: said, ...(usage ? { usage } : {}) };
  },
});

/**
 * Removes the Markdown fence that models often put around JSON. A regular expression over the whole
 * text could take a time that grows with the cube of its length.
 */
function bare(content: string): string {
  const text = content.trim();
  const open = /^```(?:json)?[ \t\r]*\n/.exec(text)?.[0];
  return open && text.endsWith('```') ? text.slice(open.length, -'```'.length) : content;
}

/** Fills in `{{question}}` and paths like `{{view.block.soundness}}`. Non-strings become JSON. */
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

export const plainDialect: Dialect = { bodyOf: toPayload, saidIn: (value) => ({ value }) };
