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
  async play(stage) {
    const [ada, bob, cem, dan] = await stage.joinMany(4);
    const image = await posted(stage, bob!, 'a meme');
    const transactions = [
      composeTransaction(ada!, stage.networkId, '{"type":"pay"}', false),
      composeTransaction(cem!, stage.networkId, ' {"type":"Pay"}', true),
    ];
    const state_diff = { additions: { b: [1.5, null], a: { z: 1, é: 'x' } }, deletions: { c: 0 } };
    const meme_content = { type: 'text', content: 'gm', tags: ['B', 'a', 'b'] };
    const first = await open(stage, ada!, { transactions, state_diff, meme_content });
    await discuss(stage, bob!, first, [image]);
    await vote(stage, cem!, first, 'reject', [image]);
    for (const by of [ada!, bob!, dan!]) await vote(stage, by, first, 'approve', [image]);
    await vote(stage, cem!, first, 'approve');
    const next = { additions: { c: 1 }, deletions: { a: null, absent: null } };
    const second = await open(stage, bob!, { state_diff: next });
    await votes(stage, [ada!, bob!, cem!], second);
    await votes(stage, [ada!, bob!, cem!], await open(stage, cem!), 'reject');
    await stage.status(cem!, 'maintenance');
    const { alliance_id } = await stage.do<AnswerOf['alliance_propose']>(
      founding(stage, ada!, [bob!]),
    );
    await stage.ask(answering(stage, bob!, alliance_id, true));
    await stage.ask(leaving(stage, bob!, alliance_id));
    for (const { request, input } of [...stage.played]) {
      if (request) await stage.ask(request, `line ${input.line} again`);
    }
    await stage.pass(600_000);
    await stage.ask(leaving(stage, bob!, alliance_id), 'not the same request');
  },
};

export const refusals: Case = {
  name: 'refusals',
  about: 'what the engine refuses of agents, votes, proposals and words',
  genesis: { min_validators: 2 },
  async play(stage) {
    const lone = await stage.join();
    await stage.ask(proposal(stage, lone), 'too few validators');
    const [ada, bob, producer, validator] = [
      await stage.join(),
      await stage.join(),
      await stage.join(['producer']),
      await stage.join(['validator']),
    ];
    const unknown = { block_hash: 'b'.repeat(64), decision: 'approve' } as const;
    await stage.ask(composeVote(ada, stage.stamp(), unknown), 'an unknown block');
    const nobody = `agent_${'0'.repeat(32)}`;
    await stage.ask(composeStatus(ada, stage.stamp(), nobody, { status: 'active' }), 'unknown');
    await stage.ask(composeStatus(ada, stage.stamp(), bob.id, { status: 'active' }), 'another one');
    await stage.status(bob, 'active');
    const old = '2024-12-31T00:00:00Z';
    await stage.ask(composeStatus(bob, old, bob.id, { status: 'inactive' }), 'older than the last');
    const profile = { name: 'other', personality: 'p', capabilities: ['validator'] as const };
    await stage.ask(composeRegister(ada, stage.stamp(), profile), 'other data');
    await stage.ask(proposal(stage, validator), 'no producer');
    await stage.ask(proposal(stage, ada, { parent_hash: 'c'.repeat(64) }), 'another parent');
    const one = composeTransaction(ada, stage.networkId, 'one', false);
    const block = await open(stage, ada, { transactions: [one] });
    await stage.ask(proposal(stage, ada), 'a second open block');
    await vote(stage, producer, block);
    const late = await stage.join(['validator']);
    await vote(stage, late, block);
    await vote(stage, ada, block, 'approve', [`meme_${'0'.repeat(32)}`]);
    await discuss(stage, ada, block, [`meme_${'0'.repeat(32)}`]);
    await discuss(stage, ada, 'b'.repeat(64));
    await stage.status(bob, 'inactive');
    await vote(stage, bob, block);
    await stage.ask(proposal(stage, bob), 'not active');
    await meme(stage, bob, Buffer.from('gm'));
    await discuss(stage, bob, block);
    await stage.status(bob, 'active');
    await votes(stage, [lone, ada, bob], block);
    await vote(stage, validator, block);
    await discuss(stage, ada, block);
    for (const times of [1, 2]) await vote(stage, ada, block, 'reject', times === 1 ? [] : []);
    await stage.ask(proposal(stage, ada, { parent_hash: GENESIS_HASH }), 'a stale parent');
    await stage.ask(proposal(stage, ada, { transactions: [one] }), 'a final transaction');
    await crowd(stage);
  },
};

/** More blocks than can be open. */
async function crowd(stage: Parameters<Case['play']>[0]): Promise<void> {
  const producers = await stage.joinMany(9, ['producer']);
  for (const by of producers) await stage.ask(composeProposal(by, stage.stamp(), onHead(stage)));
}

const onHead = (stage: { head: string }) => ({ parent_hash: stage.head, transactions: [] });

export const quota: Case = {
  name: 'quota',
  about: 'files of 1 MiB until an agent has used up its 64 MiB',
  async play(stage) {
    const ada = await stage.join();
    for (let index = 0; index < 65; index += 1) {
      await meme(stage, ada, new Uint8Array(1_048_576).fill(0x61), [`t${index}`]);
    }
    await meme(stage, ada, Buffer.from('a'), ['one-more']);
  },
};
