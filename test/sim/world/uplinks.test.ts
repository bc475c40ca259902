/** Uplinks: messages leave one after the other, and arrive at the computed time. */
import { allVote, live, nearby, type Raw } from '../fixture.js';
import { scripted } from '../scripts/fixture.js';

/** Agents 4 and 5 of six send these messages at 4 s, or at 10 s after a crash. */
const sending = (messages: number, others = 0) => `
  const count = { 5: ${messages}, 4: ${others} };
  export const start = ({ me, nowMs }) =>
    me.ordinal in count && nowMs < 9_000
      ? { do: 'wake', ms: (nowMs < 4_000 ? 4_000 : 10_000) - nowMs }
      : null;
  export const wake = ({ me, nowMs }) => Array.from({ length: count[me.ordinal] }, (_, nth) =>
    ({ do: 'send', content: 'x'.repeat(91) + String(1000 * nowMs + nth).padStart(8, '0') }));
  export const hear = () => null;
  export const receive = ({ memory, message, nowMs }) => {
    if (message.from === 5) (memory.heard ??= []).push([message.content.slice(91), nowMs]);
  };
  export const report = ({ groups: [own], group }) =>
    group === null ? null : Object.fromEntries(Object.entries(own.memories).flatMap(
      ([agent, { heard = [] }]) => heard.map(([nth, at]) => ['to_' + agent + '_' + nth, at])));`;

/** A text of 99 characters and two quotes. */
const BITS = 8 * 101;

async function told(text: string, sections: Raw = {}, own: Raw = {}) {
  const { folder, group } = scripted(text);
  const agents = [
    { ...group, ...own, count: 4, producers: 1 },
    { ...group, ...own, group: 'other', count: 1 },
    { ...group, ...own, group: 'sender', count: 1 },
  ];
  const { result } = await live(agents, { length: { virtual_ms: 60_000 }, ...sections }, folder);
  const { own: heard, other } = result.reported.groups;
  return { ...result, heard: { ...heard, ...other } as Record<string, number> };
}

/** Arrival of each copy. A message goes to the five others in order, then the next one. */
function expected(messages: number, kbps: number, begins = 4_000, latency = 20) {
  const copies = Array.from({ length: 5 * messages }, (_, copy) => {
    const nth = 1000 * begins + Math.floor(copy / 5);
    const at = begins + Math.ceil(((copy + 1) * BITS) / kbps) + latency;
    return [`to_${copy % 5}_${String(nth).padStart(8, '0')}`, at] as const;
  });
  return Object.fromEntries(copies);
}

/** Selects copies by their time of arrival and name. */
const those = (all: Record<string, number>, is: (at: number, name: string) => boolean) =>
  Object.fromEntries(Object.entries(all).filter(([name, at]) => is(at, name)));

test.each([
  1, 3, 7, 101, 808, 809, 10_000_000,
])('uplinks: arrival times: equal the computed times at %d kbit/s', async (uplink_kbps) => {
  const { heard, measures } = await told(sending(20), { links: { ...nearby, uplink_kbps } });
  expect(heard).toEqual(those(expected(20, uplink_kbps), (at) => at < 60_000));
  expect(Object.keys(heard).length).toBeGreaterThan(60);
  expect(measures.uplink_wait_mean_ms).toBeGreaterThan(0);
});

test('uplinks: arrival times: sends all at once without a limit', async () => {
  const { heard, measures } = await told(sending(20));
  expect(heard).toEqual(expected(20, Number.POSITIVE_INFINITY));
  expect(measures.uplink_wait_mean_ms).toBe(null);
});

test('uplinks: arrival times: uses the rate of a group instead of that of the links', async () => {
  const links = { ...nearby, uplink_kbps: 1 };
  const { heard } = await told(sending(20), { links }, { uplink_kbps: 50 });
  expect(heard).toEqual(expected(20, 50));
});

test('uplinks: arrival times: reports the wait before the first bit leaves', async () => {
  // Each agent has registered before these hundred copies.
  const links = { ...nearby, uplink_kbps: 101 };
  const { measures, messages } = await told(sending(20), { links, length: { virtual_ms: 4_990 } });
  expect(messages['request.register']).toMatchObject({ sent: 6, lost: 0 });
  expect(measures.uplink_wait_mean_ms).toBeCloseTo((((99 * 100) / 2) * 8) / 106, 6);
});

describe('uplinks: faults', () => {
  const links = { ...nearby, uplink_kbps: 8 };
  const whom = [{ group: 'sender' }];

  test('lost copies also take transfer time', async () => {
    const { heard } = await told(sending(40), { links: { ...links, loss: 0.2 } });
    expect(expected(40, 8)).toMatchObject(heard);
    expect(Object.keys(heard).length).toBeLessThan(190);
    // Some registrations were lost and repeated later.
    expect(Object.keys(heard).length).toBeGreaterThan(60);
  });

  test('a partition cuts off copies that leave during it', async () => {
    const cut = { kind: 'partition', start_ms: 4_500, length_ms: 1_000, whom };
    const { heard, messages } = await told(sending(20), { links, faults: [cut] });
    const through = those(expected(20, 8), (at) => at < 4_520 || at >= 5_520);
    expect(heard).toEqual(through);
    expect(messages.talk).toMatchObject({ sent: 100, lost: 100 - Object.keys(through).length });
  });

  test('a slow link multiplies the latency of copies that leave during it', async () => {
    const slow = { kind: 'slow_link', start_ms: 4_500, length_ms: 1_000, factor: 9, whom };
    const { heard } = await told(sending(20), { links, faults: [slow] });
    const late = (at: number) => (at < 4_520 || at >= 5_520 ? at : at + 160);
    const all = Object.entries(expected(20, 8)).map(([name, at]) => [name, late(at)]);
    expect(heard).toEqual(Object.fromEntries(all));
  });
});

const voters = { group: 'voters', count: 5, strategy: { kind: 'honest' } };
const producer = { group: 'p', count: 1, capabilities: ['producer'], strategy: { kind: 'honest' } };
const town = (limits: Raw = {}) => [
  { ...producer, ...limits },
  { ...voters, traits: { think_ms: 400 } },
];

test('requests: a proposal becomes final later, by its transfer time rounded up', async () => {
  const world = { consensus: { ...allVote }, length: { blocks: 5 } };
  const free = await live(town(), world);
  const slow = await live(town({ uplink_kbps: 7 }), world);
  const proposals = slow.sent.filter(({ kind }) => kind === 'propose');
  expect(slow.blocks).toHaveLength(5);
  for (const [index, block] of slow.blocks.entries()) {
    // As in docs/model.md: the payload and its signature.
    const bytes = JSON.stringify(proposals[index]!.body).length + 64;
    const later = Math.ceil((8 * bytes) / 7);
    const before = free.blocks[index]!;
    expect(Number(block.proposed_ms)).toBe(Number(before.proposed_ms) + later);
    expect(block.finality_ms).toBe(before.finality_ms);
    expect(block.status).toBe('finalized');
  }
});

test('requests: an almost unlimited uplink delays each message by one millisecond', async () => {
  const free = await live(town());
  const wide = await live(town(), { links: { ...nearby, uplink_kbps: 10_000_000 } });
  const proposed = (lived: typeof free) => lived.blocks.map((row) => Number(row.proposed_ms));
  expect(proposed(wide)).toEqual(proposed(free).map((at) => at + 1));
  // Sending the vote takes one further millisecond.
  const late = (lived: typeof free) => lived.votes.map((row) => Number(row.after_ms));
  expect([late(wide), wide.result.verdict]).toEqual([late(free).map((ms) => ms + 1), 'pass']);
});
