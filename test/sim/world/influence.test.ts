/** Influence and references belong to the vote that counted, not to other votes of its agent. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SignedRequest } from 'folkmoot';
import { completeScenario } from 'folkmoot/sim';
import { simulateWithFaults } from 'folkmoot/testing';
import { temporaryFolder } from '../../support/fixture.js';
import { allVote, live, nearby, quiet } from '../fixture.js';

/** Votes twice: for the block before it hears a meme, against it afterwards. */
const twice = `
  export const hear = ({ me }) => [
    ...(me.ordinal === 0 ? [{ do: 'meme', stance: 'reject' }] : []),
    { do: 'wait', ms: 1 },
  ];
  export const vote = ({ round, block }) => [
    { do: 'vote', decision: block.memes.length > 0 ? 'reject' : 'approve' },
    ...(round === 0 ? [{ do: 'wait', ms: 2000 }] : []),
  ];`;

test('influence: a vote that is cast again uses the memes known by then', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'twice.mjs'), twice);
  const strategy = { kind: 'script', module: 'twice.mjs' };
  const { votes, result } = await live(
    [{ group: 'town', count: 30, producers: 1, strategy }],
    { links: { ...nearby, loss: 0.4 }, consensus: { ...allVote, voting_period_ms: 10_000 } },
    folder,
  );
  const first = votes.filter(({ decision }) => decision === 'approve');
  const second = votes.filter(({ decision }) => decision === 'reject');
  expect(Math.min(first.length, second.length)).toBeGreaterThan(10);
  for (const { memes_heard, meme_references } of first) {
    expect([memes_heard, meme_references]).toEqual(['0', '0']);
  }
  // The meme argues for rejection, so each agent that heard the meme refers to it.
  for (const { memes_heard, meme_references } of second) {
    expect([memes_heard, meme_references]).toEqual(['1', '1']);
  }
  expect(result.measures.meme_references).toBe(second.length);
});

test('influence: a vote changed in transit was influenced by no meme', async () => {
  const agents = [{ group: 'town', count: 10, producers: 2, strategy: { kind: 'honest' } }];
  const sections = { social: quiet, links: nearby, consensus: allVote, length: { blocks: 3 } };
  const scenario = completeScenario({ title: 'x', signatures: 'none', agents, ...sections });
  const turn = (request: SignedRequest): SignedRequest => {
    if (request.kind !== 'vote') return request;
    const text = Buffer.from(request.body).toString();
    const decision = text.includes('"approve"') ? '"reject"' : '"approve"';
    const turned = text.replace(/"(approve|reject)"/, decision);
    return { ...request, body: Buffer.from(turned) };
  };
  const run = async (inTransit: (request: SignedRequest) => SignedRequest) =>
    (await simulateWithFaults(scenario, { store: 'memory' }, { inTransit })).measures;
  const [straight, turned] = [await run((one) => one), await run(turn)];
  expect(straight).toMatchObject({ votes: 30, influence: 0 });
  expect(turned).toMatchObject({ influence: null });
  expect(turned.votes).toBeGreaterThan(0);
});
