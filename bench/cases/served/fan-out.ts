/**
 * One event at a time to 1,000 subscribers over real sockets: from the request that causes it to
 * the last delivery, beside a bare uWebSockets.js `publish` of the same bytes. Here each event is
 * a signed request, verified and durable before it is published; there it is an unsigned one.
 */
import { composeStatus, type Signatory } from '../../../engine/internal.js';
import { agentId } from '../../../engine/protocol/signing.js';
import { defineCase, type Round } from '../../case.js';
import {
  CONNECTIONS_PER_AGENT,
  greetingsOf,
  type Subscribers,
  subscribe,
} from '../../clients/subscribers.js';
import { signatories } from '../../fixtures/chain.js';
import type { Row } from '../../result.js';
import { withBare } from '../../servers/bare.js';
import { type FolkmootServer, registerAt, withFolkmoot } from '../../servers/folkmoot.js';
import type { MeasuredServer } from '../../servers/server.js';
import { type ByThread, watchThreads } from '../../servers/threads.js';

interface Configuration {
  subscribers: number;
  events: number;
}

async function run(asked: Configuration, { seed }: Round): Promise<Row[]> {
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
    { name: 'such an event, when nobody subscribes', cpu_us: folkmoot.eventUs },
    { name: 'the same, bare uWebSockets.js', cpu_us: bare.eventUs },
    {
      name: `${name}: deliveries/s of a bare publish`,
      ratio: folkmoot.perSecond / bare.perSecond,
      wanted: 0.5,
    },
    {
      name: `${name}: deliveries for CPU time of a bare publish`,
      ratio: bare.cpuUs / folkmoot.cpuUs,
      wanted: 0.7,
    },
    {
      name: `${name}: the same without what causes it`,
      ratio: withoutEvent(bare, asked) / withoutEvent(folkmoot, asked),
    },
  ];
}

/** CPU time of a delivery alone: a request that is signed, verified and durable is not cheap. */
const withoutEvent = ({ cpuUs, eventUs }: FannedOut, { subscribers }: Configuration): number =>
  cpuUs - eventUs / subscribers;

export interface FannedOut {
  /** Deliveries. */
  perSecond: number;
  /** Of the server, for each delivery, microseconds. */
  cpuUs: number;
  /** Of the server, for what causes an event, without a subscriber; microseconds. */
  eventUs: number;
  spent: { deliveries: number; threads: ByThread | null };
}

/** Of a server of folkmoot, with the last event that was delivered. */
export function fannedOutBy(asked: Configuration, seed: string, more: readonly string[] = []) {
  return withFolkmoot(async (server) => {
    const by = signatories(seed, Math.ceil(asked.subscribers / CONNECTIONS_PER_AGENT), true);
    await registerAt(server, by);
    const greetings = greetingsOf(by, asked.subscribers, 'network');
    const cause = statusUpdates(server, by[0]!);
    const eventUs = await costOf(server, asked.events, cause);
    const subscribers = await subscribe(server, greetings);
    const folkmoot = { ...(await fanOut(server, subscribers, asked, cause)), eventUs };
    const event = await lastEvent(server);
    await subscribers.close();
    return { folkmoot, event };
  }, more);
}

/** Each an `agent_status` event; their timestamps ascend. */
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

function ofBare(asked: Configuration, event: string): Promise<FannedOut> {
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

/** CPU time of the server for each event that nobody hears, microseconds. */
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
  asked: Configuration,
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

export const fanOutCase = defineCase<Configuration>({
  name: 'fan-out',
  about: 'one event to 1,000 subscribers over sockets, beside a bare uWebSockets.js publish',
  everyRound: true,
  sizes: {
    small: { subscribers: 1_000, events: 60 },
    large: { subscribers: 1_000, events: 1_000 },
  },
  run,
});
