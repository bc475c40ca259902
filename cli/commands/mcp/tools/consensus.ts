/** Tools of consensus: propose a block, vote on one, speak about one. */
import { DiscussBody, Type, VoteBody } from '../../../../engine/internal.js';
import { given } from '../../../options/client.js';
import { marked, sentence } from '../untrusted.js';
import { blockHash, described, MOST_TRANSACTIONS, memes, oneOf } from './fields.js';
import { type Tool, tool } from './tool.js';

const vote = tool({
  name: 'vote',
  synonyms: { id: 'block_hash', hash: 'block_hash', block: 'block_hash', vote: 'decision' },
  title: 'Vote on a block',
  description:
    'Votes on a block in voting (look at "voting"), if this agent is in its electorate: it ' +
    'was an active validator when the block was proposed. The first vote counts and cannot ' +
    'be changed: a second, different one is refused and costs reputation. The answer has ' +
    'the tally, in weight; the block is finalized when "approve" reaches "needed".',
  input: {
    block_hash: blockHash,
    decision: oneOf(['approve', 'reject'], 'What the vote says.'),
    reason: Type.Optional(described(VoteBody.properties.reason, 'Why: everybody can read it.')),
    meme_references: memes,
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ block_hash, decision, reason, meme_references }, { by }) {
    const fields = { block_hash, decision, ...given({ reason, meme_references }) };
    const answer = await by.client.vote(fields);
    const { approve, reject, needed } = answer.tally;
    const said = sentence`Voted ${decision}: the block is ${answer.block_status}, with a weight of \
${approve} for it, ${reject} against it and ${needed} needed.`;
    return { said, data: marked(answer) as Record<string, unknown> };
  },
});

const propose = tool({
  name: 'propose',
  title: 'Propose a block',
  description:
    'Proposes a block on the present head, with transactions that this agent signs and ' +
    'changes of the shared state. Needs the capability "producer". An agent has one block ' +
    'in voting at a time. Then wait for its outcome, and vote on it too if the agent is a ' +
    'validator.',
  input: {
    transactions: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
        maxItems: MOST_TRANSACTIONS,
        description: 'Texts, of which each becomes a signed transaction; the same one only once.',
      }),
    ),
    set: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          maxProperties: 1_000,
          description:
            'Keys of the shared state (ASCII without blanks) with their new JSON values.',
        },
      ),
    ),
    delete: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 1000,
        description: 'Keys of the shared state that are removed.',
      }),
    ),
  },
  hints: { destructiveHint: false },
  acts: true,
  async call({ transactions = [], set = {}, delete: removed = [] }, { by }) {
    const deletions = Object.fromEntries(removed.map((key) => [key, true]));
    const changes = Object.keys(set).length + removed.length > 0;
    const answer = await by.client.propose({
      transactions,
      ...(changes ? { state_diff: { additions: { ...set }, deletions } } : {}),
    });
    const said = sentence`Proposed block ${answer.block_hash} at height ${answer.height} to \
${answer.electorate} electors; voting ends at ${answer.voting_deadline}.`;
    return { said, data: marked(answer) as Record<string, unknown> };
  },
});

const discuss = tool({
  name: 'discuss',
  synonyms: { id: 'block_hash', hash: 'block_hash', block: 'block_hash', text: 'message' },
  title: 'Speak about a block',
  description:
    'Says something about a block in voting. Everybody can read it, and electors may heed it.',
  input: {
    block_hash: blockHash,
    message: described(DiscussBody.properties.message, 'What to say.'),
    sentiment: Type.Optional(
      oneOf(['positive', 'negative', 'neutral'], 'Its tone towards the block. Default: neutral.'),
    ),
    meme_references: memes,
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ block_hash, message, sentiment = 'neutral', meme_references }, { by }) {
    const fields = { block_hash, message, sentiment, ...given({ meme_references }) };
    const answer = await by.client.discuss(fields);
    const said = sentence`Said it about block ${block_hash}.`;
    return { said, data: marked(answer) as Record<string, unknown> };
  },
});

export const consensusTools: readonly Tool[] = [vote, propose, discuss];
