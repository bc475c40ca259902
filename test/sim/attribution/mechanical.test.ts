/** Recounts agree with a network that receives the changed votes. */
import { join } from 'node:path';
import fc from 'fast-check';
import type { Decision } from 'folkmoot';
import { describeCauses } from '../../../dist/cli/commands/why-text.js';
import { type Explanation, explain } from '../../../dist/sim/attribution/explanation.js';
import { newPopulation, type Population } from '../../engine/helpers.js';
import type { Citizen } from '../../support/citizens.js';
import { counts, heavy } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { openForReading } from '../../support/runs.js';

const PERIOD_MS = 1_000;
const both = ['validator', 'producer'] as const;
type Rule = { policy: string; participation_bps: number };
type Cast = readonly (readonly [voter: number, decision: Decision])[];

/** Network on disk with votes on the first agent's block, and the explanation of the block. */
async function poll(
  rule: Rule,
  personalities: readonly string[],
  cast: Cast,
  toDeadline: boolean,
): Promise<{ population: Population; voters: Citizen[]; hash: string; explanation: Explanation }> {
  const path = join(temporaryFolder(), 'network');
  const genesis = { ...rule, voting_period_ms: PERIOD_MS };
  const population = await newPopulation({ path, genesis });
  const voters: Citizen[] = [];
  for (const personality of personalities) {
    voters.push(await population.join(both, { personality }));
  }
  const hash = await population.open(voters[0]!);
  for (const [voter, decision] of cast) await population.vote(voters[voter]!, hash, decision);
  if (toDeadline) await population.wait(PERIOD_MS + 1);
  await population.network.durable;
  return { population, voters, hash, explanation: told(path, hash) };
}

function told(path: string, hash: string): Explanation {
  const store = openForReading(path);
  onTestFinished(() => store.close());
  return explain(store, hash);
}

const rules = fc.record({
  policy: fc.constantFrom('bft', 'majority', 'veto'),
  participation_bps: fc.constantFrom(0, 3_000, 5_000, 9_000),
});
const polls = fc
  .array(fc.constantFrom('lawful', 'greedy'), { minLength: 2, maxLength: 8 })
  .chain((personalities) =>
    fc.record({
      personalities: fc.constant(personalities),
      rule: rules,
      cast: fc
        .shuffledSubarray(personalities.map((_, voter) => voter))
        .chain((voters) =>
          fc.tuple(
            ...voters.map((voter) =>
              fc.tuple(
                fc.constant(voter),
                fc.constantFrom('approve', 'reject') as fc.Arbitrary<Decision>,
              ),
            ),
          ),
        ),
    }),
  );

test('swings: predicts the outcome of each changed vote in a network', heavy, async () => {
  await fc.assert(
    fc.asyncProperty(polls, async ({ personalities, rule, cast }) => {
      const { explanation, population, hash, voters } = await poll(rule, personalities, cast, true);
      const status = population.blockStatus(hash)!;
      expect(explanation.outcome).toBe(status);
      // Votes after the decision are refused, so they were never counted.
      const counted = cast.filter(([voter]) => {
        const record = explanation.electors.find(({ agent_id }) => agent_id === voters[voter]!.id);
        return record!.vote !== null;
      });
      const closedEarly = (await poll(rule, personalities, counted, false)).explanation;
      const waited = closedEarly.block.status === 'voting';
      for (const [voter, { id }] of voters.entries()) {
        const vote = counted.find(([one]) => one === voter)?.[1] ?? null;
        for (const other of [null, 'approve', 'reject'] as const) {
          if (other === vote) continue;
          const others = counted.filter(([one]) => one !== voter);
          const at = vote === null ? counted.length : counted.findIndex(([one]) => one === voter);
          const changed = other === null ? others : others.toSpliced(at, 0, [voter, other]);
          const again = await poll(rule, personalities, changed, waited);
          const said = explanation.swings.find((one) => one.agent_id === id && one.other === other);
          const found = again.explanation.block.status;
          const outcome = said?.outcome ?? status;
          if (outcome === 'open') expect(found).toBe('voting');
          else if (found === 'voting') {
            // All other agents have voted; only the deadline is missing.
            const silent = new Set(voters.keys());
            for (const [one] of [...counted, ...changed]) silent.delete(one);
            expect(silent.size).toBe(0);
            const later = await poll(rule, personalities, changed, true);
            expect(later.explanation.block.status).toBe(outcome);
          } else expect(found).toBe(outcome);
        }
      }
    }),
    { numRuns: counts.recountedPolls },
  );
});

test('swings: finds exactly the approvals of a two-to-one vote', async () => {
  const rule = { policy: 'majority', participation_bps: 5_000 } as const;
  const cast = [
    [0, 'approve'],
    [1, 'approve'],
    [2, 'reject'],
  ] as const;
  const { explanation } = await poll(rule, ['lawful', 'lawful', 'greedy'], cast, false);
  const { swings, outcome } = explanation;
  expect(outcome).toBe('finalized');
  expect(swings.map(({ vote, other, outcome: then }) => [vote, other, then])).toEqual([
    ['approve', null, 'rejected'],
    ['approve', 'reject', 'rejected'],
    ['approve', null, 'rejected'],
    ['approve', 'reject', 'rejected'],
  ]);
});

