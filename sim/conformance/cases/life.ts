/** The usual life of a network, each request once and again; and what the engine refuses. */
import {
  type AnswerOf,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  GENESIS_HASH,
} from '../../../engine/internal.js';
import type { Case } from '../harness.js';
import {
  answering,
  discuss,
  founding,
  leaving,
  meme,
  open,
  posted,
  proposal,
  vote,
  votes,
} from './requests.js';

export const life: Case = {
  name: 'life',
  about: 'each kind of request, done, then done again as a repeat; reputations move',
  async play(harness) {
    const [ada, bob, cem, dan] = await harness.joinMany(4);
    const image = await posted(harness, bob!, 'a meme');
    const transactions = [
      composeTransaction(ada!, harness.networkId, '{"type":"pay"}', false),
      composeTransaction(cem!, harness.networkId, ' {"type":"Pay"}', true),
    ];
    const state_diff = { additions: { b: [1.5, null], a: { z: 1, é: 'x' } }, deletions: { c: 0 } };
    const meme_content = { type: 'text', content: 'gm', tags: ['B', 'a', 'b'] };
    const first = await open(harness, ada!, { transactions, state_diff, meme_content });
    await discuss(harness, bob!, first, [image]);
    await vote(harness, cem!, first, 'reject', [image]);
    for (const by of [ada!, bob!, dan!]) await vote(harness, by, first, 'approve', [image]);
    await vote(harness, cem!, first, 'approve');
    const next = { additions: { c: 1 }, deletions: { a: null, absent: null } };
    const second = await open(harness, bob!, { state_diff: next });
    await votes(harness, [ada!, bob!, cem!], second);
    await votes(harness, [ada!, bob!, cem!], await open(harness, cem!), 'reject');
    await harness.status(cem!, 'maintenance');
    const { alliance_id } = await harness.do<AnswerOf['alliance_propose']>(
      founding(harness, ada!, [bob!]),
    );
    await harness.ask(answering(harness, bob!, alliance_id, true));
    await harness.ask(leaving(harness, bob!, alliance_id));
    for (const { request, input } of [...harness.played]) {
      if (request) await harness.ask(request, `line ${input.line} again`);
    }
    await harness.pass(600_000);
    await harness.ask(leaving(harness, bob!, alliance_id), 'not the same request');
  },
};

export const refusals: Case = {
  name: 'refusals',
  about: 'what the engine refuses of agents, votes, proposals and words',
  genesis: { min_validators: 2 },
  async play(harness) {
    const lone = await harness.join();
    await harness.ask(proposal(harness, lone), 'too few validators');
    const [ada, bob, producer, validator] = [
      await harness.join(),
      await harness.join(),
      await harness.join(['producer']),
      await harness.join(['validator']),
    ];
    const unknown = { block_hash: 'b'.repeat(64), decision: 'approve' } as const;
    await harness.ask(composeVote(ada, harness.stamp(), unknown), 'an unknown block');
    const nobody = `agent_${'0'.repeat(32)}`;
    await harness.ask(composeStatus(ada, harness.stamp(), nobody, { status: 'active' }), 'unknown');
    await harness.ask(
      composeStatus(ada, harness.stamp(), bob.id, { status: 'active' }),
      'another one',
    );
    await harness.status(bob, 'active');
    const old = '2024-12-31T00:00:00Z';
    await harness.ask(
      composeStatus(bob, old, bob.id, { status: 'inactive' }),
      'older than the last',
    );
    const profile = { name: 'other', personality: 'p', capabilities: ['validator'] as const };
    await harness.ask(composeRegister(ada, harness.stamp(), profile), 'other data');
    await harness.ask(proposal(harness, validator), 'no producer');
    await harness.ask(proposal(harness, ada, { parent_hash: 'c'.repeat(64) }), 'another parent');
    const one = composeTransaction(ada, harness.networkId, 'one', false);
    const block = await open(harness, ada, { transactions: [one] });
    await harness.ask(proposal(harness, ada), 'a second open block');
    await vote(harness, producer, block);
    const late = await harness.join(['validator']);
    await vote(harness, late, block);
    await vote(harness, ada, block, 'approve', [`meme_${'0'.repeat(32)}`]);
    await discuss(harness, ada, block, [`meme_${'0'.repeat(32)}`]);
    await discuss(harness, ada, 'b'.repeat(64));
    await harness.status(bob, 'inactive');
    await vote(harness, bob, block);
    await harness.ask(proposal(harness, bob), 'not active');
    await meme(harness, bob, Buffer.from('gm'));
    await discuss(harness, bob, block);
    await harness.status(bob, 'active');
    await votes(harness, [lone, ada, bob], block);
    await vote(harness, validator, block);
    await discuss(harness, ada, block);
    for (const times of [1, 2]) await vote(harness, ada, block, 'reject', times === 1 ? [] : []);
    await harness.ask(proposal(harness, ada, { parent_hash: GENESIS_HASH }), 'a stale parent');
    await harness.ask(proposal(harness, ada, { transactions: [one] }), 'a final transaction');
    await crowd(harness);
  },
};

/** More blocks than can be open. */
async function crowd(harness: Parameters<Case['play']>[0]): Promise<void> {
  const producers = await harness.joinMany(9, ['producer']);
  for (const by of producers)
    await harness.ask(composeProposal(by, harness.stamp(), onHead(harness)));
}

const onHead = (harness: { head: string }) => ({ parent_hash: harness.head, transactions: [] });

export const quota: Case = {
  name: 'quota',
  about: 'files of 1 MiB until an agent has used up its 64 MiB',
  async play(harness) {
    const ada = await harness.join();
    for (let index = 0; index < 65; index += 1) {
      await meme(harness, ada, new Uint8Array(1_048_576).fill(0x61), [`t${index}`]);
    }
    await meme(harness, ada, Buffer.from('a'), ['one-more']);
  },
};
