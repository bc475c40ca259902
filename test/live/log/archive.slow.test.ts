/** A server that archives while serving, and a server with a damaged archive. */
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbStore, SCHEMA_VERSION, tables } from 'folkmoot';
import { full } from '../../support/counts.js';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { type Host, host, stop } from '../../support/host.js';
import { replayHere } from '../../support/runs.js';
import { meme, meta, propose, registration, vote } from '../clients/actions.js';
import { Caller, inParallel, type ReadEvent } from '../clients/caller.js';
import { everyTopic, Subscriber } from '../clients/subscriber.js';

const KEPT = 1_000;
const by = signatoryOf(1);
/** Enough memes for old segments to be archived. */
const MEMES = 1_500;

const segmentsOf = (data: string) => readdirSync(join(data, 'archive')).sort();
const numbersOf = (events: readonly { seq: number }[]) => events.map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** Registers agents, finalizes a block and posts memes. Returns the block hash. */
async function inhabit(server: Host): Promise<string> {
  const caller = new Caller(server.url);
  await caller.do(registration(by, 'Ada'));
  const hash = await propose(caller, by);
  await caller.do(vote(by, hash));
  const texts = Array.from({ length: MEMES }, (_, index) => `gm ${index}`);
  await inParallel(texts, 12, (text) => caller.do(meme(by, text)));
  return hash;
}

/** Deletes archived entries that a stopped server left in the store. */
async function trimmed(path: string): Promise<void> {
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION });
  while (await store.archive!.trim());
  await store.close();
}

async function resumed(server: Host, epoch: string, seq: number, count: number) {
  const subscriber = await Subscriber.open(server.wsUrl, by);
  const answer = await subscriber.subscribe(everyTopic, { epoch, seq });
  await subscriber.took(count);
  const events = subscriber.texts.map((text) => JSON.parse(text.toString()) as ReadEvent);
  return { answer, events, subscriber };
}

test.each(full ? ['uws', 'node'] : ['uws'])('archive: invisible over %s', async (transport) => {
  const data = temporaryFolder();
  const args = ['--transport', transport, '--archive-after', String(KEPT)];
  const server = await host({ data, args });
  const caller = new Caller(server.url);
  const hash = await inhabit(server);
  await server.said('"archived"');
  const { event_seq, epoch, digest } = await meta(caller);
  const events = await caller.events();
  expect(numbersOf(events)).toEqual(upTo(event_seq));
  const again = await resumed(server, epoch, 0, event_seq);
  expect(again.answer).toMatchObject({ gap: false, replay: event_seq });
  expect(again.events).toEqual(events);
  expect(await caller.read(`/api/v1/blocks/${hash}`)).toMatchObject({ status: 'finalized' });
  expect(await caller.read(`/api/v1/blocks/${hash}/votes`)).toMatchObject({
    votes: [{ vote: { decision: 'approve' } }],
  });
  await stop(server);
  const [first] = segmentsOf(data);
  expect(first).toMatch(/^0{15}1-/);
  expect(await replayHere(data)).toMatchObject({ match: true, digest });
  const next = await host({ data, args: ['--transport', transport] });
  expect(await new Caller(next.url).events()).toEqual(events);
  expect(await meta(new Caller(next.url))).toMatchObject({ digest, epoch });
  await stop(next);
});

