/** wait_for_news: delivers each event once, by cursor, across a restart and within the timeout. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AgentClient } from 'folkmoot/client';
import { expect, onTestFinished, test } from 'vitest';
import { type Cursor, EventInbox } from '../../../dist/cli/commands/mcp/acting-agents.js';
import { agentOf, clientOf, live } from '../../client/helpers.js';
import { freePort, temporaryFolder } from '../../support/fixture.js';

const all = new Set(['proposals', 'outcomes', 'blocks', 'consensus', 'memes', 'network']);
const never = new AbortController().signal;

function newsOf(client: AgentClient) {
  // The compiler sees two versions of the class, in the sources and in the build.
  const news = new EventInbox(client as unknown as ConstructorParameters<typeof EventInbox>[0]);
  onTestFinished(() => news.close());
  const wait = (from: Cursor | null, more: { waitMs?: number; limit?: number } = {}) =>
    news.wait(from, { topics: all, limit: 20, waitMs: 60_000, signal: never, ...more });
  return { news, wait };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const seqs = ({ events }: { events: { seq: number }[] }) => events.map(({ seq }) => seq);

test('news: returns each event once, and earlier events by pages', async () => {
  const { url, network } = await live();
  const ada = await agentOf(url);
  const { wait } = newsOf(ada);
  for (const status of ['inactive', 'maintenance', 'active'] as const) await ada.setStatus(status);
  const { epoch } = network;
  const first = await wait({ epoch, seq: 0 }, { limit: 3 });
  expect([seqs(first), first.more, first.missed]).toEqual([[1, 2, 3], true, false]);
  const second = await wait(first.cursor, { limit: 3 });
  expect([seqs(second), second.more]).toEqual([[4], false]);
  const waiting = wait(second.cursor);
  await ada.setStatus('inactive');
  const third = await waiting;
  expect([seqs(third), third.cursor]).toEqual([[5], { epoch, seq: 5 }]);
  // Wait from a position in the inbox.
  expect(seqs(await wait(second.cursor))).toEqual([5]);
});

test('news: network_metrics does not end a wait; a wait ends by its timeout', async () => {
  const { url, network } = await live();
  const ada = await agentOf(url);
  const { wait } = newsOf(ada);
  const { block_hash } = await ada.propose({ transactions: ['x'] });
  await ada.vote({ block_hash, decision: 'approve' });
  const found = await wait({ epoch: network.epoch, seq: 1 });
  const types = found.events.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['block_proposal', 'block_validation']));
  expect(types).not.toContain('network_metrics');
  for (const waitMs of [0, 200]) {
    const waiting = wait(found.cursor, { waitMs });
    // A timeout survives a garbage collection.
    setTimeout(collectGarbage, 100);
    expect(await waiting).toMatchObject({ events: [], more: false });
  }
});

test('news: an aborted wait ends at once', async () => {
  const { url } = await live();
  const { news, wait } = newsOf(await agentOf(url));
  // The subscription is open now. Before that, an aborted wait fails.
  const { cursor } = await wait(null, { waitMs: 0 });
  const given = new AbortController();
  const waiting = news.wait(cursor, {
    topics: all,
    limit: 1,
    waitMs: 2 ** 30,
    signal: given.signal,
  });
  setTimeout(() => given.abort(), 50);
  expect((await waiting).events).toEqual([]);
});

test('news: fails for an unregistered agent, and works after registration', async () => {
  const { url } = await live();
  const eve = clientOf(url, 9);
  const { wait } = newsOf(eve);
  await expect(wait(null)).rejects.toMatchObject({ reason: 'UNKNOWN_AGENT' });
  await eve.register({ name: 'Eve', personality: 'lawful', capabilities: ['validator'] });
  expect((await wait(null, { waitMs: 0 })).events).toEqual([]);
});

test('news: continues after a server restart, and reports a new epoch', async () => {
  const [path, port] = [temporaryFolder(), await freePort()];
  const before = await live({ path, port, transport: 'node' });
  const ada = await agentOf(before.url);
  const { wait } = newsOf(ada);
  const { cursor } = await wait({ epoch: before.network.epoch, seq: 0 });
  await before.stop();
  const waiting = wait(cursor);
  const after = await live({ path, port, transport: 'node' });
  await ada.setStatus('inactive');
  const found = await waiting;
  expect([seqs(found), found.missed]).toEqual([[cursor.seq + 1], false]);
  await after.stop();
  await live({ port, transport: 'node' });
  await agentOf(before.url);
  // The server closed the connection opened before registration. The next call reconnects.
  const other = await wait(found.cursor).catch(() => wait(found.cursor));
  expect([other.missed, other.cursor.epoch === found.cursor.epoch]).toEqual([true, false]);
});
