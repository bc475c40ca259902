/** `sim --url`: scripts send each other messages on a served network too, and links take time. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulateRemote } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { live } from '../../client/helpers.js';
import { temporaryFolder } from '../../support/fixture.js';
import { hurriedScenario } from '../clients/scenarios.js';

const LATENCY_MS = 400;

/**
 * Each sends its ordinal and the time to a neighbour now and then, for half of the run, and notes
 * what it receives.
 */
const script = `
  export const start = (_, rng) => ({ do: 'wake', ms: 1 + rng.int(1000) });
  export const wake = ({ memory, me, neighbours, nowMs }, rng) => {
    if (nowMs > 30_000) return null;
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

test('messages of scripts on a server: from whom, to whom, and not too early', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'talk.mjs'), script);
  const { url } = await live();
  const scenario = hurriedScenario({
    agents: [
      { group: 'town', count: 12, producers: 1, strategy: { kind: 'script', module: 'talk.mjs' } },
    ],
    links: { latency: { distribution: 'constant', mean_ms: LATENCY_MS, spread_ms: 0 } },
    length: { virtual_ms: 60_000 },
  });
  const { reported, ended_by } = await simulateRemote(scenario, { url, speed: 20, folder });
  expect(ended_by).toBe('virtual_ms');
  const { sent_here: sent, received_here: received, wrong, least_ms } = reported.groups.town!;
  expect(wrong).toBe(0);
  expect(sent).toBeGreaterThan(12);
  expect(received).toBe(sent);
  expect(least_ms).toBeGreaterThanOrEqual(LATENCY_MS);
});
