/** Simulation and serving on other Node versions. */
import { execFileSync } from 'node:child_process';
import { signatoryOf, temporaryFolder } from '../support/fixture.js';
import { host, stop } from '../support/host.js';
import { main } from '../support/paths.js';
import { loadsUws, nodes } from '../support/runner/nodes.js';
import { meta, propose, registration, vote } from './clients/actions.js';
import { Caller } from './clients/caller.js';
import { everyTopic, Subscriber } from './clients/subscriber.js';

const run = (node: string, ...args: string[]) =>
  execFileSync(node, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const sim = ['sim', '--json', '--seed', '7', '--agents', '12', '--blocks', '3'];

describe.each(nodes)('nodes: %s', (node) => {
  test('nodes: simulate with the same result', () => {
    const digestOf = (by: string) => JSON.parse(run(by, main, ...sim)).digest as string;
    const here = digestOf(process.execPath);
    expect(here).toMatch(/^[0-9a-f]{64}$/);
    expect(digestOf(node)).toBe(here);
  });

  test('nodes: serve with an available transport', async () => {
    const data = temporaryFolder();
    const server = await host({ data, node });
    const caller = new Caller(server.url);
    const by = signatoryOf(1);
    await caller.do(registration(by, 'Ada'));
    const watcher = await Subscriber.open(server.wsUrl, by);
    await watcher.subscribe(everyTopic);
    const hash = await propose(caller, by);
    await caller.do(vote(by, hash));
    expect(await caller.read(`/api/v1/blocks/${hash}`)).toMatchObject({ status: 'finalized' });
    const { event_seq } = await meta(caller);
    await watcher.took(event_seq - 1);
    await stop(server);
    const transport = loadsUws(run(node, '-p', 'process.versions.node')) ? 'uws' : 'node';
    expect(
      server
        .stderr()
        .split('\n')
        .filter((line) => line.includes('"transport"')),
    ).toEqual([expect.stringContaining(`"transport":"${transport}"`)]);
    expect(run(node, main, 'replay', data)).toMatch(/^match/);
  });
});
