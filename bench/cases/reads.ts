/**
 * Read cases: `GET /api/v1/network/state` relative to a bare uWebSockets.js handler that sends the
 * same bytes, and the time for which each read blocks the event loop.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { defaultScenario, simulate } from '../../sim/index.js';
import { defineCase, type Round, type Row } from '../case.js';
import { getRate } from '../clients/clients.js';
import { withFolder } from '../fixtures/network.js';
import { median } from '../raw/raw.js';
import type { Question, TurnTimes } from '../read-costs-server.js';
import { withBare, withFolkmoot } from '../servers/processes.js';

interface ReadsOptions {
  seconds: number;
}

const PATH = '/api/v1/network/state';

async function measureReads({ seconds }: ReadsOptions, { r }: Round): Promise<Row[]> {
  const { folkmoot, body } = await withFolkmoot(async (server) => {
    const body = await (await fetch(server.url + PATH)).text();
    return { folkmoot: await getRate(server, PATH, seconds), body };
  });
  const bare = await withBare(body, (server) => getRate(server, PATH, seconds));
  const row = (name: string, { perSecond, cpuUs }: typeof bare): Row => ({
    name,
    per_s: perSecond,
    of_r: perSecond / r,
    cpu_us: cpuUs,
  });
  const answers = 'GET network/state: responses/s, relative to a bare handler';
  const cpu = 'GET network/state: responses per CPU time, relative to a bare handler';
  return [
    row(`GET ${PATH}`, folkmoot),
    row('the same bytes, bare uWebSockets.js', bare),
    { name: answers, ratio: folkmoot.perSecond / bare.perSecond, wanted: 0.5 },
    { name: cpu, ratio: bare.cpuUs / folkmoot.cpuUs, wanted: 0.75 },
  ];
}

export const readsCase = defineCase<ReadsOptions>({
  name: 'reads',
  about: 'GET network/state of a server, relative to a bare uWebSockets.js handler',
  everyRound: true,
  sizes: { small: { seconds: 1 }, large: { seconds: 10 } },
  run: measureReads,
});

interface ReadCostsOptions {
  agents: number;
  blocks: number;
  /** Requests per read. Each request follows a commit, so that nothing is cached. */
  requests: number;
}

/** Time limit for an event-loop turn during an unauthenticated request, in milliseconds. */
const ALLOWED_MS = 5;
const WARM_UP = 2;

interface ReadTarget {
  url: string;
  ask(question: Question): Promise<TurnTimes>;
}

async function measureReadCosts(configuration: ReadCostsOptions, { seed }: Round): Promise<Row[]> {
  const { agents, blocks } = configuration;
  return withFolder(async (folder) => {
    const out = join(folder, 'run');
    await simulate(defaultScenario(agents, { length: { blocks } }), { out, seed });
    const args = [join(out, 'network'), seed, String(agents)];
    return withServer(args, async (server) => {
      const rows: Row[] = [];
      for (const read of await readsAt(server.url)) {
        rows.push(await costOf(server, read, configuration.requests));
      }
      return rows;
    });
  });
}

