/** Memes travel hop by hop: an agent hears a meme no earlier than the links allow. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { memeId } from 'folkmoot/signing';
import { completeScenario } from 'folkmoot/sim';
import { Streams } from '../../../dist/sim/rng.js';
import { buildGraph } from '../../../dist/sim/world/graph.js';
import { temporaryFolder } from '../../support/fixture.js';
import { allVote, live, quiet } from '../fixture.js';
import { flooded, shortest } from './flood.js';

/** The first agent posts a meme when it hears of a block; all vote at one instant. */
function script(folder: string): string {
  const text = `
    export const hear = ({ me }) => [
      ...(me.ordinal === 0 ? [{ do: 'meme', stance: 'approve' }] : []),
      { do: 'wait', ms: 2500 },
    ];
    export const vote = () => ({ do: 'vote', decision: 'approve' });`;
  writeFileSync(join(folder, 'ring.mjs'), text);
  return 'ring.mjs';
}

test.each([
  {},
  { uplink_kbps: 10_000_000 },
  { uplink_kbps: 500 },
])('memes: if all in a ring vote at once, only neighbours hear a meme: %j', async (uplink) => {
  const folder = temporaryFolder();
  const strategy = { kind: 'script', module: script(folder) };
  const { votes } = await live(
    [{ group: 'ring', count: 41, producers: 1, strategy }],
    {
      topology: { kind: 'ring', degree: 2 },
      links: { latency: { distribution: 'constant', mean_ms: 1_000, spread_ms: 0 }, ...uplink },
      consensus: { ...allVote, voting_period_ms: 20_000 },
      length: { blocks: 1 },
    },
    folder,
  );
  expect(votes).toHaveLength(41);
  const heard = votes.filter(({ memes_heard }) => memes_heard !== '0');
  expect(heard.map(({ agent }) => agent).sort()).toEqual(['1', '40']);
});

const latency = fc.oneof(
  fc.record({
    distribution: fc.constantFrom('constant' as const, 'uniform' as const, 'exponential' as const),
    mean_ms: fc.integer({ min: 20, max: 400 }),
    spread_ms: fc.integer({ min: 0, max: 20 }),
  }),
);
const links = fc.record({ latency, loss: fc.constantFrom(0, 0.2), seed: fc.nat() });
const pairs = (size: number) =>
  fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 3 * size });
const graphs = fc
  .integer({ min: 2, max: 16 })
  .chain((size) => fc.record({ size: fc.constant(size), edges: pairs(size) }));

const apart = { distribution: 'constant' as const, mean_ms: 100, spread_ms: 0 };
/** Eight agents in a line. */
const path: [
  { size: number; edges: [number, number][] },
  { latency: typeof apart; loss: 0; seed: number },
] = [
  { size: 8, edges: Array.from({ length: 7 }, (_, at) => [at, at + 1]) },
  { latency: apart, loss: 0, seed: 1 },
];

test('memes: each agent first hears a meme at the time of the shortest path', () => {
  let far = 0;
  const property = fc.property(graphs, links, ({ size, edges }, on) => {
    const neighbours: number[][] = Array.from({ length: size }, () => []);
    for (const [a, b] of edges) {
      if (a === b || neighbours[a]!.includes(b)) continue;
      neighbours[a]!.push(b);
      neighbours[b]!.push(a);
    }
    const expected = shortest(neighbours, on);
    far = Math.max(far, ...expected.hops);
    expect(flooded(neighbours, on)).toEqual(expected.heardAt);
  });
  fc.assert(property, { numRuns: 60, examples: [path] });
  // The example of a line ensures that some shortest path has several hops.
  expect(far).toBeGreaterThan(3);
});

test('memes: a vote refers only to memes that have arrived from a neighbour', async () => {
  const sections = {
    ...{ social: { ...quiet, memes: { rate: 20 } }, topology: { kind: 'small_world', degree: 6 } },
    links: { latency: { distribution: 'uniform', mean_ms: 400, spread_ms: 100 } },
    ...{ consensus: { ...allVote, voting_period_ms: 20_000 }, length: { blocks: 4 } },
  };
  const agents = [{ group: 'town', count: 40, producers: 2, personality: ['memetic', 'chaotic'] }];
  const { sent, votes, blocks } = await live(agents, sections);
  const graph = buildGraph(completeScenario({ title: 'a', agents, ...sections }), graphStream());
  const ordinals = new Map<string, number>();
  for (const { kind, publicKey, body } of sent) {
    const [, ordinal] = `${body.name}`.split('-');
    if (kind === 'register') ordinals.set(publicKey, Number(ordinal));
  }
  const counted = new Map(votes.map((row) => [`${row.agent} ${row.block}`, Number(row.voted_ms)]));
  const numbers = new Map(blocks.map(({ block_hash, number }) => [block_hash, number]));
  const saidAt = new Map<string, number>();
  const cast = sent.filter(({ kind }) => kind === 'vote');
  for (const { publicKey, body } of cast) {
    const agent = ordinals.get(publicKey)!;
    const at = counted.get(`${agent} ${numbers.get(body.block_hash as string)}`);
    for (const meme of body.meme_references as string[]) saidAt.set(`${agent} ${meme}`, at!);
  }
  let passedOn = 0;
  for (const { publicKey, kind, body, ms, timestamp } of sent) {
    if (kind !== 'meme') continue;
    const signed = { ...body, timestamp } as unknown as Parameters<typeof memeId>[1];
    // The vote counts when it arrives, one link later; another link takes it to a neighbour.
    saidAt.set(`${ordinals.get(publicKey)} ${memeId(publicKey, signed)}`, ms + 300);
  }
  for (const { publicKey, body, ms } of cast) {
    const voter = ordinals.get(publicKey)!;
    for (const meme of body.meme_references as string[]) {
      const told = graph[voter]!.map((other) => saidAt.get(`${other} ${meme}`) ?? NEVER);
      expect(Math.min(...told) + 300).toBeLessThanOrEqual(ms);
      passedOn += 1;
    }
  }
  expect(passedOn).toBeGreaterThan(40);
});

const NEVER = Number.POSITIVE_INFINITY;
const graphStream = () => new Streams('1').of('world', 'graph');
