/** Networks whose rule chooses an option: ballots, refusals, audit, replay and certificate. */
import { checkCertificate } from 'folkmoot';
import { Auditor } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { temporaryFolder, testNetwork } from '../../support/fixture.js';
import { replayHere } from '../../support/runs.js';
import { certificateOf } from '../certificate/town.js';
import { expectRefused, Population, refusalOf } from '../helpers.js';

const rankings = (...tiers: (string | string[])[]) => ({ ranking: tiers });
const approved = (...names: string[]) => ({ approved: names });

/** Five ballots over the options a, b and c, and the option that the rule chooses. */
const elections: [policy: string, ballots: unknown[], choice: string][] = [
  // Two first places each for a and b, one for c; a is first among equals.
  ['plurality', ['a', 'a', 'b', 'b', 'c'].map((option) => ({ option })), 'a'],
  ['approval', [approved('a'), approved('a', 'c'), approved('c'), approved('c'), {}], 'c'],
  // b beats a and c by three to two.
  [
    'schulze',
    [...Array(2).fill(rankings('a', 'b', 'c')), ...Array(2).fill(rankings('b', 'c', 'a'))].concat(
      rankings('c', 'b', 'a'),
    ),
    'b',
  ],
  // c is last of the first places, and its ballot goes to b.
  // b beats a and c by three to one each; a and c are equal in two ballots.
  ...['schulze', 'ranked_pairs', 'borda'].map((policy): [string, unknown[], string] => [
    policy,
    [
      ...[rankings('b', ['a', 'c']), rankings(['a', 'c'], 'b'), rankings(['b', 'c'], 'a')],
      ...[rankings('b', 'a'), rankings(['a', 'b'])],
    ],
    'b',
  ]),
  [
    'instant_runoff',
    [...Array(2).fill(rankings('a', 'b', 'c')), ...Array(2).fill(rankings('b', 'c', 'a'))].concat(
      rankings('c', 'b', 'a'),
    ),
    'b',
  ],
];

/** Creates a network of five voters whose auditor sees every request. */
async function electorate(policy: string) {
  const path = temporaryFolder();
  const genesis = { policy, weights: 'equal', voting_period_ms: 1_000 } as const;
  const opened = await testNetwork({ path, genesis, verifier: 'inline' });
  const { network, clock } = opened;
  const auditor = new Auditor(network.genesis);
  const submit: typeof opened.submit = async (request) => {
    const verified = await network.verify(request);
    if ('refusal' in verified) return { result: 'refused', refusal: verified.refusal };
    const { outcome, events } = network.apply(verified);
    auditor.observe({ at: clock.now(), command: verified.command, outcome, events });
    await network.durable;
    return outcome;
  };
  const people = new Population({ ...opened, submit }, 'inline');
  const voters = await people.joinMany(5, ['validator', 'producer']);
  return { path, network, clock, auditor, people, voters };
}

const options = ['a', 'b', 'c'].map((name) => ({
  name,
  state_diff: { additions: { winner: name } },
}));

test.each(
  elections,
)('%s: an audit, a replay and a certificate agree', async (policy, ballots, choice) => {
  const { path, network, clock, auditor, people, voters } = await electorate(policy);
  const block = await people.open(voters[0]!, { options });
  for (const [at, ballot] of ballots.entries()) {
    const isEmpty = Object.keys(ballot as object).length === 0;
    await people.vote(voters[at]!, block, 'approve', isEmpty ? {} : { ballot });
  }
  const view = network.read.block(block)!;
  expect(view).toMatchObject({ status: 'finalized', choice, options: ['a', 'b', 'c'] });
  expect(Object.keys(view.standings!).sort()).toEqual(['a', 'b', 'c']);
  expect(network.read.record('state', 'winner')).toMatchObject({ value: choice });
  expect(auditor.violation).toBeNull();
  expect(auditor.finish(clock.now(), network.read)).toBeNull();
  const { digest } = network.read.position;
  await network.close();
  expect(await replayHere(path)).toMatchObject({ match: true, digest });
  const text = await certificateOf({ path }, block);
  expect(checkCertificate(text)).toMatchObject({ holds: true, claim: { choice } });
  const forged = text.replace(`"choice":"${choice}"`, '"choice":"x"');
  expect(checkCertificate(forged)).toMatchObject({ holds: false });
});

test('ballots: are refused with a pointer before anything is counted', async () => {
  const { network, auditor, people, voters } = await electorate('schulze');
  const block = await people.open(voters[0]!, { options });
  const { seq } = network.read.position;
  const wrong: [ballot: unknown, pointer: string][] = [
    [null, '/ballot'],
    ['a', '/ballot'],
    [{}, '/ballot'],
    [{ ranking: 'a' }, '/ballot/ranking'],
    [{ ranking: [1] }, '/ballot/ranking/0'],
    [{ ranking: ['a', 'a'] }, '/ballot/ranking/1'],
    [{ ranking: ['a', ['b']] }, '/ballot/ranking/1'],
    [{ ranking: [['b', 'b']] }, '/ballot/ranking/0/1'],
    [{ ranking: [['a', 1]] }, '/ballot/ranking/0/1'],
    [{ ranking: [['a', ['b', 'c']]] }, '/ballot/ranking/0/1'],
    [{ ranking: [{ a: 1 }] }, '/ballot/ranking/0'],
    [{ ranking: [['a', 'b'], 'a'] }, '/ballot'],
    [{ ranking: [['a', 'x']] }, '/ballot'],
    [{ ranking: ['a'], more: 1 }, '/ballot/more'],
    [{ ranking: ['x'] }, '/ballot'],
    [{ ranking: ['a'.repeat(3_000)] }, '/ballot'],
  ];
  for (const [ballot, pointer] of wrong) {
    const refused = await people.vote(voters[1]!, block, 'approve', { ballot });
    expectRefused(refused, 'SCHEMA');
    expect(refusalOf(refused).pointer).toBe(pointer);
  }
  expect(network.read.position.seq).toBeGreaterThanOrEqual(seq);
  expect(network.read.block(block)!.tally).toMatchObject({ approve: 0, reject: 0 });
  const ballot = { ranking: ['b'] };
  const vote = () => people.vote(voters[1]!, block, 'approve', { ballot });
  expect([(await vote()).result, (await vote()).result]).toEqual(['accepted', 'duplicate']);
  const other = await people.vote(voters[1]!, block, 'approve', { ballot: { ranking: ['a'] } });
  expect(other.result).not.toBe('duplicate');
  expect(network.read.block(block)!.tally.approve).toBe(1);
  expect(auditor.violation).toBeNull();
});
