/** `folkmoot serve --rule` as a process: kill, restart and refusals; and runs in two processes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentClient, generateKeys } from 'folkmoot/client';
import { folkmoot } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { host, startHost, stop } from '../../support/host.js';
import { root } from '../../support/paths.js';
import { replayHere } from '../../support/runs.js';

const sixty = join(root, 'examples/rules/sixty.js');

async function citizens(url: string) {
  return Promise.all(
    ['Ada', 'Ben', 'Cleo', 'Dan', 'Eve'].map(async (name) => {
      const keys = generateKeys();
      const agent = new AgentClient({ url, keys });
      const capabilities = ['validator', 'producer'] as const;
      await agent.register({ name, personality: 'lawful', capabilities });
      return { agent, keys };
    }),
  );
}

test('serve: --rule survives a kill in the middle of a vote, and the log replays', async () => {
  const data = temporaryFolder();
  const args = ['--rule', sixty];
  const first = await host({ data, args });
  const agents = await citizens(first.url);
  const { block_hash } = await agents[0]!.agent.propose({ transactions: ['hello'] });
  const voting = { block_hash, decision: 'approve', reason: 'Yes.' } as const;
  for (const { agent } of agents.slice(0, 2)) await agent.vote(voting);
  await first.kill('SIGKILL');

  const second = await host({ data, args });
  for (const { keys } of agents.slice(2)) {
    await new AgentClient({ url: second.url, keys }).vote(voting);
  }
  const answer = await fetch(`${second.url}/api/v1/blocks/${block_hash}`);
  const { data: block } = (await answer.json()) as { data: { status: string } };
  expect(block.status).toBe('finalized');
  await stop(second);
  expect(await replayHere(data)).toMatchObject({ match: true });

  const without = await startHost({ data });
  expect(without).toMatchObject({ ending: { code: 2 } });
  expect('stderr' in without && without.stderr).toContain('--rule');
  const changed = join(temporaryFolder(), 'changed.js');
  writeFileSync(changed, 'export default { decide: () => null };');
  const other = await startHost({ data, args: ['--rule', changed] });
  expect('ending' in other && other.ending.code).toBeGreaterThan(0);
  expect('stderr' in other && other.stderr).toContain('genesis parameter rule');
});

interface ServedGenesis {
  policy: string;
  rule?: { parameters?: Record<string, number> };
}

/** Returns the genesis of a network that a server with these arguments opens. */
async function genesisWith(data: string, args: readonly string[], env = {}) {
  const server = await host({ data, args, env });
  await stop(server);
  const { stdout } = await folkmoot(['log', data, '--to', '0']);
  return JSON.parse((JSON.parse(stdout) as { body: string }).body) as ServedGenesis;
}

test('serve: --parameter sets parameters of a module, and a restart keeps them', async () => {
  const data = temporaryFolder();
  const rule = ['--rule', sixty];
  const given = ['--parameter', 'for_bps=7500', '--parameter', 'turnout_bps=0'];
  const parameters = { for_bps: 7_500, turnout_bps: 0 };
  const first = await genesisWith(data, [...rule, ...given]);
  expect(first).toMatchObject({ policy: 'module', rule: { parameters } });
  for (const args of [rule, [...rule, ...given], [...rule, '--parameter', 'for_bps=7500']]) {
    expect(await genesisWith(data, args)).toEqual(first);
  }
  const other = await startHost({ data, args: [...rule, '--parameter', 'for_bps=7501'] });
  expect('ending' in other && other.ending.code).toBe(2);
});

test('serve: --parameter sets parameters of a named policy, as does a variable', async () => {
  const env = { FOLKMOOT_PARAMETER: 'for_bps=6000,turnout_bps=100' };
  const found = await genesisWith(temporaryFolder(), ['--policy', 'threshold'], env);
  const parameters = { for_bps: 6_000, turnout_bps: 100 };
  expect(found).toMatchObject({ policy: 'threshold', rule: { parameters } });
});

test('serve: a file without a rule, and a network with a different rule, are refused', async () => {
  const data = temporaryFolder();
  const bad = join(temporaryFolder(), 'bad.js');
  writeFileSync(bad, 'export default 1;');
  const refused = await startHost({ data, args: ['--rule', bad] });
  expect(refused).toMatchObject({ ending: { code: 2 } });
  await stop(await host({ data }));
  const other = await startHost({ data, args: ['--rule', sixty] });
  expect('ending' in other && other.ending.code).toBeGreaterThan(0);
});

test('sim: a module gives the same digest in two processes', async () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'own.js'),
    'export default { decide: (c, v, over) =>' +
      ' (2 * c.approve > c.total ? "finalized" : over ? "expired" : null) };',
  );
  const file = join(folder, 'own.yaml');
  writeFileSync(
    file,
    JSON.stringify({
      ...{ title: 'A rule in a file', agents: [{ group: 'town', count: 40, producers: 2 }] },
      ...{ consensus: { policy: 'module', rule: { file: 'own.js' } }, length: { blocks: 5 } },
    }),
  );
  const run = async () => {
    const { code, stdout, stderr } = await folkmoot(['sim', file, '--json']);
    expect(code, stderr).toBe(0);
    return (JSON.parse(stdout) as { digest: string }).digest;
  };
  expect(await run()).toBe(await run());
});
