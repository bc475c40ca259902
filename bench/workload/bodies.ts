/** Requests of every kind, each with content of its own: nobody is asked the same thing twice. */
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeStatus,
  composeTransaction,
  composeVote,
  formatInstant,
  GENESIS_HASH,
  type Signatory,
  type SignedRequest,
} from '../../engine/index.js';
import { agentId, sha256Hex } from '../../engine/signing.js';
import { NETWORK_ID, registration, START_MS } from './chain.js';

export type Composer = (by: Signatory, ordinal: number) => SignedRequest;

const timestamp = formatInstant(START_MS);
const target = agentId('11'.repeat(32));
const alliance = `ally_${'22'.repeat(16)}`;

/** `hash` is of the block that is talked about. */
export const composers = (hash: string): Record<string, Composer> => ({
  register: registration,
  status: (by, ordinal) =>
    composeStatus(by, formatInstant(START_MS + ordinal), agentId(by.publicKey), {
      status: 'maintenance',
      reason: `for the ${ordinal}th time`,
    }),
  vote: (by, ordinal) =>
    composeVote(by, timestamp, { block_hash: hash, decision: 'approve', reason: `no. ${ordinal}` }),
  'proposal, 0 transactions': (by, ordinal) => proposal(by, ordinal, 0),
  'proposal, 100 transactions': (by, ordinal) => proposal(by, ordinal, 100),
  meme: (by, ordinal) =>
    composeMeme(by, timestamp, {
      caption: `meme ${ordinal}`,
      tags: ['bench'],
      file: Buffer.from(`a meme of words, number ${ordinal}`),
    }),
  discuss: (by, ordinal) =>
    composeDiscuss(by, timestamp, {
      block_hash: hash,
      message: `I have thought about it ${ordinal} times`,
      sentiment: 'positive',
    }),
  alliance_propose: (by, ordinal) =>
    composeAlliancePropose(by, timestamp, { target_ids: [target], purpose: `no. ${ordinal}` }),
  alliance_respond: (by, ordinal) =>
    composeAllianceRespond(by, formatInstant(START_MS + ordinal), alliance, true),
  alliance_leave: (by, ordinal) =>
    composeAllianceLeave(by, formatInstant(START_MS + ordinal), alliance),
});

function proposal(by: Signatory, ordinal: number, count: number): SignedRequest {
  const transactions = Array.from({ length: count }, (_, index) => {
    const data = `transaction ${ordinal} ${index}`;
    return composeTransaction(by, NETWORK_ID, data, false);
  });
  const parent_hash = ordinal === 0 ? GENESIS_HASH : sha256Hex(`parent ${ordinal}`);
  return composeProposal(by, timestamp, { parent_hash, transactions });
}