test('archive: a damaged segment is named in refusals; all else is served', async () => {
  const data = temporaryFolder();
  const server = await host({ data, args: ['--archive-after', String(KEPT)] });
  const hash = await inhabit(server);
  await server.said('"archived"');
  const { event_seq, epoch } = await meta(new Caller(server.url));
  const whole = await new Caller(server.url).events();
  await stop(server);
  await trimmed(data);
  const names = segmentsOf(data);
  const path = join(data, 'archive', names.at(-1)!);
  const good = readFileSync(path);
  const bad = Buffer.from(good);
  bad[bad.length - 100]! ^= 1;
  writeFileSync(path, bad);

  const hurt = await host({ data });
  const caller = new Caller(hurt.url);
  const { status, text } = await caller.call('GET', `/api/v1/events?after=${event_seq}`);
  expect([status, text]).toEqual([200, expect.stringContaining('"events":[]')]);
  const refused = await refusalIn(caller);
  const { first_event, last_event } = refused.details as Record<string, number>;
  // Events before and after the segment are served.
  expect(numbersOf(await caller.events(last_event))).toEqual(upTo(event_seq).slice(last_event));
  for (let count = 0; count < 20; count += 1) await refusalIn(caller);
  const named = hurt
    .stderr()
    .split('\n')
    .filter((line) => line.includes(names.at(-1)!));
  expect(named).toHaveLength(1);

  const { subscriber } = await resumed(hurt, epoch, first_event! - 1, 1);
  expect((await subscriber.closed).code).toBe(4503);
  expect(subscriber.texts.at(-1)!.toString()).toContain('ARCHIVE_DAMAGED');
  const behind = await resumed(hurt, epoch, last_event!, event_seq - last_event!);
  expect(behind.events).toEqual(whole.slice(last_event));
  // The network continues.
  expect((await caller.call('GET', '/readyz')).status).toBe(200);
  await caller.do(meme(by, 'still here'));
  expect(await caller.read(`/api/v1/blocks?limit=1`)).toMatchObject({ blocks: [{}] });
  const ofBlock = await caller.call('GET', `/api/v1/blocks/${hash}`);
  expect(ofBlock.status).toBe(names.length === 1 ? 503 : 200);

  writeFileSync(path, good);
  expect((await caller.events()).slice(0, whole.length)).toEqual(whole);
  await stop(hurt);

  // A copy without its archive reports the missing archive at startup, and serves the rest.
  renameSync(join(data, 'archive'), join(data, 'elsewhere'));
  const without = await host({ data });
  await without.said(names[0]!);
  expect((await new Caller(without.url).call('GET', '/readyz')).status).toBe(200);
  expect((await new Caller(without.url).call('GET', `/api/v1/blocks/${hash}`)).status).toBe(503);
  cpSync(join(data, 'elsewhere'), join(data, 'archive'), { recursive: true });
  expect((await new Caller(without.url).call('GET', `/api/v1/blocks/${hash}`)).status).toBe(200);
  await stop(without);
});

/** Reads events until one is unreadable. Returns the refusal. */
async function refusalIn(caller: Caller): Promise<{ reason: string; details: object }> {
  for (let after = 0; ; ) {
    const { status, text } = await caller.call('GET', `/api/v1/events?limit=1000&after=${after}`);
    const { data, error } = JSON.parse(text);
    if (status === 200) {
      expect(data.next_cursor, 'all can be read').not.toBe(null);
      after = Number(data.next_cursor);
      continue;
    }
    expect([status, error.code, error.details.reason]).toEqual([
      ...[503, 'NETWORK_ERROR', 'ARCHIVE_DAMAGED'],
    ]);
    expect(error.details.first_event).toBe(after + 1);
    expect(text).not.toContain('.seg');
    return { reason: error.details.reason, details: error.details };
  }
}

const points = ['archive.written', 'archive.named', 'archive.recorded', 'archive.trimmed'];

test.each(
  full ? points : points.slice(2),
)('archive: a server killed at %s loses no acknowledged write', async (point) => {
  const data = temporaryFolder();
  const args = ['--archive-after', String(KEPT)];
  const dying = await host({ data, args, env: { FOLKMOOT_CRASH_AT: point } });
  const caller = new Caller(dying.url);
  await caller.do(registration(by, 'Ada'));
  const told: string[] = [];
  const texts = Array.from({ length: MEMES }, (_, index) => `gm ${index}`);
  await inParallel(texts, 12, async (text) => {
    const answer = await caller.do(meme(by, text)).catch(() => null);
    if (answer !== null) told.push(String(answer.meme_id));
  });
  expect((await dying.ended).signal).toBe('SIGKILL');
  // The next server deletes leftovers and continues to archive.
  const next = await host({ data, args });
  const again = new Caller(next.url);
  const events = await again.events();
  expect(numbersOf(events)).toEqual(upTo(events.length));
  const posted = new Set(events.map((event) => event.data.meme_id));
  expect(told.filter((id) => !posted.has(id))).toEqual([]);
  expect(told.length).toBeGreaterThan(KEPT);
  await again.do(meme(by, 'after the kill'));
  await stop(next);
  expect(await replayHere(data, false)).toMatchObject({ match: true });
  expect(readdirSync(join(data, 'archive'))).not.toContain('unfinished.tmp');
});
