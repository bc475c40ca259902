/**
 * Cases for event delivery to subscribers and watchers. `fan-out` sends one event at a time to
 * 1,000 subscribers over real sockets, and measures from the request that causes the event to the
 * last delivery, relative to a bare uWebSockets.js `publish` of the same bytes. In folkmoot, each
 * event comes from a signed request that is verified and durable before publication. In the bare
 * server, the request is unsigned.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ViewLog } from '../../api/view/log/view-log.js';
import type { RowBatch } from '../../api/view/model.js';
import { applyRowBatch, createEmptySnapshot } from '../../api/view/reducer.js';
import { encodeRowBatch } from '../../api/view/row-batch.js';
import { KeptNetwork } from '../../engine/node/kept-network.js';
import { composeStatus, type Signatory } from '../../engine/protocol/compose.js';
import { agentId } from '../../engine/protocol/signing.js';
import { defaultScenario, simulate } from '../../sim/index.js';
import { defineCase, type Round, type Row } from '../case.js';
import {
  CONNECTIONS_PER_AGENT,
  createGreetings,
  type Subscribers,
  subscribe,
} from '../clients/clients.js';
import { signatories } from '../fixtures/chain.js';
import { withFolder } from '../fixtures/network.js';
import { measureTime, median } from '../raw/raw.js';
import type { MeasuredServer } from '../servers/child-server.js';
import { type LoadMeasurement, load } from '../servers/load.js';
import {
  type ByThread,
  type FolkmootServer,
  registerAt,
  watchThreads,
  withBare,
  withFolkmoot,
} from '../servers/processes.js';

interface FanOutOptions {
  subscribers: number;
  events: number;
}

async function measureFanOut(asked: FanOutOptions, { seed }: Round): Promise<Row[]> {
  const { folkmoot, event } = await fannedOutBy(asked, seed);
  const bare = await ofBare(asked, event);
  const count = asked.subscribers.toLocaleString('en-US');
  const row = (name: string, { perSecond, cpuUs }: FannedOut): Row => ({
    name,
    per_s: perSecond,
    cpu_us: cpuUs,
  });
  const name = `one event to ${count} subscribers`;
  return [
    row(`${name}: deliveries`, folkmoot),
    row('the same, bare uWebSockets.js publish', bare),
    { name: 'the same event without subscribers', cpu_us: folkmoot.eventUs },
    { name: 'the same, bare uWebSockets.js', cpu_us: bare.eventUs },
    {
      name: `${name}: deliveries/s, relative to a bare publish`,
      ratio: folkmoot.perSecond / bare.perSecond,
      wanted: 0.5,
    },
    {
      name: `${name}: deliveries per CPU time, relative to a bare publish`,
      ratio: bare.cpuUs / folkmoot.cpuUs,
      wanted: 0.7,
    },
    {
      name: `${name}: the same, without the request that causes the event`,
      ratio: withoutEvent(bare, asked) / withoutEvent(folkmoot, asked),
    },
  ];
}

/** CPU time for delivery alone, without the signed, verified and durable request. */
const withoutEvent = ({ cpuUs, eventUs }: FannedOut, { subscribers }: FanOutOptions): number =>
  cpuUs - eventUs / subscribers;

interface FannedOut {
  perSecond: number;
  /** Server CPU time per delivery, in microseconds. */
  cpuUs: number;
  /** Server CPU time per event without a subscriber, in microseconds. */
  eventUs: number;
  spent: { deliveries: number; threads: ByThread | null };
}

/** Measures a folkmoot server; also returns the last delivered event. */
export function fannedOutBy(asked: FanOutOptions, seed: string) {
  return withFolkmoot(async (server) => {
    const by = signatories(seed, Math.ceil(asked.subscribers / CONNECTIONS_PER_AGENT), true);
    await registerAt(server, by);
    const greetings = createGreetings(by, asked.subscribers, 'network');
    const cause = statusUpdates(server, by[0]!);
    const eventUs = await costOf(server, asked.events, cause);
    const subscribers = await subscribe(server, greetings);
    const folkmoot = { ...(await fanOut(server, subscribers, asked, cause)), eventUs };
    const event = await lastEvent(server);
    await subscribers.close();
    return { folkmoot, event };
  });
}

/** Returns status updates with ascending timestamps. Each update causes an `agent_status` event. */
function statusUpdates(server: FolkmootServer, by: Signatory): () => Promise<unknown> {
  let at = Date.now();
  return () => {
    at = Math.max(Date.now(), at + 1);
    const fields = { status: 'active', reason: 'to be published to many' } as const;
    const timestamp = new Date(at).toISOString();
    return server.send(composeStatus(by, timestamp, agentId(by.publicKey), fields));
  };
}

