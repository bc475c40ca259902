/** Every way into an alliance and out of it, and what is refused on the way. */
import type { AnswerOf } from '../../../engine/internal.js';
import type { Actor, Case, Harness } from '../harness.js';
import { allied, answering, founding, leaving, open, votes } from './requests.js';

const found = async (harness: Harness, by: Actor, others: readonly Actor[], duration = 'PT1H') => {
  const request = founding(harness, by, others, { duration });
  return (await harness.do<AnswerOf['alliance_propose']>(request)).alliance_id;
};

export const alliances: Case = {
  name: 'alliance-lives',
  about: 'alliances that form, lapse, dissolve and expire; repeats after each; refusals',
  genesis: { weights: 'alliance_bonus' },
  async play(harness) {
    const [ada, bob, cem, dan] = (await harness.joinMany(4)) as [Actor, Actor, Actor, Actor];
    await harness.ask(founding(harness, ada, [ada]), 'oneself');
    await harness.ask(founding(harness, ada, [{ id: `agent_${'0'.repeat(32)}` }]), 'nobody');
    const ally = await found(harness, ada, [dan, cem, bob]);
    await harness.ask(leaving(harness, ada, ally), 'not formed');
    await harness.ask(answering(harness, ada, ally, true), 'the founder has answered');
    const accept = answering(harness, cem, ally, true);
    await harness.ask(accept);
    const decline = answering(harness, bob, ally, false);
    await harness.ask(decline);
    await harness.ask(answering(harness, bob, ally, true), 'an answer is given once');
    await harness.ask(leaving(harness, bob, ally), 'no member');
    await harness.ask(answering(harness, dan, ally, true));
    const leave = leaving(harness, cem, ally);
    await harness.ask(leave);
    for (const again of [accept, decline, leave]) await harness.ask(again, 'a repeat');
    await votes(harness, [ada, bob, cem], await open(harness, ada));
    await harness.ask(leaving(harness, ada, ally), 'the founder leaves');
    for (const again of [accept, decline, leave]) await harness.ask(again, 'a repeat');
    await harness.ask(leaving(harness, dan, ally), 'over');
    await endings(harness, [ada, bob, cem, dan]);
    await limits(harness, ada);
    await harness.pass(600_001);
    await harness.ask(accept, 'forgotten');
  },
};

async function endings(harness: Harness, [ada, bob, cem, dan]: readonly Actor[]): Promise<void> {
  const declined = await found(harness, ada!, [bob!]);
  await harness.ask(answering(harness, bob!, declined, false), 'the last one declines');
  const lapsing = await found(harness, ada!, [bob!, cem!]);
  await harness.ask(answering(harness, dan!, lapsing, true), 'not invited');
  await harness.pass(60_000);
  await harness.pass(1);
  await harness.ask(answering(harness, cem!, lapsing, true), 'too late');
  const short = await allied(harness, ada!, [bob!], { duration: 'PT1M' });
  await harness.pass(60_001);
  await harness.ask(leaving(harness, bob!, short), 'expired');
  await harness.status(dan!, 'inactive');
  const sleepy = await found(harness, ada!, [dan!]);
  await harness.ask(answering(harness, dan!, sleepy, true), 'not active');
  await harness.ask(answering(harness, dan!, `ally_${'0'.repeat(32)}`, true), 'unknown');
  await harness.status(dan!, 'active');
}

async function limits(harness: Harness, ada: Actor): Promise<void> {
  const others = await harness.joinMany(5, ['validator']);
  for (const other of others) await harness.ask(founding(harness, ada, [other]), 'five at most');
  await harness.ask(founding(harness, ada, [others[0]!]), 'one too many');
}
