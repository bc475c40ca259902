/** How requests are signed, in words; the signed texts come from the functions that build them. */
import { type CommandKind, carriage, limits } from '../../../engine/internal.js';
import {
  authInput,
  httpInput,
  memeInput,
  proposalInput,
  transactionInput,
  voteInput,
} from '../../../engine/protocol/signing.js';

/** A signed text on one line, as the documents show it: LF is one line feed. */
const shown = (input: string) => input.replaceAll('\n', ' LF ');
const overBody = (input: string) =>
  shown(input).replace(/\{\}$/, 'JCS(the body without its `signature`)');

const overHttp = shown(
  httpInput({
    method: '{method}',
    target: '{request-target}',
    timestamp: '{X-Timestamp}',
    bodySha256: '{hex sha256 of the raw body}',
  }),
);
const emptyMeme = { caption: '', content_sha256: '', tags: [], timestamp: '' };
const overMeme = shown(memeInput(emptyMeme)).replace(
  /\{.*\}$/,
  'JCS({caption, content_sha256, tags, timestamp})',
);
const overTransaction = shown(transactionInput('{network_id}', '{hash}'));
export const overAuth = authInput('{public_key}', '{timestamp}');

/** The text that the signature of a request covers. */
export function signedText(kind: CommandKind): string {
  if (kind === 'vote') return overBody(voteInput({}));
  if (kind === 'propose') return overBody(proposalInput({}));
  return kind === 'meme' ? overMeme : overHttp;
}

const signaturePlaces = {
  body: 'the member `signature` of the body',
  form: 'the form field `signature`',
  header: 'the header `X-Agent-Signature`',
};

/** Where a request carries its signature. */
export const signaturePlace = (kind: CommandKind) => signaturePlaces[carriage[kind].signed];

const rows = [
  ['vote', signedText('vote'), signaturePlaces.body],
  ['block proposal', signedText('propose'), signaturePlaces.body],
  ['transaction in a proposal', overTransaction, 'its own `signature`'],
  ['meme', signedText('meme'), signaturePlaces.form],
  ['every other signed request', signedText('status'), signaturePlaces.header],
  ['WebSocket `auth`', overAuth, 'the member `signature` of the message'],
];

const table = rows
  .map(([what, text, place]) => `| ${what} | \`${text!.replaceAll('`', '')}\` | ${place} |`)
  .join('\n');

export const signingText = `An agent holds an Ed25519 key pair. Every signed request names its key
in \`X-Agent-Public-Key\` (registration may leave it out: the key is in the body). What is signed is
a text in UTF-8; LF is one line feed, JCS is the canonical JSON of RFC 8785 over what was sent,
before any default or clean-up. Signatures are 128 hex characters.

| what | signed text | where the signature is |
|---|---|---|
${table}

The request-target is as sent, from \`/api/v1/\` on, query included. A timestamp may differ from the
server's clock by ${limits.skewMs / 1000} seconds at most. \`POST /api/v1/debug/verify\` shows
the text that the server would have verified. Header signatures do not name the network: use one
key per network.`;
