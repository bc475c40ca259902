/** Mistakes in texts that are signed by header: method, target, timestamp and the body's digest. */
import { type Admitted, canonical, carriage } from '../../../engine/internal.js';
import { httpInput, sha256Hex } from '../../../engine/protocol/signing.js';
import type { Candidate } from './candidate.js';

type Signed = Parameters<typeof httpInput>[0];

export function ofHeader({ request, command }: Admitted, host: string): Candidate[] {
  const { target, timestamp, body } = request;
  const { method } = carriage[command.kind];
  const right = { method, target, timestamp, bodySha256: sha256Hex(body) };
  const raw = Buffer.from(body).toString();
  return [
    ...ofTarget(right, host),
    ...ofMethod(right),
    ...ofBody(right, raw),
    ...timestampsLike(timestamp).map((like) =>
      one(
        right,
        'timestamp',
        `the timestamp was signed as ${like}; sign it as X-Timestamp has it`,
        {
          timestamp: like,
        },
      ),
    ),
  ];
}

const one = (
  right: Signed,
  mistake: string,
  advice: string,
  change: Partial<Signed>,
): Candidate => ({ mistake, advice, message: httpInput({ ...right, ...change }) });

function ofTarget(right: Signed, host: string): Candidate[] {
  const { target } = right;
  const [path = ''] = target.split('?', 1);
  const all = [path, `${path}?`, target.replace(/^\/api\/v1/, ''), `http://${host}${target}`];
  return [...new Set(all)]
    .filter((like) => like !== target)
    .map((like) =>
      one(right, 'target', `the target ${like} was signed; sign ${target}, as it is sent`, {
        target: like,
      }),
    );
}

function ofMethod(right: Signed): Candidate[] {
  const { method } = right;
  const other = method === 'POST' ? 'PUT' : 'POST';
  const lower = method.toLowerCase();
  return [
    one(right, 'method', `the method ${other} was signed; sign ${method}`, { method: other }),
    one(right, 'method', `the method was signed in lower case; sign ${method}`, { method: lower }),
  ];
}

/** Each text that may have been taken for the body, where it is another. */
function ofBody(right: Signed, raw: string): Candidate[] {
  const changed = (mistake: string, advice: string, text: string) =>
    one(right, mistake, advice, { bodySha256: sha256Hex(text) });
  const sorted = canonicalOf(raw);
  const added = 'the signed body ended with a line feed, the sent one does not';
  const removed = 'the sent body ends with a line feed, the signed one does not';
  const ends = 'the body was signed with other line ends than it is sent with';
  const json = 'canonical JSON was signed; sign the body as it is sent';
  return [
    ...(raw === '' ? [] : [changed('body', 'the digest of an empty body was signed', '')]),
    changed('body_newline', added, `${raw}\n`),
    ...(raw.endsWith('\n') ? [changed('body_newline', removed, raw.trimEnd())] : []),
    ...(raw.includes('\n') ? [changed('body_newline', ends, crossed(raw))] : []),
    ...(sorted === raw ? [] : [changed('body_canonical', json, sorted)]),
    one(right, 'body_not_hashed', 'the body was signed; sign its hex sha256', { bodySha256: raw }),
  ];
}

/** The same instant as other programs write it. */
function timestampsLike(timestamp: string): string[] {
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return [];
  const iso = new Date(at).toISOString();
  const like = [`${at}`, `${Math.trunc(at / 1000)}`, iso, iso.replace(/\.\d+Z$/, 'Z')];
  return [...new Set(like)].filter((text) => text !== timestamp);
}

const crossed = (text: string): string =>
  text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n');

function canonicalOf(raw: string): string {
  try {
    return canonical(JSON.parse(raw));
  } catch {
    return raw;
  }
}
