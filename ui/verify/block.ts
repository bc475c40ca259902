/**
 * Checks a block's hashes, signatures, weights and tally from its signed requests alone. The check
 * trusts nothing that the server claims about these values.
 */
import { verifyWeb, webVerifierName } from '../../dist/engine/crypto/webcrypto.js';
import {
  agentId,
  blockHash,
  proposalInput,
  sha256Hex,
  transactionInput,
  voteInput,
} from '../../dist/engine/protocol/signing.js';
import { type NetworkRule, RuleUnavailable, ruleOf } from '../../dist/engine/rules/network-rule.js';
import { createElectors, PollCounter } from '../../dist/engine/rules/poll-counter.js';
import type { PollBlock } from '../../dist/engine/rules/rule.js';
import type { BlockChecked, BlockToCheck, Outcome, Verdict } from './messages.js';

type Body = Readonly<Record<string, unknown>>;

export async function checkBlock(block: BlockToCheck): Promise<BlockChecked> {
  const { hash, proposal, producer, network_id, electorate, votes, signed } = block;
  const weights = new Map(electorate.map(({ agent_id, weight }) => [agent_id, weight]));
  const verdict = async (input: string, key: unknown, signature: unknown): Promise<Verdict> =>
    !signed ? 'unchecked' : (await holds(input, key, signature)) ? 'holds' : 'failed';
  const transactions = Array.isArray(proposal.transactions)
    ? (proposal.transactions as Body[])
    : [];
  const rule = ruleHere(block);
  const poll = pollOf(block, rule);
  const counted = new Map<string, Vote>();
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
    const { ballot } = vote;
    if (rule?.findBallotProblem(ballot, poll)) verdicts[place] = 'failed';
    if (verdicts[place] === 'failed') continue;
    counted.set(id, { decision, ballot });
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
    outcome: rule && outcomeOf(rule, poll, block, counted),
    by: signed ? await webVerifierName() : null,
  };
}

interface Vote {
  decision: 'approve' | 'reject';
  ballot?: unknown;
}

/** Returns the network's rule, or null if this page does not run it. */
function ruleHere({ rule }: BlockToCheck): NetworkRule | null {
  try {
    return ruleOf(rule);
  } catch (error) {
    if (error instanceof RuleUnavailable) return null;
    throw error;
  }
}

/** Returns the part of the block that its rule sees. */
function pollOf({ hash, proposal }: BlockToCheck, rule: NetworkRule | null): PollBlock {
  const { options } = proposal;
  const isUsed = rule?.usesOptions && Array.isArray(options);
  return {
    hash,
    height: 0,
    options: isUsed ? (options as Body[]).map(({ name }) => `${name}`) : [],
  };
}

/** Decides the block as if its deadline had been reached right after the last vote. */
function outcomeOf(
  rule: NetworkRule,
  poll: PollBlock,
  { electorate }: BlockToCheck,
  counted: ReadonlyMap<string, Vote>,
): Outcome {
  const electors = electorate.map((elector, place) => {
    return { ...elector, agent: elector.number ?? place };
  });
  const places = new Map(electorate.map(({ agent_id }, place) => [agent_id, place]));
  const counter = new PollCounter(rule, poll, createElectors(electors));
  for (const [agent_id, vote] of counted) {
    const elector = places.get(agent_id)!;
    const { personality } = electorate[elector]!;
    counter.add({ ...vote, elector, agent_id, personality, ms: 0 });
  }
  const { status, choice, standings } = counter.verdict(true);
  const tied = status === 'finalized' ? counter.findTie() : null;
  return { status: status ?? 'voting', choice, standings, tied };
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
