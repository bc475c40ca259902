/**
 * The feed by itself: events from the network to so many subscribers, whose sockets count and
 * throw away. What a real socket costs is in the case fan-out.
 */
import { Feed } from '../../../api/socket/feed/feed.js';
import type { Subscriber } from '../../../api/socket/feed/subscriber.js';
import type { Socket } from '../../../api/transport/transport.js';
import { formatInstant, type PublishedEvent } from '../../../engine/internal.js';
import { defineCase, type Round } from '../../case.js';
import { START_MS } from '../../fixtures/chain.js';
import { withNetwork } from '../../fixtures/network.js';
import { type Rate, rateOf } from '../../raw/measure.js';
import type { Row } from '../../result.js';

interface Configuration {
  subscribers: number[];
  seconds: number;
}

async function run({ subscribers, seconds }: Configuration, _: Round): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of subscribers) {
    const { perSecond, cpuUs } = await events(count, seconds);
    const name = `deliveries, ${count.toLocaleString('en-US')} subscribers`;
    rows.push({ name, per_s: count * perSecond, cpu_us: cpuUs / count });
  }
  return rows;
}

function events(count: number, seconds: number): Promise<Rate> {
  return withNetwork({ verifier: 'off', store: 'memory' }, async (network) => {
    // The feed listens to what the network commits; here it is called directly.
    let publish: (events: readonly PublishedEvent[]) => void = () => {};
    network.onEvents = (listener) => {
      publish = listener;
      return () => {};
    };
    const feed = new Feed(network);
    let delivered = 0;
    const socket = countingSocket(() => {
      delivered += 1;
    });
    for (let added = 0; added < count; added += 1) feed.add(subscriberOf(socket));
    let seq = 0;
    const rate = rateOf(
      (wanted) => Array.from({ length: wanted }, () => voteEvent(++seq)),
      (event) => publish([event]),
      seconds,
    );
    if (delivered !== count * feed.head) {
      throw new Error(`${delivered} deliveries of ${feed.head} events to ${count} subscribers`);
    }
    feed.close();
    return rate;
  });
}

const subscriberOf = (socket: Socket): Subscriber => ({
  socket,
  agent: 'nobody',
  topics: new Set(['blocks']),
  cursor: 0,
  catchingUp: false,
  lastSent: 0,
  traffic: { messagesIn: 0, messagesOut: 0, bytesOut: 0 },
  onCut: () => {
    throw new Error('a subscriber that takes everything was cut for being slow');
  },
});

const countingSocket = (send: () => void): Socket => ({
  addressKey: 'nobody',
  together: null,
  send() {
    send();
    return true;
  },
  sendBytes: () => true,
  bufferedBytes: () => 0,
  cork: (work) => work(),
  ping() {},
  close() {},
});

function voteEvent(seq: number): PublishedEvent {
  const data = {
    block_hash: 'ab'.repeat(32),
    decision: 'approve',
    reason: 'it adds up',
    timestamp: formatInstant(START_MS + seq),
    validator: { id: `agent_${'cd'.repeat(16)}`, personality: 'lawful' },
  };
  return {
    seq,
    type: 'block_validation',
    status: null,
    json: JSON.stringify({ data, seq, type: 'block_validation' }),
  };
}

export const feedCase = defineCase<Configuration>({
  name: 'feed',
  about: 'one event to 1, 10, 100 and 1,000 subscribers in the process, without sockets',
  sizes: {
    small: { subscribers: [1, 10, 100, 1_000], seconds: 0.3 },
    large: { subscribers: [1, 10, 100, 1_000, 10_000], seconds: 3 },
  },
  run,
});
