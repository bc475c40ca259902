/** What a subscriber that does nothing costs a server: resident memory, beside a bare server. */
import { setTimeout as pause } from 'node:timers/promises';
import { defineCase, type Round } from '../../case.js';
import { CONNECTIONS_PER_AGENT, greetingsOf, subscribe } from '../../clients/subscribers.js';
import { signatories } from '../../fixtures/chain.js';
import type { Row } from '../../result.js';
import { registerAt, withFolkmoot } from '../../servers/folkmoot.js';
import type { MeasuredServer } from '../../servers/server.js';

interface Configuration {
  subscribers: number;
}

async function run({ subscribers }: Configuration, { seed }: Round): Promise<Row[]> {
  const bytes = await withFolkmoot(async (server) => {
    const by = signatories(seed, Math.ceil(subscribers / CONNECTIONS_PER_AGENT), true);
    await registerAt(server, by);
    // A first hundred, so that what is made once is made.
    await (await subscribe(server, greetingsOf(by, 100, 'outcomes'))).close();
    return grown(server, subscribers, greetingsOf(by, subscribers, 'outcomes'));
  });
  const count = subscribers.toLocaleString('en-US');
  const kilobytes = bytes / 1024;
  const name = `${count} idle subscribers: memory of each`;
  return [{ name, value: kilobytes, unit: 'KiB', allowed: 20 }];
}

/** Long enough for a server to have answered and collected. */
const SETTLED_MS = 1_500;

async function grown(
  server: MeasuredServer,
  count: number,
  greetings: string[][],
): Promise<number> {
  await pause(SETTLED_MS);
  const before = await server.residentBytes();
  const subscribers = await subscribe(server, greetings);
  await pause(SETTLED_MS);
  const after = await server.residentBytes();
  await subscribers.close();
  return (after - before) / count;
}

export const idleCase = defineCase<Configuration>({
  name: 'idle',
  about: 'resident memory of each of 1,000 subscribers that only listen',
  sizes: { small: { subscribers: 1_000 }, large: { subscribers: 10_000 } },
  run,
});
