/** Drafts of the requests about blocks: vote, propose and discuss. */
import { lowerHash } from '../protocol/hex.js';
import {
  type Decision,
  type RequestBody,
  refuse,
  type Sentiment,
} from '../protocol/schema/index.js';
import { blockHash, requestId } from '../protocol/signing.js';
import { parseInstant } from '../protocol/time.js';
import { lowerAscii } from '../protocol/unicode/unicode.js';
import { type Around, cleanReferences, cleanTags, type Drafted, refused } from './draft.js';
import { changesOf, diffProblem } from './state-diff.js';
import { transactionJobs, transactionProblem, typeOf } from './transactions.js';

export function draftVote(body: RequestBody['vote']): Drafted {
  if (parseInstant(body.timestamp) === null) return badBodyTimestamp();
  return {
    command: ({ publicKey }) => ({
      kind: 'vote',
      public_key: publicKey,
      block_hash: lowerHash(body.block_hash)!,
      decision: body.decision as Decision,
      reason: body.reason ?? '',
      meme_references: cleanReferences(body.meme_references),
    }),
  };
}

export function draftPropose(body: RequestBody['propose'], around: Around): Drafted {
  for (const member of ['producer', 'network_id']) {
    if (Object.hasOwn(around.raw, member)) {
      return refused('SCHEMA', `a proposal has no member ${member}`, `/${member}`);
    }
  }
  if (parseInstant(body.timestamp) === null) return badBodyTimestamp();
  const refusal = diffProblem(body.state_diff) ?? transactionProblem(body.transactions);
  if (refusal) return { refusal };
  const changes = changesOf(body.state_diff);
  const meme = body.meme_content;
  return {
    command: ({ publicKey }) => ({
      kind: 'propose',
      public_key: publicKey,
      block_hash: blockHash(around.raw, publicKey, around.networkId),
      parent_hash: lowerAscii(body.parent_hash),
      transactions: body.transactions.map(({ hash, data, sender }) => ({
        hash: lowerAscii(hash),
        type: typeOf(data),
        signer: lowerAscii(sender ?? publicKey),
      })),
      ...changes,
      meme_content: meme ? { ...meme, tags: cleanTags(meme.tags) } : {},
      failed_transaction: -1,
    }),
    jobs: ({ publicKey }) => transactionJobs(body.transactions, publicKey, around.networkId),
  };
}

export function draftDiscuss(body: RequestBody['discuss']): Drafted {
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'discuss',
      public_key: publicKey,
      request_id: requestId(publicKey, inputSha256()),
      block_hash: lowerHash(body.block_hash)!,
      message: body.message,
      sentiment: body.sentiment as Sentiment,
      meme_references: cleanReferences(body.meme_references),
    }),
  };
}

function badBodyTimestamp() {
  const message = 'timestamp is not an RFC 3339 timestamp with offset and a real calendar date';
  return { refusal: refuse('SCHEMA', message, { pointer: '/timestamp' }) };
}
