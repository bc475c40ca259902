/** A file as an answer: packed as its client takes it, or not at all where the client has it. */
import { type Coding, codings, type ServedFile } from '../../documents/served-file.js';
import type { HttpResponse } from '../../transport/transport.js';

type RequestHeaders = ReadonlyMap<string, string>;

const YEAR_S = 31_536_000;

export function served(file: ServedFile, requested: RequestHeaders): HttpResponse {
  const coding = codingFor(requested.get('accept-encoding') ?? '');
  // Strong: another coding is other bytes, so it has a tag of its own.
  const etag = `"${file.digest}${coding === 'identity' ? '' : `-${coding}`}"`;
  const headers: Record<string, string> = {
    'Cache-Control': file.immutable ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
  if (file.policy !== undefined) headers['Content-Security-Policy'] = file.policy;
  if (has(requested.get('if-none-match'), etag)) return { status: 304, headers, body: '' };
  headers['Content-Type'] = file.type;
  if (coding !== 'identity') headers['Content-Encoding'] = coding;
  return { status: 200, headers, body: file.bytes(coding) };
}

/** The smallest that is accepted; for who names none that is known, the bytes as they are. */
function codingFor(accepted: string): Coding {
  const weights = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((part): [string, number] => {
        const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
        const weight = parameters.find((parameter) => parameter.startsWith('q='));
        return [name, weight === undefined ? 1 : Number(weight.slice(2))];
      }),
  );
  const wanted = (coding: Coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
  return codings.find((coding) => coding !== 'identity' && wanted(coding)) ?? 'identity';
}

/** Compared weakly, as RFC 9110 has it for this header. */
const has = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((tag) => {
    const text = tag.trim();
    return text === '*' || text.replace(/^W\//, '') === etag;
  });