async function lastEvent({ url }: MeasuredServer): Promise<string> {
  const response = await fetch(`${url}/api/v1/events?topics=network&limit=1000`);
  const { data } = (await response.json()) as { data: { events: unknown[] } };
  return JSON.stringify(data.events.at(-1));
}

function ofBare(asked: FanOutOptions, event: string): Promise<FannedOut> {
  return withBare('', async (server) => {
    const cause = async () => {
      await (await fetch(server.url, { method: 'POST', body: event })).text();
    };
    const eventUs = await costOf(server, asked.events, cause);
    const subscribers = await subscribe(server, new Array(asked.subscribers).fill([]));
    const fannedOut = await fanOut(server, subscribers, asked, cause);
    await subscribers.close();
    return { ...fannedOut, eventUs };
  });
}

const WARM_UP_EVENTS = 10;

/** Server CPU time per event without subscribers, in microseconds. */
async function costOf(
  server: MeasuredServer,
  events: number,
  cause: () => Promise<unknown>,
): Promise<number> {
  for (let caused = 0; caused < WARM_UP_EVENTS; caused += 1) await cause();
  const cpu = await server.cpuSeconds();
  for (let caused = 0; caused < events; caused += 1) await cause();
  return (1e6 * ((await server.cpuSeconds()) - cpu)) / events;
}

async function fanOut(
  server: MeasuredServer,
  subscribers: Subscribers,
  asked: FanOutOptions,
  cause: () => Promise<unknown>,
): Promise<Omit<FannedOut, 'eventUs'>> {
  const publish = async (events: number) => {
    for (let sent = 0; sent < events; sent += 1) {
      await Promise.all([subscribers.delivered(asked.subscribers), cause()]);
    }
  };
  await publish(WARM_UP_EVENTS);
  const cpu = await server.cpuSeconds();
  const threads = watchThreads(server.pid, 0);
  const start = performance.now();
  await publish(asked.events);
  const seconds = (performance.now() - start) / 1000;
  const deliveries = asked.events * asked.subscribers;
  const cpuUs = (1e6 * ((await server.cpuSeconds()) - cpu)) / deliveries;
  const spent = { deliveries, threads: threads() };
  return { perSecond: deliveries / seconds, cpuUs, spent };
}

export const fanOutCase = defineCase<FanOutOptions>({
  name: 'fan-out',
  about: 'one event to 1,000 subscribers over sockets, relative to a bare uWebSockets.js publish',
  everyRound: true,
  sizes: {
    small: { subscribers: 1_000, events: 60 },
    large: { subscribers: 1_000, events: 1_000 },
  },
  run: measureFanOut,
});

/*
 * Anonymous watchers: signed votes over HTTP on one server with 0, 1 and 30 watchers. The three
 * alternate, so that a change in machine speed affects all equally.
 */

interface WatchOptions {
  seconds: number;
  turns: number;
}

const CONCURRENCY = 512;
const AGENTS = 4_000;
/** Required vote rate as a fraction of the rate without watchers, by number of watchers. */
const wanted = new Map([
  [0, null],
  [1, 0.98],
  [30, 0.95],
]);

async function measureWatch({ seconds, turns }: WatchOptions, { r, seed }: Round): Promise<Row[]> {
  const all = new Map([...wanted.keys()].map((count): [number, LoadMeasurement[]] => [count, []]));
  await withFolkmoot(async (server) => {
    // Uses the same agents every time, because a growing electorate would slow later turns.
    await votes(server, 0, { seconds, seed });
    for (let turn = 0; turn < turns; turn += 1) {
      for (const [count, loaded] of all) {
        loaded.push(await votes(server, count, { seconds, seed }));
      }
    }
  });
  const perSecond = (count: number) =>
    all.get(count)!.map(({ result }) => result.arrivals.accepted_per_s);
  const cpuUs = (count: number) => median(all.get(count)!.map((one) => one.cpuUs));
  return [...wanted].flatMap(([count, least]): Row[] => {
    const name = `votes over http, ${count} watchers`;
    const rate = median(perSecond(count));
    const row = { name, per_s: rate, of_r: rate / r, cpu_us: cpuUs(count) };
    if (least === null) return [row];
    return [
      row,
      {
        name: `${name}: votes/s, relative to no watchers`,
        ratio: rate / median(perSecond(0)),
        wanted: least,
      },
      {
        name: `${name}: votes per CPU time, relative to no watchers`,
        ratio: cpuUs(0) / cpuUs(count),
        wanted: least,
      },
    ];
  });
}

