/** Valid bodies for each request kind, and admission of changed bodies. */
import {
  type Command,
  type CommandKind,
  type CommandOf,
  type Refusal,
  type SignedRequest,
  targetOf,
} from 'folkmoot';
import { sha256Hex } from 'folkmoot/signing';
import { admit } from 'folkmoot/testing';
import { paperSignatory } from '../../support/citizens.js';

export const key = paperSignatory(0).publicKey;
export const signature = '0'.repeat(128);
export const hash = 'a'.repeat(64);
export const agent = `agent_${'0'.repeat(32)}`;
export const meme = `meme_${'0'.repeat(32)}`;
export const timestamp = '2025-01-01T00:00:00Z';

type Body = Record<string, unknown>;

export const transaction = (data: string, more: Body = {}): Body => ({
  hash: sha256Hex(data),
  data,
  signature,
  ...more,
});

const file = new TextEncoder().encode('gm');

export const good: Record<CommandKind, Body> = {
  register: { public_key: key, personality: 'lawful', name: 'Ada', capabilities: ['validator'] },
  status: { status: 'inactive' },
  vote: { block_hash: hash, decision: 'approve', timestamp, signature },
  propose: { parent_hash: hash, transactions: [], timestamp, signature },
  meme: { caption: '', content_sha256: sha256Hex(file), tags: [] },
  discuss: { block_hash: hash, message: 'hm', sentiment: 'neutral' },
  alliance_propose: { target_ids: [agent], purpose: 'win' },
  alliance_respond: { accepted: true },
  alliance_leave: {},
};

export function around(kind: CommandKind, body: Uint8Array): SignedRequest {
  const inBody = kind === 'vote' || kind === 'propose';
  return {
    kind,
    public_key: key,
    target: targetOf(kind, kind === 'status' ? agent : `ally_${'0'.repeat(32)}`),
    timestamp: inBody ? '' : timestamp,
    signature: inBody ? '' : signature,
    body,
    ...(kind === 'meme' ? { file } : {}),
  };
}

/** Builds a request with a kind's valid body and changed members; undefined removes a member. */
export function changed(kind: CommandKind, changes: Body): SignedRequest {
  const text = JSON.stringify({ ...good[kind], ...changes });
  return around(kind, new TextEncoder().encode(text));
}

async function commandOf(request: SignedRequest): Promise<Command> {
  const admission = admit(request, 'devnet');
  if ('refusal' in admission) throw new Error(`refused: ${JSON.stringify(admission.refusal)}`);
  return admission.command;
}

export const made = async <K extends CommandKind>(kind: K, changes: Body = {}) =>
  (await commandOf(changed(kind, changes))) as CommandOf<K>;

export async function refusalAtDoor(request: SignedRequest): Promise<Refusal | 'none'> {
  const admission = admit(request, 'devnet');
  return 'refusal' in admission ? admission.refusal : 'none';
}

/**
 * Returns the status, reason and pointer with which a changed body is refused, or that it is
 * accepted.
 */
export async function refused(kind: CommandKind, changes: Body): Promise<string> {
  const refusal = await refusalAtDoor(changed(kind, changes));
  if (refusal === 'none') return 'none';
  return `${refusal.status} ${refusal.reason} ${refusal.pointer ?? ''}`.trim();
}
