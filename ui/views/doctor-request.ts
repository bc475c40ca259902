/** Parses a pasted request: a curl command, raw HTTP, or JSON. */
import { limits } from '../../engine/protocol/limits.js';
import { PageError } from '../messages.js';

export interface DescribedRequest {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: string;
}

/** Maximum number of input characters that an error quotes. */
const MOST_QUOTED = 80;

/** @throws {PageError} if the text is not a request */
export function parseRequest(pasted: string): DescribedRequest {
  const text = pasted.trim().replaceAll('\r\n', '\n');
  if (text.length > limits.describedRequestBytes) throw tooLong(text.length);
  if (text.startsWith('{')) return fromJson(text);
  return /^curl\s/.test(text) ? fromCurl(text) : fromHttp(text);
}

/** Encodes a request for the server. @throws {PageError} if the server would refuse the length */
export function encodeRequest(request: DescribedRequest): string {
  const text = JSON.stringify(request);
  const { length } = new TextEncoder().encode(text);
  if (length > limits.describedRequestBytes) throw tooLong(length);
  return text;
}

const tooLong = (length: number) =>
  new PageError('REQUEST_TOO_LONG', { length, limit: limits.describedRequestBytes / 1024 ** 2 });

function fromJson(text: string): DescribedRequest {
  let value: Partial<DescribedRequest>;
  try {
    value = JSON.parse(text) as Partial<DescribedRequest>;
  } catch (error) {
    throw new PageError('REQUEST_NOT_JSON', { message: (error as Error).message });
  }
  const { method, target, headers, body = '' } = value;
  if (typeof method !== 'string' || typeof target !== 'string' || typeof headers !== 'object') {
    throw new PageError('REQUEST_INCOMPLETE');
  }
  return { method, target, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

function fromHttp(text: string): DescribedRequest {
  const [head = '', ...rest] = text.split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const [, method, where] = /^([A-Za-z]+)\s+(\S+)/.exec(first) ?? [];
  if (!method || !where) {
    throw new PageError('REQUEST_LINE_INVALID', { line: first.slice(0, MOST_QUOTED) });
  }
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new PageError('HEADER_INVALID', { line: line.slice(0, MOST_QUOTED) });
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return { method, target: targetOf(where), headers, body: rest.join('\n\n') };
}

function targetOf(where: string): string {
  if (!/^https?:\/\//i.test(where)) return where;
  const { pathname, search } = new URL(where);
  return `${pathname}${search}`;
}

/** Supports the curl options -X, -H, -d and its variants, --url, and an address. */
function fromCurl(text: string): DescribedRequest {
  const words = shellWords(text);
  if (!words) throw new PageError('QUOTE_OPEN');
  const headers: Record<string, string> = {};
  let [method, where, body] = ['', '', null as string | null];
  const rest = words.slice(1)[Symbol.iterator]();
  const value = (): string => rest.next().value ?? '';
  for (const word of { [Symbol.iterator]: () => rest }) {
    if (word === '-X' || word === '--request') method = value();
    else if (word === '-H' || word === '--header') {
      const line = value();
      const colon = line.indexOf(':');
      if (colon > 0) headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
    } else if (/^(-d|--data|--data-raw|--data-binary|--json)$/.test(word)) {
      body = value();
      if (body.startsWith('@')) throw new PageError('BODY_IN_FILE', { file: body.slice(1, 80) });
      if (word === '--json') headers['content-type'] ??= 'application/json';
    } else if (word === '--url') where = value();
    else if (/^https?:\/\/|^\//i.test(word)) where = word;
  }
  if (where === '') throw new PageError('ADDRESS_MISSING');
  try {
    return {
      method: method || (body === null ? 'GET' : 'POST'),
      target: targetOf(where),
      headers,
      body: body ?? '',
    };
  } catch {
    throw new PageError('ADDRESS_INVALID', { address: where.slice(0, MOST_QUOTED) });
  }
}

/**
 * Splits a command into words as a shell does, without expansion. Returns null for an unclosed
 * quote.
 */
function shellWords(text: string): string[] | null {
  const words: string[] = [];
  const pattern = /\s*(?:\\\n)?\s*((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+)/gsy;
  let end = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    end = pattern.lastIndex;
    words.push(
      found[1]!.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gs, (_, single, double, one) =>
        single !== undefined
          ? single
          : double !== undefined
            ? double.replace(/\\(["\\$`])/g, '$1')
            : one,
      ),
    );
  }
  return text.slice(end).trim() === '' ? words : null;
}
