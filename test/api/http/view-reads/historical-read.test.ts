/** Reads with `at` equal the current reads made at that time. */
import { join } from 'node:path';
import { History, KeptNetwork } from 'folkmoot';
import { startServer } from 'folkmoot/api';
import { suiteFolder } from '../../../support/runs.js';
import { drawnFrom, seed } from '../../../support/seeded.js';
import { serve, world } from '../../../support/service/server.js';
import { ally, discuss, meme, status } from '../../../support/service/signer.js';
import { expectError, World } from '../../../support/service/world.js';

/** Removes members that depend on the wall clock. */
const timeless = (data: object) => ({ ...data, server_time: '', network_tps: 0 });

interface Then {
  entry: number;
  answers: Map<string, unknown>;
}

interface Block {
  block_hash: string;
  status: string;
}

const MANY = 'limit=1000';

/** Reads every path on a current network. */
async function readAll(there: World): Promise<Then> {
  const answers = new Map<string, unknown>();
  const take = async (path: string) => {
    const data = await there.read(`/api/v1${path}`);
    answers.set(path, timeless(data));
    return data;
  };
  await take('/network/state');
  await take('/network/agents');
  await take(`/social/alliances?${MANY}`);
  await take(`/events?${MANY}`);
  const { agents } = (await there.read('/api/v1/agents')) as { agents: { id: string }[] };
  for (const { id } of agents) {
    await take(`/agents/${id}`);
    await take(`/social/reputation/${id}`);
  }
  const { blocks } = (await take(`/blocks?${MANY}`)) as { blocks: Block[] };
  for (const { block_hash } of blocks) {
    await take(`/blocks/${block_hash}`);
    await take(`/blocks/${block_hash}/votes`);
  }
  if (blocks.some(({ status: ended }) => ended === 'finalized')) await take('/state/greeting');
  return { entry: Number((await there.read('/api/v1/meta')).seq), answers };
}

/** Runs a network in a folder, and records all reads after each step. */
async function lived(path: string): Promise<Then[]> {
  const running = await serve({ path });
  const there = new World(running);
  const past: Then[] = [];
  const note = async () => void past.push(await readAll(there));
  const agents = [];
  for (const name of ['ada', 'bob', 'cy', 'dee']) {
    agents.push(await there.join(name));
    await note();
  }
  const [ada, bob, cy, dee] = agents as [Agent, Agent, Agent, Agent];
  const networkId = await there.networkId();
  await there.do(meme(ada, { caption: 'first', tags: [], file: 'to the moon' }));
  for (const [round, by] of [ada, bob, ada].entries()) {
    const state_diff = { additions: { greeting: `${networkId} ${round}` }, deletions: {} };
    const block_hash = await there.propose(by, { state_diff });
    await note();
    await there.do(discuss(cy, { block_hash, message: 'hm', sentiment: 'negative' }));
    // Two of four rejections decide the block.
    const [decision, voters] = round === 1 ? ['reject', [bob, dee]] : ['approve', [ada, bob, dee]];
    for (const voter of voters as Agent[]) {
      await there.vote(voter, block_hash, { decision });
      await note();
    }
  }
  const { alliance_id } = await there.do(
    ally.propose(ada, { target_ids: [bob.agentId], purpose: 'calm', duration: 'P1D' }),
  );
  await note();
  await there.do(ally.respond(bob, String(alliance_id), true), 200);
  await there.do(status(cy, { status: 'inactive', reason: 'tired' }), 200);
  await note();
  await running.close();
  return past;
}
type Agent = Awaited<ReturnType<World['join']>>;

const dated = (path: string, entry: number) =>
  `/api/v1${path}${path.includes('?') ? '&' : '?'}at=${entry}`;

const path = join(suiteFolder(), 'data');
let past: Then[] = [];
beforeAll(async () => {
  past = await lived(path);
});

/** Serves the folder read-only. `through` wraps its history. */
async function kept(through = (history: History): History => history) {
  const network = KeptNetwork.open({ path });
  const history = History.open({ path, spacing: 4 });
  const server = await startServer({
    ...{ network, history: through(history), port: 0, limits: 'off', version: '0.0.0-test' },
  });
  onTestFinished(async () => {
    await server.close();
    await history.close();
    await network.close();
  });
  return new World({ url: server.url, wsUrl: '' });
}

test("historical read: equals the read at that entry's time", async () => {
  const there = await kept();
  const draw = drawnFrom(seed);
  const order = past.map((then) => ({ then, by: draw(1_000) })).sort((a, b) => a.by - b.by);
  for (const { then } of order) {
    for (const [asked, answer] of then.answers) {
      const data = await there.read(dated(asked, then.entry));
      expect([seed, then.entry, asked, timeless(data)]).toEqual([seed, then.entry, asked, answer]);
    }
  }
});

test('historical read: refuses objects that did not exist yet, and invalid entries', async () => {
  const there = await kept();
  const last = past.at(-1)!;
  const block = [...last.answers.keys()].find((asked) => /^\/blocks\/[0-9a-f]+$/.test(asked))!;
  const { entry } = await there.read(`/api/v1${block}`);
  const before = await there.get(dated(block, Number(entry) - 1));
  expectError(before, 404, 'INVALID_REQUEST', 'UNKNOWN_BLOCK');
  expect(await there.read(dated(block, Number(entry)))).toMatchObject({ status: 'voting', entry });
  const beyond = await there.get(dated(block, last.entry + 1));
  expectError(beyond, 404, 'INVALID_REQUEST', 'UNKNOWN_ENTRY');
  for (const at of ['', '-1', '1e3', '0x1', ' 1', '9'.repeat(16), '1%00', '../1']) {
    expectError(await there.get(`/api/v1${block}?at=${at}`), 400, 'INVALID_REQUEST', 'SCHEMA');
  }
});

test('historical read: is refused without history, with a hint', async () => {
  const there = await world();
  await there.join('ada');
  const answer = await there.get('/api/v1/network/state?at=0');
  expectError(answer, 404, 'INVALID_REQUEST', 'NO_HISTORY');
  expect(answer.error.message).toContain('folkmoot explore');
});

test('historical read: queues 16 reads and refuses the others', async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const there = await kept((history) =>
    Object.assign(Object.create(history) as History, {
      at: async (...asked: Parameters<History['at']>) => {
        await gate;
        return history.at(...asked);
      },
    }),
  );
  const ask = (at: number) => there.get(`/api/v1/network/state?at=${at}`);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => ask(at)));
  const reasons = answers.map(({ error }) => error.details.reason);
  expect(reasons.filter((reason) => reason === 'QUEUE_FULL')).toHaveLength(4);
  expect(reasons.filter((reason) => reason === 'BEING_MADE')).toHaveLength(16);
  open();
  await expect.poll(async () => (await ask(19)).status).toBe(200);
});
