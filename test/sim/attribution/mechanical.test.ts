/** Recounts agree with a network that receives the changed votes. */
import { join } from 'node:path';
import fc from 'fast-check';
import { type Decision, openLmdbStore, SCHEMA_VERSION, tables } from 'folkmoot';
import { expect, onTestFinished, test } from 'vitest';
import { collectEvidence } from '../../../dist/sim/attribution/evidence.js';
import { type Explanation, explain } from '../../../dist/sim/attribution/explanation.js';
import { newPopulation, type Population } from '../../engine/helpers.js';
import type { Citizen } from '../../support/citizens.js';
import { counts, heavy } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';

const PERIOD_MS = 1_000;
const both = ['validator', 'producer'] as const;
type Rule = { policy: 'bft' | 'majority' | 'veto'; participation_bps: number };
type Cast = readonly (readonly [voter: number, decision: Decision])[];

interface Told {
  population: Population;
  voters: Citizen[];
  hash: string;
  explanation: Explanation;
}

/** Network on disk with votes on the first agent's block, and the explanation of the block. */
async function poll(
  rule: Rule,
  personalities: readonly string[],
  cast: Cast,
  toDeadline: boolean,
): Promise<Told> {
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
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  onTestFinished(() => store.close());
  return explain(store, path, hash);
}

const rules = fc.record({
  policy: fc.constantFrom('bft', 'majority', 'veto') as fc.Arbitrary<Rule['policy']>,
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

test('evidence: finds a block by hash or height, or refuses it', async () => {
  const path = join(temporaryFolder(), 'network');
  const population = await newPopulation({ path });
  const ada = await population.join(both);
  const hash = await population.open(ada);
  await population.vote(ada, hash);
  const rejected = await population.open(ada);
  await population.network.durable;
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  onTestFinished(() => store.close());
  const found = (name: string) => collectEvidence(store, 'DIR', name).block.block_hash;
  expect([hash, hash.slice(0, 8), hash.toUpperCase(), '1'].map(found)).toEqual(Array(4).fill(hash));
  expect(found(rejected)).toBe(rejected);
  const expectRefused = (name: string, problem: string) =>
    expect(() => found(name)).toThrow(expect.objectContaining({ problem }));
  expectRefused('2', 'HEIGHT_NOT_FINAL');
  expectRefused('0', 'HEIGHT_NOT_FINAL');
  expectRefused(hash.slice(0, 7).replace(/^\d+$/, 'abc'), 'BAD_BLOCK_NAME');
  expectRefused('f'.repeat(64), 'BLOCK_NOT_FOUND');
  for (const name of ['g'.repeat(8), `${hash}0`, '']) expectRefused(name, 'BAD_BLOCK_NAME');
});
