/** Messages between scripts: along the graph, after the link's latency, or lost. */
import { live, nearby, type Raw } from '../fixture.js';
import { mistake, run, scripted } from './fixture.js';

/** One agent in a ring sends a message. Each vote reports the messages and their times. */
const gossip = (sends: string) => `
  export const start = ({ me, nowMs }) =>
    me.ordinal === 5 && nowMs < 4_000 ? [{ do: 'wake', ms: 4_000 - nowMs }] : null;
  export const wake = () => (${sends});
  export const receive = ({ memory, message, nowMs }) => {
    (memory.heard ??= []).push([message.from, message.content, nowMs]);
  };
  export const report = ({ groups: [own], group }) =>
    group === null ? null : Object.fromEntries(Object.entries(own.memories).flatMap(
      ([ordinal, { heard = [] }]) => heard.flatMap(([from, content, at], nth) => [
        ['from_' + ordinal + '_' + nth, from],
        ['at_' + ordinal + '_' + nth, at],
        ['said_' + ordinal + '_' + nth, content.x ?? content],
      ])));`;

const ring = { topology: { kind: 'ring', degree: 2 }, length: { virtual_ms: 8_000 } };
const honest = { group: 'honest', count: 2, producers: 1, strategy: { kind: 'honest' } };

async function told(sends: string, sections: Raw = {}) {
  const { folder, group } = scripted(gossip(sends));
  const own = { ...group, count: 6 };
  const { result } = await live([{ ...own, producers: 1 }], { ...ring, ...sections }, folder);
  return result.reported.groups.own ?? {};
}

test("send: reaches all neighbours after the link's latency", async () => {
  expect(await told("{ do: 'send', content: { x: 7 } }")).toEqual({
    ...{ from_0_0: 5, at_0_0: 4_020, said_0_0: 7 },
    ...{ from_4_0: 5, at_4_0: 4_020, said_4_0: 7 },
  });
});

test('send: reaches the chosen neighbours', async () => {
  expect(await told("{ do: 'send', to: [4], content: 3.25 }")).toEqual({
    ...{ from_4_0: 5, at_4_0: 4_020, said_4_0: 3.25 },
  });
  expect(await told("{ do: 'send', to: [], content: 3.25 }")).toEqual({});
});

test('send: links lose messages, and a partition cuts them off', async () => {
  const sends = "{ do: 'send', content: 1 }";
  expect(await told(sends, { links: { ...nearby, loss: 1 } })).toEqual({});
  const whom = [{ group: 'own', share: 0.5 }];
  const cut = { kind: 'partition', start_ms: 3_000, length_ms: 4_000, whom };
  expect(Object.keys(await told(sends, { faults: [cut] })).length).toBeLessThan(6);
});

test('send: a crash of the receiver loses a message that was sent before', async () => {
  const sends = "{ do: 'send', content: 1 }";
  const crash = { kind: 'crash', start_ms: 4_010, length_ms: 2_000, whom: [{ group: 'own' }] };
  expect(await told(sends, { faults: [crash] })).toEqual({});
  const pause = { ...crash, kind: 'pause' };
  expect(await told(sends, { faults: [pause] })).toMatchObject({ at_0_0: 6_010, at_4_0: 6_010 });
});

test('messages_sent: counts the messages between scripts', async () => {
  const sent = async (sends: string) => {
    const { folder, group } = scripted(gossip(sends));
    const { result } = await live([honest, { ...group, count: 6 }], ring, folder);
    return result.measures.messages_sent!;
  };
  expect((await sent("{ do: 'send', content: 1 }")) - (await sent('null'))).toBe(2);
});

const sending = (content: string, more = '') =>
  `export const start = (view) => ({ do: 'send', content: ${content}${more} });`;

test.each([
  ['too long', sending("'x'.repeat(1023)"), /1025 bytes/],
  ['too long in bytes', sending("'é'.repeat(512)"), /1026 bytes/],
  ['not a number', sending('[0 / 0]'), /NaN/],
  ['undefined', sending('{ a: undefined }'), /undefined/],
  ['a function', sending('() => 1'), /function/],
  ['a Map', sending('{ a: [new Map()] }'), /a Map/],
  ['an unpaired surrogate', sending("'\\ud800'"), /surrogate/],
  ['circular', sending('(() => { const a = []; a.push(a); return a; })()'), /cycle/],
  ['to an unknown agent', sending('1', ', to: [99]'), /agent 99/],
  ['to itself', sending('1', ', to: [view.me.ordinal]'), /neighbour/],
  ['sent twice to one agent', sending('1', ', to: [0, 0]'), / to /],
  ['missing', "export const start = () => ({ do: 'send' });", /content/],
])('send: rejects a message that is %s', async (_, text, why) => {
  const { message } = await mistake(text);
  for (const form of [/^script own\.ts: start for agent \S+: /, why]) expect(message).toMatch(form);
});

test('send: accepts 1,024 bytes, and freezes received messages', async () => {
  const long = `
    export const start = () => ({ do: 'send', content: { list: ['x'.repeat(1010)] } });`;
  const heard = 'export const receive = ({ message }) => { message.content.list.push(1); };';
  const { message } = await mistake(`${long}\n${heard}`);
  expect(message).toMatch(/^script own\.ts: receive for agent \S+: Cannot add property 1/);
});

test('wake: can repeat itself, and after a crash `start` schedules it again', async () => {
  const text = `
    export const start = ({ memory }) => {
      memory.starts = (memory.starts ?? 0) + 1;
      return { do: 'wake', ms: 1_000 };
    };
    export const wake = ({ memory }) => {
      memory.wakes = (memory.wakes ?? 0) + 1;
      return { do: 'wake', ms: 1_000 };
    };
    export const report = ({ group, groups: [own] }) => group && {
      starts: Math.max(...Object.values(own.memories).map(({ starts }) => starts)),
      wakes: Math.max(...Object.values(own.memories).map(({ wakes }) => wakes)),
    };`;
  const sections = { length: { virtual_ms: 12_500 } };
  const calm = (await run(text, sections)).result.reported.groups.own!;
  expect(calm.starts).toBe(1);
  expect(calm.wakes).toBeGreaterThanOrEqual(10);
  const crash = { kind: 'crash', start_ms: 5_000, length_ms: 4_000, whom: [{ group: 'own' }] };
  const struck = (await run(text, { ...sections, faults: [crash] })).result.reported.groups.own!;
  expect(struck.starts).toBe(2);
  expect(struck.wakes).toBeLessThanOrEqual(calm.wakes! - 3);
});
