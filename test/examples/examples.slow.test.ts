/** Runs each example by its documented command against a server, and expects its vote. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AgentClient } from 'folkmoot/client';
import { keyFile } from '../cli/mcp/clients.js';
import { agentOf, live } from '../client/helpers.js';
import { python } from '../own-client/programs.js';
import { freePort, temporaryFolder } from '../support/fixture.js';
import { mockModel } from '../support/mock-model.js';
import { main, root } from '../support/paths.js';
import { faultyModel } from './model.js';

const started = promisify(execFile);

/** Runs a program. A failure before the test awaits the result is not unhandled. */
function run(program: string, args: readonly string[], env: Record<string, string> = {}) {
  const ended = started(program, args, { env: { ...process.env, ...env } });
  ended.catch(() => {});
  return ended;
}

const example = (name: string) => join(root, 'examples', name);

/** Proposes a block once the other validators have joined. Returns its outcome. */
async function proposed(by: AgentClient, transactions: string[], validators = 2): Promise<string> {
  await expect.poll(async () => (await by.agents()).validators.length).toBe(validators);
  const { block_hash } = await by.propose({ transactions });
  await by.vote({ block_hash, decision: 'approve' });
  await expect.poll(async () => (await by.block(block_hash)).status).not.toBe('voting');
  return (await by.block(block_hash)).status;
}

test('examples: the agent with a language model looks, speaks, votes and leaves', async () => {
  const { url } = await live();
  const ada = await agentOf(url);
  const model = await faultyModel();
  const key = await keyFile(temporaryFolder(), 'model');
  const task = 'Take part as Mia.';
  const ended = run(
    process.execPath,
    [example('llm-agent.mjs'), '--url', url, '--key', key, '--task', task],
    { OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'rule' },
  );
  expect(await proposed(ada, ['hello'])).toBe('finalized');
  const { stdout } = await ended;
  expect(stdout).toMatch(/^register .*: .* agent_id agent_\w+, .*status active\.$/m);
  expect(stdout).toMatch(/^vote .*: .* decision approve, block_status finalized/m);
  expect(stdout).toMatch(/^I am done\.$/m);
  const tools = model.asked.at(-1)!.tools.map((tool) => tool.function);
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['look', 'vote']));
  for (const { parameters } of tools) expect(parameters.properties).not.toHaveProperty('agent');
  const { events } = await ada.eventPage({ topics: ['consensus'] });
  const said = events.find(({ type }) => type === 'consensus_discussion');
  expect(said?.data).toMatchObject({ message: 'I have looked at it.' });
  const { validators } = await ada.agents();
  expect(validators.map(({ id }) => id)).toEqual([ada.agentId]);
});

