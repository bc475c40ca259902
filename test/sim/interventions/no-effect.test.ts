/** Interventions change nothing before their instant, and nothing at all without an effect. */
import { join } from 'node:path';
import fc from 'fast-check';
import { counts } from '../../support/counts.js';
import { bodyOf, csvRows, type Line, logLines } from '../../support/runs.js';
import type { Raw } from '../fixture.js';
import { type Kept, lively, outcomeOf, parting, runsHere } from './world.js';

const run = runsHere();

/** Two worlds; in the second, messages queue at the uplink of their sender. */
const worlds = { 'as it is': {}, 'with uplinks': { links: { loss: 0.02, uplink_kbps: 48 } } };
type World = keyof typeof worlds;
const each = Object.keys(worlds) as World[];
const bases = new Map<World, { base: Kept; lines: Line[] }>();

beforeAll(async () => {
  for (const world of each) {
    const base = await run(lively(worlds[world]));
    bases.set(world, { base, lines: await logLines(base.folder) });
  }
  const { measures } = bases.get('with uplinks')!.base.result;
  expect(measures.uplink_wait_mean_ms).toBeGreaterThan(100);
});

const AGENTS = 30;
const agent = fc.integer({ min: 0, max: AGENTS - 1 });
const voter = fc.integer({ min: 0, max: AGENTS - 1 });
const whom = fc.oneof(
  fc.record({ agent }),
  fc.record({ group: fc.constantFrom('town', 'hill') }),
  fc.record({ group: fc.constant('town'), count: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ alliance: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ share: fc.constantFrom(0.1, 0.5) }),
);
const number = fc.integer({ min: 0, max: 8 });
const action: fc.Arbitrary<Raw> = fc.oneof(
  fc.record({ kind: fc.constant('mute'), meme: fc.integer({ min: 0, max: 20 }) }),
  fc.record({ kind: fc.constantFrom('mute', 'silence', 'remove'), whom: fc.tuple(whom) }),
  fc.record({ kind: fc.constant('dissolve'), alliance: number }),
  fc.record({ kind: fc.constant('drop'), alliance: number }),
  fc.record({ kind: fc.constant('drop'), block: number }),
  fc.record({
    kind: fc.constant('vote'),
    agent: voter,
    block: number,
    decision: fc.constantFrom('approve', 'reject', 'none'),
  }),
  fc.record({
    kind: fc.constant('strategy'),
    whom: fc.tuple(whom),
    strategy: fc.constantFrom({ kind: 'contrarian' }, { kind: 'lazy' }, { kind: 'meme_spammer' }),
  }),
  fc.record({
    kind: fc.constant('traits'),
    whom: fc.tuple(whom),
    traits: fc.constantFrom(
      { social: 90 },
      { think_ms: 10 },
      { memes: { distribution: 'uniform', from: 0, to: 1 } },
    ),
  }),
  fc.constantFrom(
    { kind: 'set', path: 'links.loss', value: 0.3 },
    { kind: 'set', path: 'links.duplication', value: 0.3 },
    { kind: 'set', path: 'social.alliances.rate', value: 0 },
    { kind: 'set', path: 'producers.block_interval_ms', value: 700 },
  ),
  fc.record({
    ...{ kind: fc.constant('link'), between: fc.tuple(agent, fc.constant('network')) },
    ...{ loss: fc.constantFrom(0, 1), factor: fc.integer({ min: 1, max: 50 }) },
  }),
);
const moment: fc.Arbitrary<Raw> = fc.oneof(
  fc.record({ at_ms: fc.integer({ min: 0, max: 40_000 }) }),
  fc.record({ at_entry: fc.integer({ min: 0, max: 500 }) }),
  fc.record({ at_height: fc.integer({ min: 0, max: 6 }) }),
  fc.record({
    at_condition: fc.record({
      measure: fc.constantFrom('closed', 'memes', 'votes'),
      at_least: fc.integer({ min: 0, max: 60 }),
      held_ms: fc.integer({ min: 0, max: 4_000 }),
    }),
  }),
);
const intervention = fc.tuple(action, moment).map(([what, when]) => ({ ...what, ...when }));

