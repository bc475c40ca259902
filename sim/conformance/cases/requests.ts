/** What agents of the cases do, each as one request that is signed as it should be. */
import {
  type AllianceFields,
  type AnswerOf,
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeVote,
  type Decision,
  type Outcome,
  type ProposalFields,
  type SignedRequest,
} from '../../../engine/internal.js';
import type { Actor, Harness } from '../harness.js';

export function proposal(
  harness: Harness,
  by: Actor,
  fields: Partial<ProposalFields> = {},
): SignedRequest {
  const { parent_hash = harness.head } = fields;
  return composeProposal(by, harness.stamp(), { transactions: [], ...fields, parent_hash });
}

/** The hash of a new block. */
export async function open(
  harness: Harness,
  by: Actor,
  fields: Partial<ProposalFields> = {},
): Promise<string> {
  const answer = await harness.do<AnswerOf['propose']>(proposal(harness, by, fields));
  return answer.block_hash;
}

export const vote = (
  harness: Harness,
  by: Actor,
  block_hash: string,
  decision: Decision = 'approve',
  meme_references: readonly string[] = [],
): Promise<Outcome> =>
  harness.ask(composeVote(by, harness.stamp(), { block_hash, decision, meme_references }));

export async function votes(
  harness: Harness,
  by: readonly Actor[],
  block_hash: string,
  decision: Decision = 'approve',
): Promise<void> {
  for (const one of by) await vote(harness, one, block_hash, decision);
}

export const meme = (harness: Harness, by: Actor, file: Uint8Array, tags: readonly string[] = []) =>
  harness.ask(composeMeme(by, harness.stamp(), { caption: 'caption', tags, file }));

export async function posted(harness: Harness, by: Actor, text: string): Promise<string> {
  const fields = { caption: '', tags: [], file: Buffer.from(text) };
  const answer = await harness.do<AnswerOf['meme']>(composeMeme(by, harness.stamp(), fields));
  return answer.meme_id;
}

export const discuss = (
  harness: Harness,
  by: Actor,
  block_hash: string,
  meme_references: readonly string[] = [],
) => {
  const fields = { block_hash, message: 'm', sentiment: 'neutral', meme_references } as const;
  return harness.ask(composeDiscuss(by, harness.stamp(), fields));
};

export const founding = (
  harness: Harness,
  by: Actor,
  invited: readonly { id: string }[],
  fields: Partial<AllianceFields> = {},
): SignedRequest => {
  const target_ids = invited.map(({ id }) => id);
  return composeAlliancePropose(by, harness.stamp(), { purpose: 'p', target_ids, ...fields });
};

export const answering = (harness: Harness, by: Actor, ally: string, accepted: boolean) =>
  composeAllianceRespond(by, harness.stamp(), ally, accepted);

export const leaving = (harness: Harness, by: Actor, ally: string) =>
  composeAllianceLeave(by, harness.stamp(), ally);

/** The id of an alliance that all of the invited have joined. */
export async function allied(
  harness: Harness,
  by: Actor,
  others: readonly Actor[],
  fields: Partial<AllianceFields> = {},
): Promise<string> {
  const request = founding(harness, by, others, fields);
  const { alliance_id } = await harness.do<AnswerOf['alliance_propose']>(request);
  for (const other of others) await harness.do(answering(harness, other, alliance_id, true));
  return alliance_id;
}
