/**
 * `serve --control` and `--clock held`: control of the agents, or of the network, with the token.
 */
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { type Host, host, stop } from '../../support/host.js';
import { replayHere, suiteFolder } from '../../support/runs.js';
import { agentOf, register } from '../../support/service/signer.js';
import { expectError, expectSuccess, World } from '../../support/service/world.js';
import { scenarioFile } from '../clients/scenarios.js';

const folder = suiteFolder();
const town = () =>
  scenarioFile(folder, {
    agents: [{ group: 'town', count: 20, producers: 2, strategy: { kind: 'honest' } }],
    consensus: { voting_period_ms: 4_000 },
  });

function controlOf(server: Host) {
  const world = new World(server);
  const Authorization = `Bearer ${new URL(server.pageUrl).hash.replace('#token=', '')}`;
  const path = '/api/v1/control';
  const headers = { Authorization, 'Content-Type': 'application/json' };
  const ask = async (body: object) =>
    expectSuccess(
      await world.send({ method: 'POST', path, headers, body: JSON.stringify(body) }),
      200,
    );
  const seq = async () => Number((await world.read('/api/v1/meta')).seq);
  const clock = async () => (await world.read(path)).clock as { paused: boolean };
  /** Polls until `holds` is true. */
  const when = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return { world, ask, seq, clock, when };
}

test('--clock held: a network is paused, stepped and stopped; its log replays', async () => {
  const data = join(folder, 'held');
  const args = ['--scenario', town(), '--speed', '10', '--clock', 'held'];
  const server = await host({ data, args });
  await server.said('20 of 20 agents joined');
  const { world, ask, seq, clock, when } = controlOf(server);
  expect(await world.read('/api/v1/control')).toMatchObject({
    kind: 'live',
    can: ['pause', 'resume', 'step', 'until', 'speed'],
  });
  for (let round = 0; round < 5; round += 1) {
    await ask({ do: 'pause' });
    const before = await seq();
    const stranger = register(agentOf('Stranger'), { name: 'Stranger' });
    expectError(await world.send(stranger), 503, 'NETWORK_ERROR', 'PAUSED');
    // Wait longer than the rest of the voting period.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await seq()).toBe(before);
    await ask({ do: 'step' });
    await when(async () => (await clock()).paused);
    expect(await seq()).toBeGreaterThan(before);
    await ask({ do: 'until', until: { what: 'outcome' } });
    await when(async () => (await clock()).paused);
    await ask({ do: 'speed', speed: round + 5 });
    await ask({ do: 'resume' });
    const now = await seq();
    await when(async () => (await seq()) > now);
  }
  await ask({ do: 'pause' });
  await stop(server);
  expect(server.stderr()).not.toContain(new URL(server.pageUrl).hash.slice('#token='.length));
  expect(await replayHere(data)).toMatchObject({ match: true });
});

test('--control: agents are paused and their speed changes; deadlines are unaffected', async () => {
  const args = ['--scenario', town(), '--speed', '10', '--control'];
  const server = await host({ data: join(folder, 'agents'), args });
  await server.said('20 of 20 agents joined');
  const { world, ask, seq, when } = controlOf(server);
  expect(await ask({ do: 'pause' })).toMatchObject({
    can: ['pause', 'resume', 'speed'],
    clock: { holds: 'agents', paused: true, speed: 10 },
  });
  // Blocks in voting expire by network time, and no agent proposes another block.
  const voting = async () => {
    const { blocks } = await world.read('/api/v1/blocks?status=voting');
    return (blocks as unknown[]).length;
  };
  await when(async () => (await voting()) === 0);
  const before = await seq();
  await world.join('Stranger');
  expect(await seq()).toBe(before + 1);
  expect(await ask({ do: 'speed', speed: 50 })).toMatchObject({ clock: { paused: true } });
  expect(await voting()).toBe(0);
  expect(await ask({ do: 'resume' })).toMatchObject({ clock: { paused: false, speed: 50 } });
  await when(async () => (await voting()) > 0 || (await seq()) > before + 10);
  await ask({ do: 'pause' });
  await stop(server);
});

test('--control: requires agents to control; without --control, no token is printed', async () => {
  const data = join(folder, 'none');
  const refused = await folkmoot(['serve', '--port', '0', '--data', data, '--control']);
  expect(refused.code).toBe(2);
  expectOneLine(refused);
  const server = await host({ data });
  expect(new URL(server.pageUrl).hash).toBe('');
  await stop(server);
});
