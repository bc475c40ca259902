/** A failed signature explained: what the server would have verified. */
import {
  type CommandKind,
  carriage,
  formatInstant,
  parseInstant,
  type Refusal,
} from '../../../engine/internal.js';
import { httpInput, sha256Hex } from '../../../engine/protocol/signing.js';
import type { HttpRequest } from '../../transport/transport.js';

/** The request that is explained. */
export interface Asked {
  /** The request-target as sent. */
  target: string;
  /** Of the raw body, hex, where it was read: computed when somebody has to be told. */
  bodySha256(): string | null;
}

/** What the server knows of a signature's text. */
export interface Told {
  /** Null where it is not known yet. */
  inputSha256(): string | null;
  signedAt: number | null;
}

export const nothingKnown: Told = { inputSha256: () => null, signedAt: null };

/** Of requests signed by header, the text follows from head and raw body. */
export function toldByHead(
  kind: CommandKind,
  { method, target, headers }: HttpRequest,
  bodySha256: string | null,
): Told {
  const timestamp = headers.get('x-timestamp') ?? '';
  const signedAt = carriage[kind].signed === 'body' ? null : parseInstant(timestamp);
  const inputSha256 = () =>
    carriage[kind].signed !== 'header' || signedAt === null || bodySha256 === null
      ? null
      : sha256Hex(httpInput({ method, target, timestamp, bodySha256 }));
  return { inputSha256, signedAt };
}

/** What the server would have verified, so that a client can find its mistake. */
export function explained(
  now: number,
  kind: CommandKind,
  told: Told,
  refusal: Refusal,
  { target, bodySha256 }: Asked,
): Refusal {
  const details = {
    ...refusal.details,
    kind,
    expected_input_sha256: told.inputSha256(),
    body_sha256: bodySha256(),
    request_target: target,
    server_time: formatInstant(now),
    skew_ms: told.signedAt === null ? null : told.signedAt - now,
  };
  return { ...refusal, details };
}
