/** Policies and weights: blocks that are finalized, rejected, expire or are orphaned. */
import { composeTransaction, type GenesisOptions } from '../../../engine/internal.js';
import type { Actor, Case, Harness } from '../harness.js';
import { allied, open, posted, vote, votes } from './requests.js';

type Rules = Pick<Partial<GenesisOptions>, 'policy' | 'weights' | 'participation_bps'>;

/** Seven validators of two personalities, among them three producers. */
async function settle(harness: Harness): Promise<Actor[]> {
  return [
    ...(await harness.joinMany(3, ['validator', 'producer'], { personality: 'lawful' })),
    ...(await harness.joinMany(4, ['validator'], { personality: 'chaotic' })),
  ];
}

async function play(harness: Harness): Promise<void> {
  const all = await settle(harness);
  const [ada, bob, cem] = all as [Actor, Actor, Actor];
  const image = await posted(harness, all[6]!, 'a meme');
  await allied(harness, ada, [bob, all[3]!]);
  const pay = (data: string) => composeTransaction(ada, harness.networkId, data, true);
  const first = await open(harness, ada, { transactions: [pay('1'), pay('2')] });
  const sibling = await open(harness, bob);
  for (const one of all) await vote(harness, one, first, 'approve', [image]);
  await votes(harness, all.slice(0, 2), sibling);
  const second = await open(harness, cem);
  await votes(harness, all.slice(3), second, 'reject');
  await votes(harness, all.slice(0, 3), second);
  const third = await open(harness, bob, { transactions: [pay('3')] });
  await votes(harness, all.slice(0, 2), third);
  await vote(harness, all[5]!, third, 'reject');
  await vote(harness, all[5]!, third, 'approve');
  await harness.pass(30_000);
  await votes(harness, [all[4]!], third);
  await harness.pass(1);
  for (let count = 0; count < 4; count += 1) {
    const silent = await open(harness, ada);
    await votes(harness, all.slice(0, 3), silent, count % 2 === 0 ? 'approve' : 'reject');
    await harness.pass(40_000);
  }
  await harness.status(all[6]!, 'active');
  await votes(harness, all, await open(harness, ada));
  await harness.pass(65_001);
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
