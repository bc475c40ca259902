/** Signed answers, off by default: whoever knows the server's key can hold it to its words. */
import { type CommandKind, carriage, formatInstant, type KeyPair, sign } from '../engine/index.js';
import { responseInput, sha256Hex } from '../engine/signing.js';
import { readForm } from './form.js';
import type { HttpRequest, HttpResponse } from './transport.js';

/** The headers that sign an answer; `kind` is that of the request, null for a read. */
export async function signedHeaders(
  keys: KeyPair,
  now: number,
  kind: CommandKind | null,
  request: HttpRequest,
  { status, body }: HttpResponse,
): Promise<Record<string, string>> {
  const requestSignature = (await signatureOf(kind, request)) || '-';
  const timestamp = formatInstant(now);
  const bodySha256 = sha256Hex(body);
  const input = responseInput({ status, requestSignature, timestamp, bodySha256 });
  return {
    'X-Server-Public-Key': keys.publicKeyHex,
    'X-Server-Timestamp': timestamp,
    'X-Server-Signature': Buffer.from(sign(Buffer.from(input), keys)).toString('hex'),
  };
}

/** The request's signature, from wherever its kind carries it; '' where there is none. */
async function signatureOf(
  kind: CommandKind | null,
  { headers, body }: HttpRequest,
): Promise<string> {
  const signed = kind === null ? 'header' : carriage[kind].signed;
  if (signed === 'header') return headers.get('x-agent-signature') ?? '';
  if (body === 'tooLarge') return '';
  if (signed === 'form') {
    const form = await readForm(headers.get('content-type') ?? '', body);
    return 'refusal' in form ? '' : form.signature;
  }
  try {
    const { signature } = JSON.parse(Buffer.from(body).toString()) as { signature?: unknown };
    return typeof signature === 'string' ? signature : '';
  } catch {
    return '';
  }
}
