/**
 * Checks a block's hashes, signatures, weights and tally from its signed requests alone. The check
 * trusts nothing that the server claims about these values.
 */
import { decide, type QuorumRule } from '../../dist/engine/core/quorum.js';
import { verifyWeb, webVerifierName } from '../../dist/engine/crypto/webcrypto.js';
import {
  agentId,
  blockHash,
  proposalInput,
  sha256Hex,
  transactionInput,
  voteInput,
} from '../../dist/engine/protocol/signing.js';
import type { BlockChecked, BlockToCheck, Verdict } from './messages.js';

type Body = Readonly<Record<string, unknown>>;

/** Minimum size of a personality whose unanimous rejection is a veto. */
const VETO_VOTES = 3;

export async function checkBlock(block: BlockToCheck): Promise<BlockChecked> {
  const { hash, proposal, producer, network_id, electorate, votes, signed } = block;
  const weights = new Map(electorate.map(({ agent_id, weight }) => [agent_id, weight]));
  const verdict = async (input: string, key: unknown, signature: unknown): Promise<Verdict> =>
    !signed ? 'unchecked' : (await holds(input, key, signature)) ? 'holds' : 'failed';
  const transactions = Array.isArray(proposal.transactions)
    ? (proposal.transactions as Body[])
    : [];
  const counted = new Map<string, string>();
  const tally = { approve: 0, reject: 0 };
  const verdicts = await Promise.all(
    votes.map(({ public_key, vote }) => verdict(voteInput(vote), public_key, vote.signature)),
  );
  for (const [place, { public_key, vote }] of votes.entries()) {
    const id = agentId(public_key);
    const weight = weights.get(id);
    const { decision } = vote;
    const same = String(vote.block_hash).toLowerCase() === hash;
    if (!same || weight === undefined || counted.has(id)) verdicts[place] = 'failed';
    if (verdicts[place] === 'failed' || weight === undefined) continue;
    if (decision !== 'approve' && decision !== 'reject') continue;
    counted.set(id, decision);
    tally[decision] += weight;
  }
  return {
    hash: blockHash(proposal, producer, network_id) === hash,
    proposal: await verdict(proposalInput(proposal), producer, proposal.signature),
    transactions: await Promise.all(
      transactions.map(async ({ data, hash: of, sender = producer, signature }) => {
        const fits = typeof of === 'string' && sha256Hex(String(data)) === of.toLowerCase();
        if (!fits) return 'failed';
        return verdict(transactionInput(network_id, of), sender, signature);
      }),
    ),
    votes: verdicts,
    tally,
    outcome: outcomeOf(block, counted, tally),
    by: signed ? await webVerifierName() : null,
  };
}

/** Decides the block as if its deadline had been reached right after the last vote. */
function outcomeOf(
  { electorate, rule }: BlockToCheck,
  counted: ReadonlyMap<string, string>,
  { approve, reject }: { approve: number; reject: number },
): string {
  const total = electorate.reduce((sum, { weight }) => sum + weight, 0);
  const groups = new Map<string, { size: number; against: number }>();
  for (const { agent_id, personality } of electorate) {
    const group = groups.get(personality) ?? { size: 0, against: 0 };
    group.size += 1;
    if (counted.get(agent_id) === 'reject') group.against += 1;
    groups.set(personality, group);
  }
  const vetoed = [...groups.values()].some(
    ({ size, against }) => size >= VETO_VOTES && against === size,
  );
  const of = { approve, reject, total, voted: counted.size, electors: electorate.length, vetoed };
  return decide(rule as QuorumRule, of, true) ?? 'voting';
}

const encoder = new TextEncoder();

/** Returns true if the signature is valid. The key and the signature may be malformed. */
export async function holds(input: string, key: unknown, signature: unknown): Promise<boolean> {
  if (!isHex(key, 64) || !isHex(signature, 128)) return false;
  const message = encoder.encode(input);
  return verifyWeb({ publicKey: bytesOf(key), message, signature: bytesOf(signature) });
}

const isHex = (text: unknown, characters: number): text is string =>
  typeof text === 'string' && text.length === characters && /^[0-9a-f]+$/i.test(text);

const bytesOf = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
