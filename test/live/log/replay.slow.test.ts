/** A live network's log replays to the digest that the server reported. */
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeStatus,
} from 'folkmoot';
import { agentId } from 'folkmoot/signing';
import { replayJson } from '../../support/command.js';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { host, stop } from '../../support/host.js';
import type { Replayed } from '../../support/runs.js';
import { stamp } from '../../support/service/signer.js';
import { meme, meta, proposal, propose, registration, vote } from '../clients/actions.js';
import { Caller, expectCut, inParallel } from '../clients/caller.js';
import { HalfSent } from '../clients/half-sent.js';
import { Subscriber } from '../clients/subscriber.js';
import { Witness } from '../clients/witness.js';

const transports = ['uws', 'node'];
const agents = Array.from({ length: 5 }, (_, number) => signatoryOf(number));
const [ada, bob, eve] = agents as [(typeof agents)[0], (typeof agents)[0], (typeof agents)[0]];

/** Sends commands of all kinds, and proposes a block without votes. */
async function live(caller: Caller): Promise<void> {
  for (const by of agents) await caller.do(registration(by, 'Someone'));
  const { meme_id } = await caller.do(meme(ada, 'an old joke'));
  const { alliance_id } = await caller.do(
    composeAlliancePropose(ada, stamp(), {
      target_ids: [agentId(bob.publicKey), agentId(eve.publicKey)],
      purpose: 'Peace',
    }),
  );
  const ally = String(alliance_id);
  await caller.do(composeAllianceRespond(bob, stamp(), ally, true));
  await caller.do(composeAllianceRespond(eve, stamp(), ally, false));
  await decided(caller, [String(meme_id)]);
  await caller.do(composeAllianceLeave(bob, stamp(), ally));
  const status = { status: 'maintenance', reason: 'Rest', expected_duration: 'PT2H' } as const;
  await caller.do(composeStatus(eve, stamp(), agentId(eve.publicKey), status));
}

/**
 * Proposes, discusses and votes until a block is decided, because on a busy machine a block may
 * expire.
 */
async function decided(caller: Caller, meme_references: string[]): Promise<void> {
  for (;;) {
    const answer = await caller.send(await proposal(caller, ada));
    if (answer.status !== 201) continue;
    const { block_hash } = JSON.parse(answer.text).data as { block_hash: string };
    const said = { message: 'Look here.', sentiment: 'positive', meme_references } as const;
    const discussed = await caller.send(composeDiscuss(bob, stamp(), { block_hash, ...said }));
    await Promise.all(agents.map((by) => caller.send(vote(by, block_hash))));
    const { status } = await caller.read(`/api/v1/blocks/${block_hash}`);
    if (discussed.status === 201 && status === 'finalized') return;
  }
}

async function replayed(data: string, ...args: string[]): Promise<Replayed> {
  const found = await replayJson(data, '--signatures', ...args);
  expect(found).toMatchObject({ match: true, first_divergence: null });
  return found;
}

/** Yields unused agent numbers. Work that throws ends the sequence. */
function* naturals(from: number): Generator<number> {
  for (let number = from; ; number += 1) yield number;
}

describe.each(transports)('live: over %s', (transport) => {
  const args = ['--transport', transport, '--voting-period-ms', '200'];

  test('live: a session replays to the digest that the server reported', async () => {
    const data = temporaryFolder();
    const server = await host({ data, args });
    const caller = new Caller(server.url);
    await live(caller);
    const watcher = await Subscriber.open(server.wsUrl, ada);
    await watcher.subscribe(['outcomes']);
    const hash = await propose(caller, bob);
    await watcher.took(1);
    expect(watcher.events[0]!.data).toMatchObject({ block_hash: hash, status: 'expired' });
    const told = await meta(caller);
    await stop(server);
    await replayed(data);
    // A time entry may have followed the report.
    expect((await replayed(data, '--to', `${told.seq}`)).digest).toBe(told.digest);

    const again = await host({ data, args });
    const reader = new Caller(again.url);
    const { epoch, seq, digest } = await meta(reader);
    expect(epoch).toBe(told.epoch);
    if (seq === told.seq) expect(digest).toBe(told.digest);
    await decided(reader, []);
    await stop(again);
    expect((await replayed(data)).entries).toBeGreaterThan(told.seq + 1);
  });

  test('live: stopped under load, answers requests in flight and loses nothing', async () => {
    const data = temporaryFolder();
    const server = await host({ data, args });
    const caller = new Caller(server.url, 24);
    const { epoch } = await meta(caller);
    const witness = new Witness();
    const halves = await Promise.all(
      agents.map((by) => HalfSent.send(server.url, registration(by, 'Late'))),
    );
    // The server has read the bytes by the time it responds on a different connection.
    await caller.call('GET', '/healthz');
    const load = inParallel(naturals(1_000), 24, async (number) => {
      const request = registration(signatoryOf(number), 'Someone');
      const answer = await caller.send(request);
      if (!witness.note(request, answer)) expect(answer.status, answer.text).toBe(503);
      if (witness.total === 100) void server.kill('SIGTERM');
    }).catch(expectCut);
    await server.said('"stopping"');
    for (const half of halves) {
      const answer = await half.finish();
      expect(answer?.status, answer?.text).toBe(201);
      witness.note(half.request, answer!);
    }
    expect(await server.ended, server.stderr()).toEqual({ code: 0, signal: null });
    await load;

    const end = await replayed(data);
    const again = await host({ data, args });
    const reader = new Caller(again.url);
    expect(await meta(reader)).toMatchObject({ epoch, seq: end.entries - 1, digest: end.digest });
    await witness.expectKept(reader);
    await stop(again);
  });
});
