/** `sim --url`: scripts exchange messages on a served network, with link delays. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulateRemote } from 'folkmoot/sim';
import { live } from '../../client/helpers.js';
import { temporaryFolder } from '../../support/fixture.js';
import { hurriedScenario } from '../clients/scenarios.js';

const LATENCY_MS = 400;

const AGENTS = 12;
const EACH = 15;

/**
 * Once all agents have joined, each agent sends its ordinal and the time to some neighbours, and
 * records the messages that it receives. An agent that has not joined receives nothing.
 */
const script = `
  export const start = ({ shared }, rng) => {
    shared.joined = (shared.joined ?? 0) + 1;
    return { do: 'wake', ms: 1 + rng.int(1000) };
  };
  export const wake = ({ memory, shared, me, neighbours, nowMs }, rng) => {
    if (memory.sent === ${EACH}) return null;
    if (shared.joined < ${AGENTS}) return { do: 'wake', ms: 1000 };
    memory.sent = (memory.sent ?? 0) + 1;
    const to = rng.pick(neighbours);
    return [
      { do: 'wake', ms: 1000 },
      { do: 'send', to: [to], content: { by: me.ordinal, to, nowMs } },
    ];
  };
  export const receive = ({ memory, me, message, neighbours, nowMs }) => {
    const { by, to, nowMs: sentMs } = message.content;
    const right = by === message.from && to === me.ordinal && neighbours.includes(by);
    memory.received = (memory.received ?? 0) + 1;
    if (!right) memory.wrong = (memory.wrong ?? 0) + 1;
    memory.least = Math.min(memory.least ?? Infinity, nowMs - sentMs);
  };
  const sum = (memories, name) => memories.reduce((total, one) => total + (one[name] ?? 0), 0);
  export const report = ({ group, groups: [town] }) => {
    if (group === null) return null;
    const memories = Object.values(town.memories);
    return {
      sent_here: sum(memories, 'sent'),
      received_here: sum(memories, 'received'),
      wrong: sum(memories, 'wrong'),
      least_ms: Math.min(...memories.map(({ least }) => least ?? Infinity)),
    };
  };`;

test('messages of scripts on a server: have sender, receiver and delay', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'talk.mjs'), script);
  const { url } = await live();
  const scenario = hurriedScenario({
    agents: [
      {
        ...{ group: 'town', count: AGENTS, producers: 1 },
        strategy: { kind: 'script', module: 'talk.mjs' },
      },
    ],
    links: { latency: { distribution: 'constant', mean_ms: LATENCY_MS, spread_ms: 0 } },
    length: { virtual_ms: 120_000 },
  });
  const { reported, ended_by } = await simulateRemote(scenario, { url, speed: 20, folder });
  expect(ended_by).toBe('virtual_ms');
  const { sent_here: sent, received_here: received, wrong, least_ms } = reported.groups.town!;
  expect([sent, received, wrong]).toEqual([AGENTS * EACH, AGENTS * EACH, 0]);
  expect(least_ms).toBeGreaterThanOrEqual(LATENCY_MS);
});
