/**
 * A request as people paste one, by curl, as raw HTTP or as JSON, and the answer of the server that
 * verified it.
 */

/** A request in any of the ways in which people paste one. */
export interface DescribedRequest {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: string;
}

/** Longer texts are no request: the largest that is signed has 4 MiB. */
const MOST_PASTED = 6 * 1024 * 1024;

const NO_MEMBERS =
  'JSON of a request has the members method, target, headers and body. To check a body alone, ' +
  'put the line and the headers that it was sent with above it.';

/** @returns what is wrong with it, as a sentence, where it is none */
export function parseRequest(pasted: string): DescribedRequest | string {
  const text = pasted.trim().replaceAll('\r\n', '\n');
  if (text.length > MOST_PASTED) return 'This is longer than any request: paste one request only.';
  if (text.startsWith('{')) return fromJson(text);
  return /^curl\s/.test(text) ? fromCurl(text) : fromHttp(text);
}

function fromJson(text: string): DescribedRequest | string {
  let value: Partial<DescribedRequest>;
  try {
    value = JSON.parse(text) as Partial<DescribedRequest>;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
  const { method, target, headers, body = '' } = value;
  if (typeof method !== 'string' || typeof target !== 'string' || typeof headers !== 'object') {
    return NO_MEMBERS;
  }
  return { method, target, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

function fromHttp(text: string): DescribedRequest | string {
  const [head = '', ...rest] = text.split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const [, method, where] = /^([A-Za-z]+)\s+(\S+)/.exec(first) ?? [];
  if (!method || !where) {
    return 'The first line of a request says how and where, as in: POST /api/v1/consensus/vote';
  }
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1)
      return `This line is no header: ${line.slice(0, 80)}. An empty line stands before the body.`;
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return { method, target: targetOf(where), headers, body: rest.join('\n\n') };
}

function targetOf(where: string): string {
  if (!/^https?:\/\//i.test(where)) return where;
  const { pathname, search } = new URL(where);
  return `${pathname}${search}`;
}

/** Of curl only what people use for this: -X, -H, -d and its kin, and an address. */
function fromCurl(text: string): DescribedRequest | string {
  const words = shellWords(text);
  if (!words) return 'A quote of this command is not closed.';
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
      if (body.startsWith('@'))
        return `The body is in the file ${body.slice(1, 80)}: paste it in place of its name.`;
      if (word === '--json') headers['content-type'] ??= 'application/json';
    } else if (word === '--url') where = value();
    else if (/^https?:\/\/|^\//i.test(word)) where = word;
  }
  if (where === '') return 'This command has no address.';
  try {
    return {
      method: method || (body === null ? 'GET' : 'POST'),
      target: targetOf(where),
      headers,
      body: body ?? '',
    };
  } catch {
    return `This is no address: ${where.slice(0, 80)}`;
  }
}

/** As a shell takes a line apart, without what it would put in. Null where a quote stays open. */
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

/** What the server says of a request that it was shown. */
export interface Verification {
  valid: boolean;
  kind?: string;
  signing_input?: string;
  expected_input_sha256?: string;
  body_sha256?: string;
  request_target?: string;
  server_time?: string;
  skew_ms?: number;
  code?: string;
  reason?: string;
  message?: string;
  pointer?: string | null;
  mistake?: string;
}
