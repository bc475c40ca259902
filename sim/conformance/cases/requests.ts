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
import type { Actor, Stage } from '../harness.js';

export function proposal(
  stage: Stage,
  by: Actor,
  fields: Partial<ProposalFields> = {},
): SignedRequest {
  const { parent_hash = stage.head } = fields;
  return composeProposal(by, stage.stamp(), { transactions: [], ...fields, parent_hash });
}

/** The hash of a new block. */
export async function open(
  stage: Stage,
  by: Actor,
  fields: Partial<ProposalFields> = {},
): Promise<string> {
  const answer = await stage.do<AnswerOf['propose']>(proposal(stage, by, fields));
  return answer.block_hash;
}

export const vote = (
  stage: Stage,
  by: Actor,
  block_hash: string,
  decision: Decision = 'approve',
  meme_references: readonly string[] = [],
): Promise<Outcome> =>
  stage.ask(composeVote(by, stage.stamp(), { block_hash, decision, meme_references }));

export async function votes(
  stage: Stage,
  by: readonly Actor[],
  block_hash: string,
  decision: Decision = 'approve',
): Promise<void> {
  for (const one of by) await vote(stage, one, block_hash, decision);
}

export const meme = (stage: Stage, by: Actor, file: Uint8Array, tags: readonly string[] = []) =>
  stage.ask(composeMeme(by, stage.stamp(), { caption: 'caption', tags, file }));

export async function posted(stage: Stage, by: Actor, text: string): Promise<string> {
  const fields = { caption: '', tags: [], file: Buffer.from(text) };
  const answer = await stage.do<AnswerOf['meme']>(composeMeme(by, stage.stamp(), fields));
  return answer.meme_id;
}

export const discuss = (
  stage: Stage,
  by: Actor,
  block_hash: string,
  meme_references: readonly string[] = [],
) => {
  const fields = { block_hash, message: 'm', sentiment: 'neutral', meme_references } as const;
  return stage.ask(composeDiscuss(by, stage.stamp(), fields));
};

export const founding = (
  stage: Stage,
  by: Actor,
  invited: readonly { id: string }[],
  fields: Partial<AllianceFields> = {},
): SignedRequest => {
  const target_ids = invited.map(({ id }) => id);
  return composeAlliancePropose(by, stage.stamp(), { purpose: 'p', target_ids, ...fields });
};

export const answering = (stage: Stage, by: Actor, ally: string, accepted: boolean) =>
  composeAllianceRespond(by, stage.stamp(), ally, accepted);

export const leaving = (stage: Stage, by: Actor, ally: string) =>
  composeAllianceLeave(by, stage.stamp(), ally);

/** The id of an alliance that all of the invited have joined. */
export async function allied(
  stage: Stage,
  by: Actor,
  others: readonly Actor[],
  fields: Partial<AllianceFields> = {},
): Promise<string> {
  const request = founding(stage, by, others, fields);
  const { alliance_id } = await stage.do<AnswerOf['alliance_propose']>(request);
  for (const other of others) await stage.do(answering(stage, other, alliance_id, true));
  return alliance_id;
}
