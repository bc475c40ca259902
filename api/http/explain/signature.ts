/** A failed signature explained: what the server would have verified. */
import {
  type CommandKind,
  carriage,
  formatInstant,
  parseInstant,
  type Refusal,
} from '../../../engine/internal.js';
import { httpInput, sha256Hex } from '../../../engine/protocol/signing.js';
import type { Body, RequestHead } from '../../transport/transport.js';

/** What is known of the text that a signature must cover. */
export interface SignedInput {
  /** Null where it is not known yet. */
  inputSha256(): string | null;
  signedAt: number | null;
}

export const unknownInput: SignedInput = { inputSha256: () => null, signedAt: null };

/** Of requests signed by header, the text follows from head and raw body. */
export function inputByHead(
  kind: CommandKind,
  { method, target, headers }: RequestHead,
  body: Body,
): SignedInput {
  const timestamp = headers.get('x-timestamp') ?? '';
  const signedAt = carriage[kind].signed === 'body' ? null : parseInstant(timestamp);
  const inputSha256 = () =>
    carriage[kind].signed !== 'header' || signedAt === null || body === 'unread'
      ? null
      : sha256Hex(httpInput({ method, target, timestamp, bodySha256: sha256Hex(body) }));
  return { inputSha256, signedAt };
}

/** What the server would have verified of a request, so that a client can find its mistake. */
export function explained(
  refusal: Refusal,
  kind: CommandKind,
  { inputSha256, signedAt }: SignedInput,
  { target, body, now }: { target: string; body: Body; now: number },
): Refusal {
  const details = {
    ...refusal.details,
    kind,
    expected_input_sha256: inputSha256(),
    body_sha256: body === 'unread' ? null : sha256Hex(body),
    request_target: target,
    server_time: formatInstant(now),
    skew_ms: signedAt === null ? null : signedAt - now,
  };
  return { ...refusal, details };
}
