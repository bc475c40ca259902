/** View reads: snapshots, columns, the log, lists, and refusals. */
import { KeptNetwork } from 'folkmoot';
import { startServer } from 'folkmoot/api';
import type { Snapshot } from '../../../../dist/api/view/model.js';
import { applyRowBatch, createEmptySnapshot } from '../../../../dist/api/view/reducer.js';
import { decodeRowBatch } from '../../../../dist/api/view/row-batch.js';
import { temporaryFolder, testsWith } from '../../../support/fixture.js';
import { oneTransport, world } from '../../../support/service/server.js';
import { type Agent, discuss, meme, status } from '../../../support/service/signer.js';
import { expectError, type World } from '../../../support/service/world.js';

const hostile = '<img src=x onerror=alert(1)> \u202egnp.exe \u200b</script> ünï';

/** Creates three agents that finalize two blocks, discuss and post. */
async function town(there: World): Promise<Agent[]> {
  const agents = await there.joinAll('ada', 'bob', 'cy');
  const [ada, bob, cy] = agents as [Agent, Agent, Agent];
  for (const caption of ['first', hostile]) {
    await there.do(meme(ada, { caption, tags: [], file: `text ${caption.length}` }));
  }
  for (const by of [ada, bob]) {
    const block_hash = await there.propose(by);
    await there.do(discuss(cy, { block_hash, message: hostile, sentiment: 'negative' }));
    await there.vote(cy, block_hash, { decision: 'approve', reason: 'well' });
    await there.vote(bob, block_hash, { decision: 'reject' });
  }
  await there.do(status(cy, { status: 'inactive' }), 200);
  return agents;
}

const bytesOf = async (there: World, path: string) => {
  const answer = await fetch(`${there.url}${path}`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'application/octet-stream',
  ]);
  return new Uint8Array(await answer.arrayBuffer());
};