test('examples: several agents with models share one process', async () => {
  const { url } = await live();
  const ada = await agentOf(url);
  const keys = await Promise.all(
    ['mia', 'noa', 'pia'].map((name) => keyFile(temporaryFolder(), name)),
  );
  const given = ['--url', url, ...keys.flatMap((key) => ['--key', key])];
  const tasks = ['--task', 'Take part as Mia.', '--task', 'Take part as NAME, and be strict.'];
  const ended = run(process.execPath, [example('llm-agent.mjs'), ...given, ...tasks], {
    OPENAI_BASE_URL: await mockModel(),
  });
  expect(await proposed(ada, ['hello'], 4)).toBe('finalized');
  const { stdout } = await ended;
  for (const [name, own] of Object.entries({ mia: 'Mia', noa: 'noa', pia: 'pia' })) {
    expect(stdout).toContain(`${name}: register {"name":"${own}"}`);
    expect(stdout).toMatch(new RegExp(`^${name}: register .*: .* agent_id agent_`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${name}: I am done\\.$`, 'm'));
  }
  const { validators } = await ada.agents();
  expect(validators.map(({ id }) => id)).toEqual([ada.agentId]);
});

test('examples: the Python agent, with an installed package, votes and leaves', async (context) => {
  if (!python) return context.skip('needs python3-nacl and python3-websockets');
  const { url } = await live();
  const ada = await agentOf(url);
  const program = join(temporaryFolder(), 'agent.py');
  copyFileSync(example('python-agent.py'), program);
  const ended = run(python, [program, url, '2'], { PYTHONPATH: join(root, 'python/src') });
  expect(await proposed(ada, ['hello'])).toBe('finalized');
  expect(await proposed(ada, ['buy SPAM'])).toBe('rejected');
  const { stdout } = await ended;
  expect(stdout).toMatch(/^registered agent_[\s\S]*^approve \w{64}\nreject \w{64}\n$/m);
  expect((await ada.agents()).validators.length).toBe(1);
});

test('examples: the Python agent sets itself inactive at a signal', async (context) => {
  if (!python) return context.skip('needs python3-nacl and python3-websockets');
  const { url } = await live();
  const ada = await agentOf(url);
  const child = spawn(python, [example('python-agent.py'), url], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  await expect.poll(async () => (await ada.agents()).validators.length).toBe(2);
  child.kill('SIGTERM');
  expect([await ended, (await ada.agents()).validators.length]).toEqual([[0, null], 1]);
});

/** Expects a failing program to print exactly one line on standard error. */
async function lineOf(ended: ReturnType<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await ended.then(
    () => expect.unreachable('it did not fail'),
    (error) => error as { code: number; stdout: string; stderr: string },
  );
  expect([typeof code, stdout]).toEqual(['number', '']);
  // If the network responds, its tools print their start line first.
  const line = stderr.replace(/^folkmoot mcp: serving .*\n/, '');
  expect(line).toMatch(/^[^\n]+\n$/);
  return line;
}

test('examples: without a server, each program exits with a one-line error', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const llm = [example('llm-agent.mjs'), '--url', nowhere];
  expect(await lineOf(run(process.execPath, llm))).toContain(nowhere);
  if (python)
    expect(await lineOf(run(python, [example('python-agent.py'), nowhere]))).toContain(nowhere);
  if (process.platform === 'win32') return;
  const { FOLKMOOT_KEY, ...env } = bashAround(nowhere);
  await lineOf(run('bash', [example('bash-agent.sh')], { ...env, FOLKMOOT_KEY }));
  expect(existsSync(FOLKMOOT_KEY)).toBe(false);
});

test('examples: without a model the agent ends with one line, and does not register', async () => {
  const { url } = await live();
  const ada = await agentOf(url);
  const nowhere = `http://127.0.0.1:${await freePort()}/v1`;
  const key = await keyFile(temporaryFolder(), 'model');
  const program = [example('llm-agent.mjs'), '--url', url, '--key', key];
  const line = await lineOf(run(process.execPath, program, { OPENAI_BASE_URL: nowhere }));
  expect(line).toContain(nowhere);
  expect((await ada.agents()).validators.length).toBe(1);
});

test('examples: the agent prints a refusal of the model in one line', async () => {
  const { url } = await live();
  const key = await keyFile(temporaryFolder(), 'model');
  const program = [example('llm-agent.mjs'), '--url', url, '--key', key];
  const env = { OPENAI_BASE_URL: `${await mockModel()}/none` };
  expect(await lineOf(run(process.execPath, program, env))).toContain('404');
});

const bashAround = (url: string) => ({
  FOLKMOOT: `${process.execPath} ${main}`,
  FOLKMOOT_URL: url,
  FOLKMOOT_KEY: join(temporaryFolder(), 'bash.key.json'),
});

test('examples: the bash agent votes by its rule, and leaves', async (context) => {
  if (process.platform === 'win32') return context.skip('needs bash and curl');
  const { url } = await live();
  const ada = await agentOf(url);
  const env = { ...bashAround(url), MOST: '1', VOTES: '2' };
  const ended = run('bash', [example('bash-agent.sh')], env);
  expect(await proposed(ada, ['hello'])).toBe('finalized');
  expect(await proposed(ada, ['one', 'two'])).toBe('rejected');
  const { stdout } = await ended;
  const printed = stdout.split('\n').filter((line) => line.startsWith('{'));
  const votes = printed.map((line) => JSON.parse(line)).filter(({ decision }) => decision);
  expect(votes).toMatchObject([
    { decision: 'approve', block_status: 'finalized' },
    { decision: 'reject', block_status: 'rejected' },
  ]);
  await expect.poll(async () => (await ada.agents()).validators.length).toBe(1);
});

test('examples: the bash agent leaves when it receives a signal', async (context) => {
  if (process.platform === 'win32') return context.skip('needs bash and curl');
  const { url } = await live();
  const ada = await agentOf(url);
  const env = bashAround(url);
  const around = { env: { ...process.env, ...env }, stdio: 'ignore' } as const;
  const child = spawn('bash', [example('bash-agent.sh')], around);
  const ended = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  await expect.poll(async () => (await ada.agents()).validators.length).toBe(2);
  child.kill('SIGTERM');
  await ended;
  expect([(await ada.agents()).validators.length, existsSync(env.FOLKMOOT_KEY)]).toEqual([1, true]);
});