/** Each letter is a vote: an approval or a rejection; a point waits for the deadline. */
const answers = `
bft 4 aaa | finalized: 3 of 4 approved, exactly the quota | each of the 3 approvals was needed
bft 4 arr | rejected: 2 of 4 rejected, exactly the quota | each of the 2 rejections was needed
bft 4 aa. | expired: when voting ended, 2 of 4 approved, 1 fewer than the quota of 3 | \
another vote of any one of 2 electors changes the status
bft 7 aa. | expired: when voting ended, 2 of 7 approved, 3 fewer than the quota of 5 | \
no single other vote changes the status
bft 4 a | voting: so far 1 of 4 approved, 2 fewer than the quota of 3
majority 3 aar | finalized: 2 of 3 approved, exactly the quota | each of the 2 approvals was needed
majority 4 aaar | finalized: 3 of 4 approved, 1 more than the quota of 2 | \
none of the 3 approvals was needed alone
majority 3 arr | rejected: 1 of 3 approved, 2 fewer than the quota of 3 against 2 rejections | \
none of the 2 rejections was needed alone
majority 5 a. | expired: when voting ended, 1 of 5 approved, 2 fewer than the quota of 3 | \
no single other vote changes the status
veto 10 arrr | rejected: a personality group vetoed it; 1 of 10 approved | \
each of the 3 rejections was needed
liquid 3 aaa | finalized: by the rule liquid; 3 of 3 electors voted | \
no single other vote changes the status
committee 3 r | rejected: by the rule committee; 1 of 3 electors voted | \
another vote of one elector changes the status`;

const rows = answers
  .trim()
  .split('\n')
  .map((line) => line.split(' | '));

test.each(rows)('answer: %s', async (given, ...parts) => {
  const [policy, size, cast] = given!.split(' ') as [string, string, string];
  const veto = ['greedy', 'lawful', 'lawful', 'lawful'];
  const personalities = Array.from({ length: Number(size) }, (_, at) => veto[at] ?? 'greedy');
  const votes = [...cast.replace('.', '')].map(
    (one, at) => [at, one === 'a' ? 'approve' : 'reject'] as const,
  );
  const rule = { policy, participation_bps: 5_000 };
  const { explanation } = await poll(rule, personalities, votes, cast.endsWith('.'));
  expect(explanation.answer).toBe(parts.join('; '));
});

const row = (given: object) => ({
  ...{ kind: 'meme', id: 'm1', name: 'by a', measured: true, significant: false },
  ...{ within_margin: false, difference: 0, detectable: 0.2, ...given },
});

test.each([
  ['no attribution', null, 'its causes were not tested'],
  ['no candidate', [], 'there was no cause to test'],
  ['none measured', [row({ measured: false })], 'no tested cause could be measured'],
  [
    'none shown',
    [row({ detectable: 0.1 }), row({})],
    'no tested cause has a shown effect; the pairs could have found 0.20',
  ],
  [
    'too few pairs',
    [row({ detectable: null })],
    'no tested cause has a shown effect; the pairs are too few to find any effect',
  ],
  ['all small', [row({ within_margin: true })], 'each measured effect is smaller than 0.1'],
  [
    'one shown',
    [row({ significant: true, difference: -0.35 }), row({})],
    'without meme m1 the chance of finality changes by -0.35',
  ],
] as [string, object[] | null, string][])('answer: causes: %s', (_, rows, answer) => {
  const found = rows && { ablation: { rows, margin: 0.1 } };
  expect(describeCauses(found as Parameters<typeof describeCauses>[0])).toBe(answer);
});

test('mechanical: omits a meme, an elector, an alliance and its bonus', async () => {
  const path = join(temporaryFolder(), 'network');
  const genesis = {
    policy: 'majority',
    weights: 'alliance_bonus',
    voting_period_ms: PERIOD_MS,
  } as const;
  const population = await newPopulation({ path, genesis });
  const [a, b, c, d] = (await population.joinMany(4, both)) as [Citizen, Citizen, Citizen, Citizen];
  const pact = await population.allied(a, [b]);
  const gone = await population.allied(c, [d]);
  await population.leave(c, gone);
  const meme = await population.meme(c, 'look');
  const hash = await population.open(a);
  // 102 + 102 against 100 + 100. Without the alliance: a tie, which rejects. 200 of 404 is too few.
  await population.vote(a, hash, 'approve', { meme_references: [meme] });
  await population.vote(b, hash, 'approve', { meme_references: [meme] });
  await population.votes([c, d], hash, 'reject');
  await population.network.durable;
  // Later events do not change the weights that were in force.
  await population.leave(a, pact);
  await population.network.durable;
  const { mechanical, outcome, electors } = told(path, hash);
  expect(outcome).toBe('finalized');
  expect(electors.map(({ weight }) => weight)).toEqual([102, 102, 100, 100]);
  const changing = mechanical.filter(({ changes }) => changes);
  expect(changing.map(({ kind, id, votes, outcome: then }) => [kind, id, votes, then])).toEqual(
    [
      ['weights', '', 4, 'rejected'],
      ['references', meme, 2, 'expired'],
      ['members', pact, 2, 'expired'],
      ['bonus', pact, 2, 'rejected'],
      ['elector', a.id, 1, 'rejected'],
      ['elector', b.id, 1, 'rejected'],
    ].sort((x, y) => Number(y[2]) - Number(x[2])),
  );
  expect(mechanical.filter(({ kind }) => kind === 'elector')).toHaveLength(4);
  expect(mechanical.some(({ id }) => id === gone)).toBe(false);
});
