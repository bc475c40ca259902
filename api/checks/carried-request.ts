/** A write request as it was carried: its credentials from where its kind has them. */
import { type CommandKind, carriage, type SignedRequest } from '../../engine/internal.js';

export interface Received {
  target: string;
  headers: ReadonlyMap<string, string>;
  body: Uint8Array;
}

/** All of it but what is in a form, which has still to be read: its signature, fields and file. */
export function carriedRequest(
  kind: CommandKind,
  { target, headers, body }: Received,
): SignedRequest {
  const header = (name: string) => headers.get(name) ?? '';
  const { signed } = carriage[kind];
  return {
    kind,
    public_key: header('x-agent-public-key'),
    target: signed === 'header' ? target : '',
    timestamp: signed === 'body' ? '' : header('x-timestamp'),
    signature: signed === 'header' ? header('x-agent-signature') : '',
    body,
  };
}
