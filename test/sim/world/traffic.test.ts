/** Messages as on the wire: count by kind and bytes, whether or not agents read them. */
import { join } from 'node:path';
import type { SimResult } from 'folkmoot/sim';
import { csvRows } from '../../support/runs.js';
import { allVote, live, nearby, type Raw } from '../fixture.js';

/** Agents read no votes; the block is open for its whole period. */
const town = [
  { group: 'town', count: 20, producers: 2, strategy: { kind: 'honest' } },
  { group: 'mute', count: 1, strategy: { kind: 'silent' } },
];
const ring = { kind: 'ring', degree: 4 };
const run = async (sections: Raw) =>
  (await live(town, { topology: ring, consensus: allVote, length: { blocks: 3 }, ...sections }))
    .result;

const kinds = ['request.vote', 'event.proposal', 'event.close', 'gossip.vote'] as const;

function expectBalanced({ messages }: SimResult): void {
  for (const { sent, delivered, lost, duplicated } of Object.values(messages)) {
    expect(sent + duplicated).toBe(delivered + lost);
  }
}

test('messages: votes go to each neighbour, even if no agent reads them', async () => {
  const result = await run({});
  expectBalanced(result);
  const { messages, measures } = result;
  expect(measures.votes).toBe(60);
  expect(messages['gossip.vote']).toMatchObject({ sent: 240, delivered: 240, lost: 0 });
  expect(messages['request.vote']).toMatchObject({ sent: 60, delivered: 60, duplicated: 0 });
  expect(messages['event.proposal']).toMatchObject({ sent: 63, delivered: 63 });
  expect(messages['event.close']).toMatchObject({ sent: 63, delivered: 63 });
  expect(messages['gossip.meme'].sent).toBe(0);
  // Agents pass on to four neighbours exactly what they sent to the network.
  expect(messages['gossip.vote'].bytes).toBe(4 * messages['request.vote'].bytes);
  const all = Object.values(messages).reduce((sum, { sent }) => sum + sent, 0);
  expect([measures.messages_sent, measures.messages_per_block]).toEqual([all, all / 3]);
});

test('messages: the bytes of a request are its body and its signature data', async () => {
  const lived = await live(town, { topology: ring, consensus: allVote, length: { blocks: 2 } });
  const votes = lived.sent.filter(({ kind }) => kind === 'vote');
  const bodies = votes.map(({ body }) => JSON.stringify(body).length);
  const bytes = bodies.reduce((sum, size) => sum + size + 64, 0);
  expect(lived.result.messages['request.vote'].bytes).toBe(bytes);
  const { messages } = lived.result;
  const read = csvRows(join(lived.folder, 'messages.csv'));
  expect(read.find(({ kind }) => kind === 'request.vote')!).toEqual({
    kind: 'request.vote',
    ...Object.fromEntries(
      Object.entries(messages['request.vote']).map(([name, value]) => [name, `${value}`]),
    ),
  });
});

test('messages: each kind is lost at the rate of the scenario', async () => {
  const links = { ...nearby, loss: 0.25, duplication: 0.2 };
  const result = await run({ links, length: { blocks: 20 } });
  expectBalanced(result);
  for (const kind of kinds) {
    const { sent, lost, duplicated } = result.messages[kind];
    const n = sent + duplicated;
    expect(n).toBeGreaterThan(300);
    // Within four standard deviations of a binomial.
    expect(Math.abs(lost - n / 4), kind).toBeLessThan(4 * Math.sqrt((n * 3) / 16));
  }
  const { sent, duplicated } = result.messages['request.vote'];
  expect(Math.abs(duplicated - sent / 5)).toBeLessThan(4 * Math.sqrt((sent * 4) / 25));
  expect(result.messages['gossip.vote'].duplicated).toBe(0);
});

test('messages: a partition loses crossing messages, but no event of the feed', async () => {
  const whom = [{ group: 'town', count: 5 }];
  // From the registration of all agents to the end of the run.
  const faults = [
    { kind: 'partition', start_ms: 4_000, length_ms: 600_000, whom, direction: 'out' },
  ];
  const result = await run({ faults });
  expectBalanced(result);
  const { messages } = result;
  expect(messages['request.vote']).toMatchObject({ sent: 60, lost: 15 });
  expect(messages['event.proposal']).toMatchObject({ sent: 63, lost: 0 });
  // No vote of the cut-off agents counts, so no agent passes them on; the other votes arrive.
  expect(messages['gossip.vote']).toMatchObject({ sent: 180, lost: 0 });
  const both = await run({ faults: [{ ...faults[0], direction: 'in' }] });
  expect(both.messages['request.vote']).toMatchObject({ lost: 0 });
  expect(both.messages['gossip.vote'].lost).toBeGreaterThan(20);
});