describe.each(oneTransport)('view reads over %s', (transport) => {
  const begin = async (server = {}) => {
    const there = await world({ transport, server });
    return { there, agents: await town(there) };
  };
  const check = testsWith(() => begin());

  test('view: shows the network after any entry; columns advance a snapshot', async () => {
    const { there } = await begin();
    const now = (await there.read('/api/v1/view')) as unknown as Snapshot;
    const { digest, seq } = await there.read('/api/v1/meta');
    expect([now.digest, now.entry]).toEqual([digest, seq]);
    const progress = await there.read('/api/v1/view/progress');
    expect(progress).toEqual({ made: true, entry: seq, to: seq });
    expect(now.agents.map(({ name, status: s }) => [name, s])).toEqual([
      ['ada', 'active'],
      ['bob', 'active'],
      ['cy', 'inactive'],
    ]);
    expect(now.totals).toMatchObject({ proposed: 2, rejected: 2, memes: 2, remarks: 2 });
    expect(now.memes.map(({ caption }) => caption)).toEqual(['first', hostile]);
    expect(now.said.filter(({ kind }) => kind === 'remark')[0]!.text).toBe(hostile);
    const folded = createEmptySnapshot(now);
    const ends = [3, 9, now.entry];
    for (const at of ends) {
      while (folded.entry < at) {
        const path = `/api/v1/columns?from=${folded.entry + 1}&to=${at}`;
        applyRowBatch(folded, decodeRowBatch(await bytesOf(there, path)));
      }
      expect(await there.read(`/api/v1/view?at=${at}`)).toEqual(JSON.parse(JSON.stringify(folded)));
    }
    expect(folded).toEqual(now);
  });

  test('overview: shows all events and outcomes in the requested number of buckets', async () => {
    const { there } = await begin();
    const all = await there.read('/api/v1/overview?buckets=1');
    const many = await there.read('/api/v1/overview?buckets=2000');
    type Pieces = { from: number; entries: number; events: number[]; ends: number[] }[];
    const pieces = many.buckets as Pieces;
    const [whole] = all.buckets as Pieces;
    const summed = (of: 'events' | 'ends') =>
      whole![of].map((_, place) => pieces.reduce((sum, one) => sum + one[of][place]!, 0));
    expect([summed('events'), summed('ends')]).toEqual([whole!.events, whole!.ends]);
    expect(pieces.reduce((sum, { entries }) => sum + entries, 0)).toBe(Number(all.entry) + 1);
    expect(whole!.events.reduce((sum, count) => sum + count, 0)).toBe(all.event_seq);
    expect(pieces.map((p) => p.from)).toEqual(pieces.map((p) => p.from).toSorted((a, b) => a - b));
    const closings = all.closings as { entry: number; status: string; block: number }[];
    expect(closings.map(({ block, status: s }) => [block, s])).toEqual([
      [0, 'rejected'],
      [1, 'rejected'],
    ]);
    for (const { entry, block } of closings) {
      const { events } = await there.read(`/api/v1/entries/${entry}`);
      const closes = (events as { type: string }[]).some(({ type }) => type === 'block_status');
      const snapshot = (await there.read(`/api/v1/view?at=${entry}`)) as unknown as Snapshot;
      expect([closes, snapshot.blocks[block]!.status]).toEqual([true, 'rejected']);
    }
  });

  check('entries: show the request, the agent and every event once', async ({ there, agents }) => {
    const { seq, event_seq } = await there.read('/api/v1/meta');
    const seqs: number[] = [];
    for (let entry = 0; entry <= Number(seq); entry += 1) {
      const one = await there.read(`/api/v1/entries/${entry}`);
      expect(one.entry).toBe(entry);
      seqs.push(...(one.events as { seq: number }[]).map((event) => event.seq));
      if (one.kind === 'register')
        expect(agents.map(({ agentId }) => agentId)).toContain(one.agent_id);
    }
    expect(seqs).toEqual(Array.from({ length: Number(event_seq) }, (_, index) => index + 1));
  });

  check('log: returns lines like folkmoot log, from any entry', async ({ there }) => {
    const answer = await there.get('/api/v1/log?from=2&limit=3');
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([lines.map(({ seq }) => seq), lines[2].kind]).toEqual([[2, 3, 4], 'meme']);
    expect(Buffer.from(lines[2].file, 'base64').toString()).toBe('text 5');
    expect(lines[0].digest).toBe((await there.read('/api/v1/entries/2')).digest);
  });

  test('lists: page through the roster, votes, memes of an agent and all memes', async () => {
    const { there, agents } = await begin();
    const [ada, bob] = agents as [Agent, Agent];
    const pages = async (path: string, name: string) => {
      const rows: Record<string, unknown>[] = [];
      let cursor: unknown = null;
      do {
        const page = await there.read(
          `${path}?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        rows.push(...(page[name] as Record<string, unknown>[]));
        cursor = page.next_cursor;
      } while (cursor !== null);
      return rows;
    };
    const roster = await pages('/api/v1/agents', 'agents');
    expect(roster.map(({ number, name, status: s }) => [number, name, s])).toEqual([
      [0, 'ada', 'active'],
      [1, 'bob', 'active'],
      [2, 'cy', 'inactive'],
    ]);
    const votes = await pages(`/api/v1/agents/${bob.agentId}/votes`, 'votes');
    expect(votes.map(({ decision, block_status }) => [decision, block_status])).toEqual([
      ['reject', 'rejected'],
      ['reject', 'rejected'],
    ]);
    expect(Number(votes[0]!.entry)).toBeGreaterThan(Number(votes[1]!.entry));
    const memes = await pages('/api/v1/memes', 'memes');
    expect(memes.map(({ caption }) => caption)).toEqual([hostile, 'first']);
    expect(await pages(`/api/v1/agents/${ada.agentId}/memes`, 'memes')).toEqual(memes);
    expect(await pages(`/api/v1/agents/${bob.agentId}/memes`, 'memes')).toEqual([]);
  });

  check('refuses invalid and unknown values', async ({ there }) => {
    const stranger = `agent_${'0'.repeat(32)}`;
    const bad = [
      ...['at=', 'at=x', 'at=-1', 'at=1.5', 'at=1e3'].map((query) => `view?${query}`),
      ...['', 'from=x', 'from=5&to=4', 'from=1&to=x'].map((query) => `columns?${query}`),
      ...['buckets=0', 'buckets=2001', 'buckets=x'].map((query) => `overview?${query}`),
      ...['limit=0', 'limit=1001', 'from=-1'].map((query) => `log?${query}`),
      ...['agents?cursor=x', 'agents?limit=0', 'memes?cursor=x', 'entries/x', 'entries/-1'],
      ...['agents/x/votes', 'agents/x/memes', `agents/${stranger}/votes?limit=0`],
    ];
    for (const path of bad) {
      expectError(await there.get(`/api/v1/${path}`), 400, 'INVALID_REQUEST', 'SCHEMA');
    }
    for (const path of ['view?at=99999', 'columns?from=99999', 'log?from=99999', 'entries/99999']) {
      expectError(await there.get(`/api/v1/${path}`), 404, 'INVALID_REQUEST', 'UNKNOWN_ENTRY');
    }
    for (const what of ['votes', 'memes']) {
      const answer = await there.get(`/api/v1/agents/${stranger}/${what}`);
      expectError(answer, 404, 'INVALID_AGENT', 'UNKNOWN_AGENT');
    }
    expectError(await there.get('/api/v1/scenario'), 404, 'INVALID_REQUEST', 'UNKNOWN_SCENARIO');
  });

  test('scenario: is served if known', async () => {
    const scenario = {
      title: hostile,
      groups: [{ name: 'town', agents: [] }],
      faults: [{ kind: 'partition', from: 5, to: null, groups: ['town'] }],
    };
    const { there } = await begin({ scenario });
    expect(await there.read('/api/v1/scenario')).toEqual({ ...scenario, graph: null });
    expect((await there.read('/api/v1/control')).knows).toEqual(['scenario']);
  });
});

test('view reads: serve a read-only folder', async () => {
  const path = temporaryFolder();
  const there = await world({ path, limits: 'off' });
  await town(there);
  const network = KeptNetwork.open({ path });
  const server = await startServer({ network, port: 0, version: '0', limits: 'off' });
  onTestFinished(async () => {
    await server.close();
    await network.close();
  });
  const live = await there.read('/api/v1/view');
  const kept = await (await fetch(`${server.url}/api/v1/view`)).json();
  expect((kept as { data: unknown }).data).toEqual(live);
});

test('view reads: a snapshot costs four reads, its progress one', async () => {
  const there = await world({ limits: 'spec' });
  const left = (answer: { headers: Headers }) =>
    Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
  const before = left(await there.get('/api/v1/meta'));
  const { data } = await there.get('/api/v1/view');
  expect(data.entry).toBe(0);
  expect(left(await there.get('/api/v1/meta'))).toBe(before - 5);
  await there.read('/api/v1/view/progress');
  expect(left(await there.get('/api/v1/meta'))).toBe(before - 7);
});
