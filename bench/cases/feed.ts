/**
 * Event delivery: one event at a time to 1,000 subscribers over real sockets, from the request that
 * causes the event to the last delivery, relative to a bare uWebSockets.js `publish` of the same
 * bytes. In folkmoot, each event comes from a signed request that is verified and durable before
 * publication. In the bare server, the request is unsigned.
 */

import { composeStatus, type Signatory } from '../../engine/protocol/compose.js';
import { agentId } from '../../engine/protocol/signing.js';
import { defineCase, type Round, type Row } from '../case.js';
import {
  CONNECTIONS_PER_AGENT,
  createGreetings,
  type Subscribers,
  subscribe,
} from '../clients/clients.js';
import { signatories } from '../fixtures/chain.js';
import type { MeasuredServer } from '../servers/child-server.js';
import { type FolkmootServer, registerAt, withBare, withFolkmoot } from '../servers/processes.js';

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
}

/** Measures a folkmoot server; also returns the last delivered event. */
function fannedOutBy(asked: FanOutOptions, seed: string) {
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
  const start = performance.now();
  await publish(asked.events);
  const seconds = (performance.now() - start) / 1000;
  const deliveries = asked.events * asked.subscribers;
  const cpuUs = (1e6 * ((await server.cpuSeconds()) - cpu)) / deliveries;
  return { perSecond: deliveries / seconds, cpuUs };
}

export const feedCase = defineCase<FanOutOptions>({
  name: 'feed',
  about: 'one event to 1,000 subscribers over sockets, relative to a bare uWebSockets.js publish',
  everyRound: true,
  sizes: {
    small: { subscribers: 1_000, events: 60 },
    large: { subscribers: 1_000, events: 1_000 },
  },
  run: measureFanOut,
});
