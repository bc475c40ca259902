/** Every way into an alliance and out of it, and what is refused on the way. */
import type { AnswerOf } from '../../../engine/internal.js';
import type { Actor, Case, Stage } from '../harness.js';
import { allied, answering, founding, leaving, open, votes } from './requests.js';

const found = async (stage: Stage, by: Actor, others: readonly Actor[], duration = 'PT1H') => {
  const request = founding(stage, by, others, { duration });
  return (await stage.do<AnswerOf['alliance_propose']>(request)).alliance_id;
};

export const alliances: Case = {
  name: 'alliance-lives',
  about: 'alliances that form, lapse, dissolve and expire; repeats after each; refusals',
  genesis: { weights: 'alliance_bonus' },
  async play(stage) {
    const [ada, bob, cem, dan] = (await stage.joinMany(4)) as [Actor, Actor, Actor, Actor];
    await stage.ask(founding(stage, ada, [ada]), 'oneself');
    await stage.ask(founding(stage, ada, [{ id: `agent_${'0'.repeat(32)}` }]), 'nobody');
    const ally = await found(stage, ada, [dan, cem, bob]);
    await stage.ask(leaving(stage, ada, ally), 'not formed');
    await stage.ask(answering(stage, ada, ally, true), 'the founder has answered');
    const accept = answering(stage, cem, ally, true);
    await stage.ask(accept);
    const decline = answering(stage, bob, ally, false);
    await stage.ask(decline);
    await stage.ask(answering(stage, bob, ally, true), 'an answer is given once');
    await stage.ask(leaving(stage, bob, ally), 'no member');
    await stage.ask(answering(stage, dan, ally, true));
    const leave = leaving(stage, cem, ally);
    await stage.ask(leave);
    for (const again of [accept, decline, leave]) await stage.ask(again, 'a repeat');
    await votes(stage, [ada, bob, cem], await open(stage, ada));
    await stage.ask(leaving(stage, ada, ally), 'the founder leaves');
    for (const again of [accept, decline, leave]) await stage.ask(again, 'a repeat');
    await stage.ask(leaving(stage, dan, ally), 'over');
    await endings(stage, [ada, bob, cem, dan]);
    await limits(stage, ada);
    await stage.pass(600_001);
    await stage.ask(accept, 'forgotten');
  },
};

async function endings(stage: Stage, [ada, bob, cem, dan]: readonly Actor[]): Promise<void> {
  const declined = await found(stage, ada!, [bob!]);
  await stage.ask(answering(stage, bob!, declined, false), 'the last one declines');
  const lapsing = await found(stage, ada!, [bob!, cem!]);
  await stage.ask(answering(stage, dan!, lapsing, true), 'not invited');
  await stage.pass(60_000);
  await stage.pass(1);
  await stage.ask(answering(stage, cem!, lapsing, true), 'too late');
  const short = await allied(stage, ada!, [bob!], { duration: 'PT1M' });
  await stage.pass(60_001);
  await stage.ask(leaving(stage, bob!, short), 'expired');
  await stage.status(dan!, 'inactive');
  const sleepy = await found(stage, ada!, [dan!]);
  await stage.ask(answering(stage, dan!, sleepy, true), 'not active');
  await stage.ask(answering(stage, dan!, `ally_${'0'.repeat(32)}`, true), 'unknown');
  await stage.status(dan!, 'active');
}

async function limits(stage: Stage, ada: Actor): Promise<void> {
  const others = await stage.joinMany(5, ['validator']);
  for (const other of others) await stage.ask(founding(stage, ada, [other]), 'five at most');
  await stage.ask(founding(stage, ada, [others[0]!]), 'one too many');
}