async function votes(
  server: FolkmootServer,
  watchers: number,
  { seconds, seed }: { seconds: number; seed: string },
): Promise<LoadMeasurement> {
  const greeting = [JSON.stringify({ type: 'watch' })];
  const greetings = new Array<string[]>(watchers).fill(greeting);
  const watching = watchers === 0 ? null : await subscribe(server, greetings);
  try {
    return await load(server, {
      workload: 'votes',
      agents: AGENTS,
      concurrency: CONCURRENCY,
      connections: CONCURRENCY,
      durationMs: 1000 * seconds,
      warmupMs: 500,
      seed,
    });
  } finally {
    await watching?.close();
  }
}

export const watchCase = defineCase<WatchOptions>({
  name: 'watch',
  about: 'signed votes over HTTP with 0, 1 and 30 watchers, alternating on one server',
  sizes: { small: { seconds: 2, turns: 2 }, large: { seconds: 10, turns: 7 } },
  run: measureWatch,
});

interface ViewOptions {
  agents: number;
  /** A block with 1,000 agents produces about 1,400 events. */
  blocks: number;
}

const LOOKS = 100;
const MIB = 2 ** 20;

async function measureView({ agents, blocks }: ViewOptions, { seed }: Round): Promise<Row[]> {
  return withFolder(async (folder) => {
    const out = join(folder, 'run');
    const length = { blocks };
    await simulate(defaultScenario(agents, { length, signatures: 'none' }), { out, seed });
    const path = join(out, 'network');
    const made = await withView(path, firstMade);
    return [...made, ...(await withView(path, openedAgain))];
  });
}

async function withView(
  path: string,
  work: (network: KeptNetwork, view: ViewLog) => Promise<Row[]>,
): Promise<Row[]> {
  const network = KeptNetwork.open({ path });
  const view = new ViewLog(network);
  try {
    return await work(network, view);
  } finally {
    await view.close();
    await network.close();
  }
}

async function firstMade({ read }: KeptNetwork, view: ViewLog): Promise<Row[]> {
  const { event_seq } = read.position;
  const events = `of ${event_seq.toLocaleString('en-US')} events`;
  const { wall, cpu } = await measureTime(() => view.catchUp());
  return [
    {
      name: `built from the log, ${events}`,
      per_s: event_seq / wall,
      cpu_us: (cpu * 1e6) / event_seq,
    },
  ];
}

async function openedAgain({ read, folder }: KeptNetwork, view: ViewLog): Promise<Row[]> {
  const opened = await measureTime(async () => void (await view.readSnapshot()));
  const times: number[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    // Spread evenly over the log without a pattern, using the golden ratio 0.618...
    const at = Math.trunc(((look * 0.6180339887) % 1) * read.position.seq);
    times.push((await measureTime(async () => void (await view.readSnapshot(at)))).wall * 1_000);
  }
  times.sort((a, b) => a - b);
  const spans = await spansOf(view);
  const bytes = spans.reduce((sum, span) => sum + encodeRowBatch(span).length, 0);
  const folded = await measureTime(async () => {
    const picture = createEmptySnapshot(await view.readSnapshot(0));
    for (const span of spans) applyRowBatch(picture, span);
  });
  const kept = sizeOf(join(folder, 'view'));
  return [
    { name: 'reopened from the last snapshot', value: opened.wall * 1_000, unit: 'ms' },
    { name: 'a random entry, median', value: times[LOOKS / 2]!, unit: 'ms' },
    { name: 'a random entry, 95 of 100', value: times[94]!, unit: 'ms', allowed: 300 },
    { name: 'all rows folded', value: folded.wall * 1_000, unit: 'ms' },
    { name: 'columns', value: bytes / MIB, unit: 'MiB' },
    { name: 'files, with snapshots', value: kept / MIB, unit: 'MiB' },
  ];
}

/** Total size of the files in a folder; 0 if the run was too short to fill a chunk. */
function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

async function spansOf(view: ViewLog): Promise<RowBatch[]> {
  const spans: RowBatch[] = [];
  for (let from = 0; from <= view.end; from = spans.at(-1)!.to + 1) {
    // The server's batch size, from serverBounds.view.
    spans.push(await view.readRowBatch(from, undefined, { rows: 16_384, said: 500 }));
  }
  return spans;
}

export const viewCase = defineCase<ViewOptions>({
  name: 'view',
  about: 'view of the page: built from a log, reopened, at a random entry',
  sizes: { small: { agents: 200, blocks: 40 }, large: { agents: 1_000, blocks: 100 } },
  run: measureView,
});
