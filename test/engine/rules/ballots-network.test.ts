/** Networks with named rules that count ballots: requests, outcomes and certificates. */
import { checkCertificate } from 'folkmoot';
import { expect, test } from 'vitest';
import { composeVote } from '../../../dist/engine/protocol/compose.js';
import { temporaryFolder } from '../../support/fixture.js';
import { certificateOf } from '../certificate/town.js';
import { answerOf, newPopulation, refusalOf } from '../helpers.js';

const options = ['a', 'b', 'c'].map((name) => ({ name }));

const ranked = ['abc', 'abc', 'bca', 'cba', 'cba'].map((ranking) => ({ ranking: [...ranking] }));
const approved = ['a', 'ab', 'bc', 'bc', 'c'].map((names) => ({ approved: [...names] }));
const named = ['c', 'a', 'a', 'b', 'a'].map((option) => ({ option }));
const scored = [9, 9, 0, 0, 0].map((score) => ({ scores: { a: score, b: 4 } }));

test.each([
  ['schulze', ranked, 'b', { a: 0, b: 2, c: 1 }],
  ['ranked_pairs', ranked, 'b', { a: 0, b: 2, c: 1 }],
  ['borda', ranked, 'b', { a: 4, b: 6, c: 5 }],
  ['instant_runoff', ranked, 'c', { a: 2, b: 1, c: 3 }],
  ['approval', approved, 'b', { a: 2, b: 3, c: 3 }],
  ['proportional', approved, 'b', { a: 1, b: 3, c: 2 }],
  ['plurality', named, 'a', { a: 3, b: 1, c: 1 }],
  ['score', scored, 'b', { a: 18, b: 20, c: 0 }],
])('network: %s chooses by ballots, and its certificate holds', async (...of) => {
  const [policy, ballots, choice, standings] = of;
  const path = temporaryFolder();
  const people = await newPopulation({ path, genesis: { policy }, verifier: 'inline' });
  const agents = await people.joinMany(5, ['validator', 'producer']);
  const hash = await people.open(agents[0]!, { options });
  for (const [position, ballot] of ballots.entries()) {
    const fields = { block_hash: hash, decision: 'approve' as const, ballot };
    answerOf(await people.submit(composeVote(agents[position]!, people.stamp(), fields)));
  }
  const block = people.network.read.block(hash)!;
  expect(block).toMatchObject({ status: 'finalized', choice, standings });
  const checked = checkCertificate(await certificateOf({ path }, hash));
  expect(checked).toMatchObject({ holds: true, claim: { status: 'finalized', choice } });
});

test('network: a refused ballot counts as no vote', async () => {
  const people = await newPopulation({ genesis: { policy: 'schulze' }, verifier: 'inline' });
  const agents = await people.joinMany(2, ['validator', 'producer']);
  const hash = await people.open(agents[0]!, { options });
  const vote = (option: string) => {
    const fields = { block_hash: hash, decision: 'approve' as const };
    const ballot = { ranking: [option] };
    return people.submit(composeVote(agents[1]!, people.stamp(), { ...fields, ballot }));
  };
  expect(refusalOf(await vote('x'))).toMatchObject({ pointer: '/ballot' });
  answerOf(await vote('b'));
  expect(refusalOf(await vote('a'))).toMatchObject({ reason: 'ALREADY_VOTED' });
});

test('network: weight follows delegations', async () => {
  const people = await newPopulation({ genesis: { policy: 'liquid' }, verifier: 'inline' });
  const agents = await people.joinMany(5, ['validator', 'producer']);
  const hash = await people.open(agents[0]!);
  const delegate = agents[0]!.id;
  for (const [position, agent] of agents.entries()) {
    const ballot = position > 0 && position < 4 ? { ballot: { delegate } } : {};
    const decision = position === 0 ? 'reject' : 'approve';
    const fields = { block_hash: hash, decision, ...ballot } as const;
    answerOf(await people.submit(composeVote(agent, people.stamp(), fields)));
  }
  const standings = { approve: 1, reject: 4, delegated: 3 };
  expect(people.network.read.block(hash)).toMatchObject({ status: 'rejected', standings });
});