test.each(each)('interventions: %s, any kind leaves the prefix unchanged', async (world) => {
  const { base } = bases.get(world)!;
  await fc.assert(
    fc.asyncProperty(fc.array(intervention, { minLength: 1, maxLength: 3 }), async (list) => {
      fc.pre(!list.some(({ kind }, at) => list.findIndex((one) => one.kind === kind) < at));
      const raw = lively(worlds[world]);
      let fork: Kept;
      try {
        fork = await run(raw, list);
      } catch (error) {
        // For example, a vote of an agent that leaves at the same instant.
        expect((error as Error).message).toContain('contradicts');
        return;
      }
      const { interventions = [], broken } = fork.result;
      expect(broken).toBe(null);
      const first = Math.min(...interventions.map(({ entry }) => entry ?? Infinity));
      const parts = await parting(base, fork);
      if (parts) expect(parts.seq).toBeGreaterThan(first);
      if (first === Number.POSITIVE_INFINITY) expect(outcomeOf(fork)).toEqual(outcomeOf(base));
    }),
    { numRuns: world === 'as it is' ? counts.randomInterventions : counts.randomInterventions / 4 },
  );
});

test('interventions: a request sent between two windows waits for no later call', async () => {
  const dissolve = { kind: 'dissolve', alliance: 2, at_entry: 164 };
  const { result } = await run(lively(worlds['with uplinks']), [dissolve]);
  expect(result.interventions![0]!.did).toBeGreaterThan(0);
  expect(result.broken).toBe(null);
});

test.each(each)('interventions: %s, without effect, no byte changes', async (world) => {
  const { base, lines } = bases.get(world)!;
  const raw = lively(worlds[world]);
  const agents = csvRows(join(base.folder, 'agents.csv'));
  const meme = lines.filter(({ kind }) => kind === 'meme').length;
  const vote = lines.find(({ kind }) => kind === 'vote')!;
  const { block_hash: block, decision } = bodyOf<{ block_hash: string; decision: string }>(
    vote.body,
  );
  const name = (key: string) =>
    bodyOf<{ name: string }>(
      lines.find(({ kind, public_key }) => kind === 'register' && public_key === key)!.body,
    ).name;
  const at = { at_ms: 12_345 };
  const social = Number(agents[4]!.trait_social);
  const nothing: Raw[] = [
    { kind: 'traits', whom: [{ agent: 4 }], traits: { social }, ...at },
    { kind: 'set', path: 'social.memes.rate', value: 15, ...at },
    { kind: 'set', path: 'links.loss', value: 0.02, at_height: 2 },
    { kind: 'link', between: [1, 2], factor: 1, at_entry: 40 },
    { kind: 'strategy', whom: [{ group: 'hill' }], strategy: { kind: 'follower' }, at_entry: 99 },
    { kind: 'vote', agent: name(vote.public_key), block, decision, at_ms: 0 },
    { kind: 'mute', meme: meme + 5, ...at },
    { kind: 'drop', alliance: 5_000, at_height: 1 },
    { kind: 'drop', block: 0, at_condition: { measure: 'closed', reaches: 1, held_ms: 1_234 } },
    { kind: 'dissolve', alliance: 5_000, at_ms: 33 },
    { kind: 'silence', whom: [{ alliance: 5_000 }], ...at },
  ];
  for (const one of nothing)
    expect([one, outcomeOf(await run(raw, [one]))]).toEqual([one, outcomeOf(base)]);
  expect(outcomeOf(await run(raw, nothing))).toEqual(outcomeOf(base));
});

test('interventions: agents far away are unaffected', async () => {
  const far = {
    agents: [
      { group: 'here', count: 12, producers: 2 },
      { group: 'far', count: 12, strategy: { kind: 'silent' } },
    ],
    topology: { kind: 'groups', degree: 4, rewired: 0 },
    social: { memes: { rate: 0 }, discussion: { rate: 0 }, alliances: { rate: 0 } },
    measure: { votes: true },
  };
  const without = await run(lively(far));
  const whom = [{ group: 'far', count: 5 }];
  const fork = await run(lively(far), [{ kind: 'traits', whom, traits: { care: 0 }, at_ms: 0 }]);
  expect(outcomeOf(fork)).toEqual(outcomeOf(without));
  const votes = ({ folder }: Kept) => csvRows(join(folder, 'votes.csv'));
  const talking = { kind: 'vote', agent: 20, block: 2, decision: 'approve', at_ms: 0 } as const;
  const spoken = await run(lively(far), [talking]);
  expect(spoken.result.interventions![0]!.did).toBe(1);
  const ofBlock2 = (rows: Record<string, string>[]) =>
    rows.filter(({ block, group }) => block === '2' && group === 'here');
  expect(ofBlock2(votes(spoken))).toEqual(ofBlock2(votes(without)));
});
