/** Policies and weights: blocks that are finalized, rejected, expire or are orphaned. */
import { composeTransaction, type GenesisOptions } from '../../../engine/internal.js';
import type { Actor, Case, Stage } from '../harness.js';
import { allied, open, posted, vote, votes } from './requests.js';

type Rules = Pick<Partial<GenesisOptions>, 'policy' | 'weights' | 'participation_bps'>;

/** Seven validators of two personalities, among them three producers. */
async function settle(stage: Stage): Promise<Actor[]> {
  return [
    ...(await stage.joinMany(3, ['validator', 'producer'], { personality: 'lawful' })),
    ...(await stage.joinMany(4, ['validator'], { personality: 'chaotic' })),
  ];
}

async function play(stage: Stage): Promise<void> {
  const all = await settle(stage);
  const [ada, bob, cem] = all as [Actor, Actor, Actor];
  const image = await posted(stage, all[6]!, 'a meme');
  await allied(stage, ada, [bob, all[3]!]);
  const pay = (data: string) => composeTransaction(ada, stage.networkId, data, true);
  const first = await open(stage, ada, { transactions: [pay('1'), pay('2')] });
  const sibling = await open(stage, bob);
  for (const one of all) await vote(stage, one, first, 'approve', [image]);
  await votes(stage, all.slice(0, 2), sibling);
  const second = await open(stage, cem);
  await votes(stage, all.slice(3), second, 'reject');
  await votes(stage, all.slice(0, 3), second);
  const third = await open(stage, bob, { transactions: [pay('3')] });
  await votes(stage, all.slice(0, 2), third);
  await vote(stage, all[5]!, third, 'reject');
  await vote(stage, all[5]!, third, 'approve');
  await stage.pass(30_000);
  await votes(stage, [all[4]!], third);
  await stage.pass(1);
  for (let count = 0; count < 4; count += 1) {
    const silent = await open(stage, ada);
    await votes(stage, all.slice(0, 3), silent, count % 2 === 0 ? 'approve' : 'reject');
    await stage.pass(40_000);
  }
  await stage.status(all[6]!, 'active');
  await votes(stage, all, await open(stage, ada));
  await stage.pass(65_001);
}

const named = (name: string, rules: Rules): Case => ({
  name,
  about: `policy ${rules.policy}, weights ${rules.weights}: every end of a block, dormancy`,
  genesis: rules,
  play,
});

export const policies: readonly Case[] = [
  named('bft-equal', { policy: 'bft', weights: 'equal' }),
  named('bft-reputation', { policy: 'bft', weights: 'reputation' }),
  named('bft-alliances', { policy: 'bft', weights: 'alliance_bonus' }),
  named('veto-equal', { policy: 'veto', weights: 'equal' }),
  named('majority-equal', { policy: 'majority', weights: 'equal' }),
  named('majority-turnout', {
    policy: 'majority',
    weights: 'reputation',
    participation_bps: 7_000,
  }),
];
