/** How a scripted producer makes a block: when it sees no rival, with what it has. */
import { composeProposal, composeTransaction } from '../../../engine/internal.js';
import { blockHash } from '../../../engine/protocol/signing.js';
import type { Stream } from '../../rng.js';
import type { ScriptedAgent } from '../port/agent.js';
import { soundness } from '../port/content.js';
import type { World } from '../port/world.js';
import { memeText, transactionData } from './content.js';

export interface Making {
  /** The share of its transactions that add up; else the personality's care. */
  care?: number;
  /** Whose transactions stay out. */
  leaveOut?: string;
  /** Also while others' blocks are in voting. */
  insists?: boolean;
  /** How many transactions; else drawn by the scenario. */
  transactions?: number;
}

/** Proposes a block on the head that the agent knows of, unless one is in voting there already. */
export function produce(agent: ScriptedAgent, world: World, making: Making = {}): void {
  const head = world.head(agent.ordinal);
  const insists = making.insists ?? world.scenario.producers.insist;
  if (insists ? head.own : head.contested) return;
  const number = agent.proposals;
  const rng = agent.rng('blocks', { place: agent.ordinal, number });
  const { transactions: range, memes } = world.scenario.producers;
  const count = making.transactions ?? range.least + rng.int(range.most - range.least + 1);
  const signed = Array.from({ length: count }, (_, index) =>
    transaction(agent, world, making, index, rng),
  );
  const transactions = signed.map(({ made }) => made);
  const hasMeme = rng.chance(memes);
  const meme = { type: 'text', content: memeText(head.hash, 'approve', rng), tags: ['pro'] };
  const last = transactions.at(-1);
  const additions = last ? { [`ledger/${agent.ordinal}`]: last.hash } : {};
  const timestamp = world.stamp(agent.ordinal);
  const fields = {
    parent_hash: head.hash,
    transactions,
    state_diff: { additions, deletions: {} },
    ...(hasMeme ? { meme_content: meme } : {}),
  };
  const block = blockHash({ ...fields, timestamp }, agent.by.publicKey, world.networkId);
  const senders = signed.map(({ sender }) => sender);
  world.noteContent({
    block,
    number,
    soundness: soundness(transactions),
    hasMeme,
    transactions: transactions.map(({ data }) => data),
    senders,
  });
  agent.proposals += 1;
  world.send(agent.ordinal, composeProposal(agent.by, timestamp, fields));
}

function transaction(
  agent: ScriptedAgent,
  world: World,
  { care, leaveOut }: Making,
  index: number,
  rng: Stream,
) {
  const sender = senderOf(agent, world, leaveOut, rng);
  const sound = rng.chance(care ?? agent.personality.care);
  // Unique for the sender: who produces, when, and which of the block's.
  const nonce = (world.now - world.startMs) * 1000 + index;
  const data = transactionData(agent.ordinal, nonce, sound, rng);
  const own = sender === agent.ordinal;
  const by = own ? agent.by : world.signatoryOf(sender);
  return { sender, made: composeTransaction(by, world.networkId, data, !own) };
}

/** Neighbours are asked until one is found that is not left out; else it is the producer's own. */
function senderOf(
  agent: ScriptedAgent,
  world: World,
  leaveOut: string | undefined,
  rng: Stream,
): number {
  const neighbours = world.neighbours(agent.ordinal);
  if (world.scenario.producers.senders === 'own' || neighbours.length === 0) return agent.ordinal;
  for (let tries = 0; tries < neighbours.length; tries += 1) {
    const sender = rng.pick(neighbours);
    if (world.groupOf(sender) !== leaveOut) return sender;
  }
  return agent.ordinal;
}
