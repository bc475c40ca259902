/** How a scripted producer makes a block: when it sees no rival, with what it has. */
import {
  composeProposal,
  composeTransaction,
  formatInstant,
  type Signatory,
} from '../../engine/index.js';
import { blockHash } from '../../engine/signing.js';
import type { World } from '../world.js';
import { type ScriptedAgent, takeTurn } from './agent.js';
import { careful, memeText, soundness, transactionData } from './content.js';

const MOST_TRANSACTIONS = 5;
const MEME_PERMILLE = 300;
/** Looks again after this long even when it heard of nothing. */
const RETRY_MS = 30_000;

export function propose(agent: ScriptedAgent, world: World): void {
  const chance = agent.chance('blocks');
  takeTurn(agent, world, world.now + RETRY_MS + chance.int(RETRY_MS));
  const head = world.head(agent.ordinal);
  if (head.contested) return;
  const timestamp = formatInstant(world.now);
  const count = 1 + chance.int(MOST_TRANSACTIONS);
  const transactions = Array.from({ length: count }, (_, index) => {
    const sound = careful(agent.personality, chance);
    const data = transactionData(agent.ordinal, world.now * 10 + index, sound, chance);
    return composeTransaction(agent.by, world.networkId, data, false);
  });
  const hasMeme = chance.chance(MEME_PERMILLE);
  const meme = { type: 'text', content: memeText(head.hash, 'approve', chance), tags: ['pro'] };
  const additions = { [`ledger/${agent.ordinal}`]: transactions.map(({ hash }) => hash) };
  const fields = {
    parent_hash: head.hash,
    transactions,
    state_diff: { additions, deletions: {} },
    ...(hasMeme ? { meme_content: meme } : {}),
  };
  const hash = hashOf(agent.by, world, { ...fields, timestamp });
  world.publish(hash, soundness(transactions), hasMeme);
  world.send(agent.ordinal, composeProposal(agent.by, timestamp, fields));
}

function hashOf(by: Signatory, world: World, body: Record<string, unknown>): string {
  return blockHash(body, by.publicKey, world.networkId);
}
