/** Watching does not change the log. */
import { createVerifier, virtualClock } from 'folkmoot';
import { oneTransport, world } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  ally,
  blockHash,
  discuss,
  meme,
  propose,
  type Request,
  register,
  status,
  vote,
} from '../../support/service/signer.js';
import { Watching } from '../../support/service/watching.js';
import { GENESIS_HASH } from '../../support/service/world.js';

const verifier = createVerifier('inline');
afterAll(() => verifier.close());

const START = Date.parse('2026-05-01T12:00:00.000Z');
const PERIOD_MS = 10_000;
const WATCHERS = 30;
const BLOCKS = 6;

/** Returns timed requests, which are signed once and sent as the same bytes in each run. */
function story(): { at: number; request: Request }[] {
  const town = ['Ada', 'Bob', 'Cy'].map(agentOf) as [Agent, Agent, Agent];
  const [ada, bob, cy] = town;
  const eve = agentOf('Eve');
  const all: { at: number; request: Request }[] = [];
  let at = START;
  const stamp = () => new Date(at).toISOString();
  const ask = (request: Request) => {
    all.push({ at, request });
    at += 37;
  };
  for (const by of town) ask(register(by, {}, stamp()));
  ask(register(eve, { capabilities: ['producer'] }, stamp()));
  ask(ally.propose(ada, { target_ids: [bob.agentId] }, stamp()));
  for (let block = 0; block < BLOCKS; block += 1) {
    const proposal = propose(ada, { parent_hash: GENESIS_HASH, reason: `${block}` }, stamp());
    const block_hash = blockHash(proposal, ada, 'testnet');
    ask(proposal);
    ask(discuss(cy, { block_hash, message: `on ${block}` }, stamp()));
    ask(meme(bob, { file: `meme ${block}`, caption: 'look' }, stamp()));
    // No block is finalized, so the head does not change. Every second block ends at its deadline.
    ask(vote(cy, { block_hash, decision: 'approve' }, stamp()));
    if (block % 2) ask(vote(bob, { block_hash, decision: 'reject' }, stamp()));
    at += PERIOD_MS;
    ask(status(eve, { status: block % 2 ? 'active' : 'inactive' }, undefined, stamp()));
  }
  return all;
}

test.each(oneTransport)('watched: the log equals an unwatched run, %s', async (transport) => {
  const asked = story();
  const lived = async (watchers: number) => {
    const clock = virtualClock(START);
    const genesis = { voting_period_ms: PERIOD_MS };
    const there = await world({ transport, clock, verifier, genesis, limits: 'off' });
    const all: Watching[] = [];
    const statuses: number[] = [];
    for (const [place, { at, request }] of asked.entries()) {
      // Watchers connect during the run.
      if (all.length < watchers && place % 2 === 0) {
        for (let more = 0; more < 3; more += 1) all.push(await Watching.begin(there.wsUrl));
        await there.read(`/api/v1/view?at=${Math.max(0, place - 3)}`);
      }
      clock.set(at);
      statuses.push((await there.send(request)).status);
    }
    const { digest, log_digest, seq, event_seq } = await there.read('/api/v1/meta');
    for (const watching of all) await watching.reaches(Number(seq));
    return { digest, log_digest, seq, event_seq, statuses, watchers: all.length };
  };
  const alone = await lived(0);
  expect(alone.statuses.filter((code) => code >= 300)).toEqual([]);
  expect(await lived(WATCHERS)).toEqual({ ...alone, watchers: WATCHERS });
});
