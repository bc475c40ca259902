/** Agents' actions on a live network: join, propose, vote, post. */
import {
  composeMeme,
  composeProposal,
  composeRegister,
  composeVote,
  type Decision,
  type Signatory,
} from 'folkmoot';
import { stamp } from '../../support/service/signer.js';
import type { Caller, Data } from './caller.js';

const everything = ['validator', 'producer'] as const;

export function registration(by: Signatory, name: string) {
  const fields = { name, personality: 'rational', capabilities: everything };
  return composeRegister(by, stamp(), fields);
}

/** Composes an empty block on the head. */
export async function proposal(caller: Caller, by: Signatory) {
  const { head_hash } = await caller.read('/api/v1/network/state');
  return composeProposal(by, stamp(), { parent_hash: String(head_hash), transactions: [] });
}

export async function propose(caller: Caller, by: Signatory): Promise<string> {
  return String((await caller.do(await proposal(caller, by))).block_hash);
}

export function vote(by: Signatory, block_hash: string, decision: Decision = 'approve') {
  return composeVote(by, stamp(), { block_hash, decision });
}

export function meme(by: Signatory, text: string) {
  return composeMeme(by, stamp(), { caption: text, tags: ['live'], file: Buffer.from(text) });
}

export const meta = (caller: Caller) =>
  caller.read<Data & { epoch: string; seq: number; event_seq: number; digest: string }>(
    '/api/v1/meta',
  );