async function withServer<T>(args: string[], work: (server: ReadTarget) => Promise<T>): Promise<T> {
  const program = new URL('../read-costs-server.js', import.meta.url);
  const child = fork(program, args, { serialization: 'json' });
  const ended = once(child, 'exit');
  const told = async () => {
    const over = ended.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`)));
    return (await Promise.race([once(child, 'message'), over]))[0];
  };
  const { url } = (await told()) as { url: string };
  const ask = async (question: Question) => {
    child.send(question);
    return (await told()) as TurnTimes;
  };
  try {
    return await work({ url, ask });
  } finally {
    child.disconnect();
    await ended;
  }
}

interface Read {
  path: string;
  /** Path without ids. */
  name: string;
  body?: string;
}

/**
 * Returns all reads that need no key, with parameters that make each response as large as possible.
 */
async function readsAt(url: string): Promise<Read[]> {
  // biome-ignore lint/suspicious/noExplicitAny: callers read members that the interface defines
  const dataOf = async (path: string): Promise<any> =>
    ((await (await fetch(url + path)).json()) as { data: unknown }).data;
  // The server refuses to read rows until it has built the rows for the whole log.
  while (!(await dataOf('/api/v1/view/progress')).made);
  const { validators } = await dataOf('/api/v1/network/agents');
  const id = validators.at(-1).id as string;
  const { blocks } = await dataOf('/api/v1/blocks?limit=1000');
  const [open, ...closed] = blocks as { block_hash: string }[];
  const last = closed[0]!.block_hash;
  const { proposal } = await dataOf(`/api/v1/blocks/${last}`);
  const tx = proposal.transactions[0]?.hash ?? 'f'.repeat(64);
  const { memes } = await dataOf('/api/v1/memes?limit=1');
  const { seq } = await dataOf('/api/v1/meta');
  const path = (text: string, name = text): Read => ({ path: text, name });
  const described = { method: 'PUT', target: `/api/v1/agents/${id}/status`, headers: {} };
  return [
    path('/api/v1/network/state'),
    path('/api/v1/network/agents'),
    path('/api/v1/network/agents?limit=1000'),
    path(`/api/v1/social/reputation/${id}`, '/api/v1/social/reputation/{id}'),
    path(`/api/v1/agents/${id}`, '/api/v1/agents/{id}'),
    path('/api/v1/blocks?limit=1000'),
    path('/api/v1/blocks?limit=1000&status=expired'),
    path(`/api/v1/blocks/${open!.block_hash}`, '/api/v1/blocks/{hash}, in voting'),
    path(`/api/v1/blocks/${last}`, '/api/v1/blocks/{hash}'),
    path(`/api/v1/blocks/${last}/votes?limit=1000`, '/api/v1/blocks/{hash}/votes?limit=1000'),
    path(`/api/v1/blocks/${last}/votes?limit=1`, '/api/v1/blocks/{hash}/votes?limit=1'),
    path(`/api/v1/transactions/${tx}?limit=1000`, '/api/v1/transactions/{hash}?limit=1000'),
    path('/api/v1/state/some.key', '/api/v1/state/{key}'),
    path('/api/v1/social/alliances?limit=1000'),
    path('/api/v1/events?after=1000&limit=1000'),
    path('/api/v1/events?after=0&limit=1000&topics=memes'),
    path('/api/v1/view'),
    path(`/api/v1/view?at=${Math.trunc(seq / 2)}`, '/api/v1/view?at={entry}'),
    path('/api/v1/view/progress'),
    path('/api/v1/columns?from=1'),
    path('/api/v1/overview?buckets=2000'),
    path('/api/v1/agents?limit=1000'),
    path(`/api/v1/agents/${id}/votes?limit=1000`, '/api/v1/agents/{id}/votes?limit=1000'),
    path(`/api/v1/agents/${id}/memes?limit=1000`, '/api/v1/agents/{id}/memes?limit=1000'),
    path(`/api/v1/agents/${id}/decisions?limit=1000`, '/api/v1/agents/{id}/decisions?limit=1000'),
    path(`/api/v1/agents/${id}/neighbours?limit=1000`, '/api/v1/agents/{id}/neighbours?limit=1000'),
    path('/api/v1/memes?limit=1000'),
    path('/api/v1/log?from=2000&limit=1000'),
    path(`/api/v1/entries/${seq - 1}`, '/api/v1/entries/{entry}'),
    path('/api/v1/scenario'),
    path('/api/v1/meta'),
    path(`/api/v1/social/memes/${memes[0]?.meme_id}/content`, '/api/v1/social/memes/{id}/content'),
    path('/api/v1/debug/ws/none', '/api/v1/debug/ws/{connection_id}'),
    {
      ...path('/api/v1/debug/verify', '/api/v1/debug/verify, 64 KiB'),
      body: JSON.stringify({ ...described, body: JSON.stringify({ reason: 'x'.repeat(60_000) }) }),
    },
    path('/api/v1/control'),
    path('/api/v1/proof'),
    path('/api/v1/cluster'),
    path('/api/v1/load'),
    path('/metrics'),
    path('/healthz'),
    path('/readyz'),
    path('/openapi.json'),
    path('/asyncapi.json'),
    path('/docs'),
    path('/docs/socket'),
    path('/ui/'),
  ];
}

async function costOf({ url, ask }: ReadTarget, read: Read, requests: number): Promise<Row> {
  const measured: TurnTimes[] = [];
  for (let request = 0; request < WARM_UP + requests; request += 1) {
    await ask('commit');
    await ask('measured');
    const init = read.body === undefined ? {} : { method: 'POST', body: read.body };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url + read.path, { ...init, headers });
    await answer.arrayBuffer();
    if (answer.status >= 500) throw new Error(`${read.path} failed with ${answer.status}`);
    if (request >= WARM_UP) measured.push(await ask('measured'));
  }
  return {
    name: read.name,
    value: median(measured.map(({ longestMs }) => longestMs)),
    unit: 'ms',
    allowed: ALLOWED_MS,
    cpu_us: 1_000 * median(measured.map(({ totalMs }) => totalMs)),
  };
}

export const readCostsCase = defineCase<ReadCostsOptions>({
  name: 'read-costs',
  about: 'longest turn of the engine thread for each read, at its largest parameters',
  byName: true,
  sizes: {
    small: { agents: 1_000, blocks: 10, requests: 5 },
    large: { agents: 1_000, blocks: 100, requests: 9 },
  },
  run: measureReadCosts,
});
