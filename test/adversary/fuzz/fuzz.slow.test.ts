/** Fuzzing from the OpenAPI and AsyncAPI documents, over both transports. The oracle is fuzz.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { replayJson } from '../../support/command.js';
import { counts, full } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { type Host, host, openFiles, privateBytes, stop } from '../../support/host.js';
import { agentOf, register } from '../../support/service/signer.js';
import { get } from '../../support/service/world.js';
import type { AsyncApi } from '../draw/messages.js';
import type { OpenApi } from '../draw/requests.js';
import { seed } from '../draw/rng.js';
import { Fuzz } from './fuzz.js';

/** Exchanges that once failed: a form without a response, and cursors that were not keys. */
const kept = ['1786536909/refused/253', '874580259/any/4884', '874580259/any/6303'];

const agents = Array.from({ length: 24 }, (_, number) => agentOf(`adversary ${number}`));
const strangers = Array.from({ length: 4 }, (_, number) => agentOf(`stranger ${number}`));
/** Agents registered before the first draw. */
const FIRST = 8;
/** Time limit above every documented deadline, with a margin for a busy machine. */
const DEADLINE_MS = 60_000;
/** Allowed memory growth from the first third of a run to its end. */
const MOST_GROWTH = 1.35;

async function begin(transport: string, data: string): Promise<[Host, Fuzz]> {
  const args = ['--transport', transport, '--voting-period-ms', '1500'];
  const server = await host({ data, args });
  for (const agent of agents.slice(0, FIRST)) {
    const { path, headers, body } = register(agent);
    const sent = await fetch(server.url + path, { method: 'POST', headers, body: body as string });
    expect(sent.status, await sent.text()).toBe(201);
  }
  const document = async (name: string) => (await fetch(`${server.url}/${name}`)).json();
  const openapi = (await document('openapi.json')) as OpenApi;
  const asyncapi = (await document('asyncapi.json')) as AsyncApi;
  const { epoch } = (await get(server.url, '/api/v1/meta')).data;
  const known = {
    AgentId: agents.map(({ agentId }) => agentId),
    PublicKey: agents.map(({ publicKey }) => publicKey),
    Hash: ['0'.repeat(64)],
    epoch: [String(epoch), 'another'],
    topics: ['blocks', 'proposals', 'consensus', 'outcomes', 'network', 'social', 'memes'],
  };
  const { url } = server;
  const judged = { deadlineMs: DEADLINE_MS, patient: full };
  const options = { url, openapi, asyncapi, agents, strangers, known, ...judged };
  return [server, new Fuzz(options)];
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function position(url: string) {
  const { seq, digest } = (await get(url, '/api/v1/meta')).data;
  return { seq, digest };
}

/** Samples a process's memory once per second until `work` is done. */
async function watched(server: Host, work: Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  let done = false;
  const over = work.finally(() => {
    done = true;
  });
  while (!done) {
    samples.push(privateBytes(server));
    await Promise.race([over, sleep(1_000)]);
  }
  await over;
  return samples;
}

describe.each(['uws', 'node'])(`adversary: fuzz over %s, seed ${seed}`, (transport) => {
  test('fuzz: refused requests change nothing; others are answered as documented', async () => {
    const data = temporaryFolder();
    const [server, fuzz] = await begin(transport, data);
    let ended = 'it goes on';
    void server.ended.then((ending) => {
      ended = `it ended: ${JSON.stringify(ending)}`;
    });
    const fine = () =>
      expect(fuzz.problems, `${ended}; ${server.stderr().slice(-9_000)}`).toEqual([]);
    const seconds = counts.fuzzSeconds;

    const before = await position(server.url);
    for (const name of kept) await fuzz.exchange(name, name.includes('/refused/'), null);
    await fuzz.run(seconds / 3, 8, true);
    fine();
    expect(await position(server.url)).toEqual(before);

    const files = openFiles(server.pid);
    const samples = await watched(server, fuzz.run((seconds * 2) / 3, 8, false));
    fine();
    expect(server.stderr()).not.toContain('request failed');
    expect((await get(server.url, '/healthz')).status).toBe(200);
    expect(openFiles(server.pid)).toBeLessThanOrEqual(files + 16);
    const third = Math.floor(samples.length / 3);
    const growth = median(samples.slice(-third)) / median(samples.slice(third, 2 * third));
    process.stdout.write(`fuzz: over ${transport}, memory grew by ${growth}; ${shown(fuzz)}\n`);
    // A short run shows only V8's warm-up.
    if (samples.length > 120) expect(growth).toBeLessThan(MOST_GROWTH);
    expect(untouched(fuzz)).toEqual([]);
    await stop(server);
    expect(await replayJson(data, '--signatures')).toMatchObject({ match: true });
  });
});

const shown = ({ seen }: Fuzz) =>
  [...seen]
    .map(([what, times]) => `${what}: ${times}`)
    .sort()
    .join(', ');

/** Returns the operations that no exchange reached. A short run may miss up to half of them. */
function untouched({ operations, seen }: Fuzz): string[] {
  const reached = new Set([...seen.keys()].map((key) => key.split(' ')[0]));
  const missing = operations.filter((name) => !reached.has(name));
  return counts.fuzzSeconds > 60 || missing.length > operations.length / 2 ? missing : [];
}
