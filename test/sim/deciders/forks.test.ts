/** Forks of runs with deciders: only changed views are asked again, or the fork is refused. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, forkScenario, readKept, runFork, simulate } from 'folkmoot/sim';
import { openForReading } from '../../../dist/cli/options/folder.js';
import { attribute } from '../../../dist/sim/attribution/ablation.js';
import { temporaryFolder } from '../../support/fixture.js';
import type { Raw } from '../fixture.js';
import { atOnce, type DeciderServer, deciderServer, failing, runIn, town } from './fixture.js';

const record = { deciders: { record: true } };
const late = { kind: 'silence', whom: [{ agent: 1 }], at_height: 3 };

async function recorded(strategy: Raw = {}, folder?: string, decider?: DeciderServer) {
  const server = decider ?? (await deciderServer());
  const own = { url: server.url, ...atOnce, ...strategy };
  const scenario = town(own, { length: { blocks: 6 } }, folder);
  const out = join(temporaryFolder(), 'run');
  const options = folder === undefined ? {} : { folder };
  return { server, out, result: await runIn(scenario, out, { ...options, ...record }) };
}

async function forked(run: string, added: Raw[], hooks: { record?: boolean; mostCalls?: number }) {
  const kept = readKept(run);
  const out = join(temporaryFolder(), 'fork');
  const scenario = forkScenario(kept, added);
  return { out, scenario, fork: () => runFork(kept, scenario, out, hooks) };
}

test('forks: ask only about changed views, and record a complete cassette', async () => {
  const { server, out: run } = await recorded();
  const before = new Map(server.asked.map((one) => [one.id, JSON.stringify(one.view)]));
  server.asked.length = 0;
  const { out, fork } = await forked(run, [late], { record: true });
  const { result, prefix } = await fork();
  expect(prefix).toMatchObject({ same: true, difference: null });
  expect(prefix.entry).toBeGreaterThan(20);
  const { questions, asked } = result.deciders!;
  expect([asked, asked < questions, asked > 0]).toEqual([server.asked.length, true, true]);
  for (const { id, view } of server.asked) expect(JSON.stringify(view)).not.toBe(before.get(id));
  await server.close();
  const { scenario } = result;
  const again = await simulate(scenario, { store: 'memory', deciders: { cassette: out } });
  expect([again.digest, again.deciders!.asked]).toEqual([result.digest, 0]);
});

test('forks: ask nothing if no view changes', async () => {
  const { server, out: run, result } = await recorded();
  await server.close();
  const same = { kind: 'set', path: 'links.loss', value: 0, at_ms: 3_000 };
  const { fork } = await forked(run, [same], { record: true });
  const { result: other } = await fork();
  expect([other.log_digest, other.deciders!.asked]).toEqual([result.log_digest, 0]);
});

test('forks: fail before the run without record', async () => {
  const { out: run } = await recorded();
  const { out, fork } = await forked(run, [late], {});
  const error = await failing(fork());
  expect([error.name, error.code]).toEqual(['ScenarioError', 'FORK_NEEDS_RECORD']);
  expect(existsSync(out)).toBe(false);
});

test('forks: ask deciders that the fork adds', async () => {
  const agents = [{ group: 'town', count: 6, producers: 2 }];
  const plain = completeScenario({ title: 'plain', agents, length: { blocks: 3 } });
  const run = join(temporaryFolder(), 'run');
  await simulate(plain, { out: run });
  const { url, asked } = await deciderServer();
  const strategy = { kind: 'http', url, ...atOnce };
  const brought = { kind: 'strategy', whom: [{ agent: 4 }], strategy, at_ms: 0 };
  const { fork } = await forked(run, [brought], { record: true });
  const { result } = await fork();
  expect(result.deciders!.asked).toBe(asked.length);
  expect(new Set(asked.map(({ agent }) => agent))).toEqual(new Set([4]));
});

test('forks: continue after a spent call budget', async () => {
  const { server, out: run } = await recorded();
  const spent = await forked(run, [late], { record: true, mostCalls: 1 });
  expect((await failing(spent.fork())).code).toBe('BUDGET_SPENT');
  const before = server.asked.length;
  const { result } = await runFork(readKept(run), spent.scenario, spent.out, { record: true });
  expect(result.deciders!.asked).toBe(server.asked.length - before);
  const whole = await forked(run, [late], { record: true });
  const { result: other } = await whole.fork();
  expect([result.digest, other.deciders!.asked]).toEqual([
    other.digest,
    result.deciders!.asked + 1,
  ]);
});

test('forks: copy prompts, which are files of the run', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'texts'));
  const prompt = join(folder, 'texts', 'vote.md');
  writeFileSync(prompt, 'A block: {{view.block.soundness}}');
  const server = await deciderServer((question) => {
    const [{ content }] = (question as unknown as { messages: [{ content: string }] }).messages;
    const soundness = Number(/\d+$/.exec(content)![0]);
    const decision = soundness >= 80 ? 'approve' : 'reject';
    return { choices: [{ message: { content: JSON.stringify({ do: 'vote', decision }) } }] };
  });
  const chat = { dialect: 'openai', model: 'm', prompts: { vote: 'texts/vote.md' } };
  const { out: run, result } = await recorded(chat, folder, server);
  expect(Object.keys(result.files)).toEqual(['texts/vote.md']);
  expect(() => readKept(run)).toThrow(expect.objectContaining({ code: 'SOURCE_NOT_FOUND' }));
  const kept = readKept(run, folder);
  const out = join(temporaryFolder(), 'fork');
  await runFork(kept, forkScenario(kept, [late]), out, { record: true });
  // The fork has all files that a fork of it needs.
  expect(readKept(out).source).toBe(out);
  expect(readFileSync(join(out, 'texts/vote.md'), 'utf8')).toContain('A block');
  writeFileSync(prompt, 'Another one.');
  expect(() => readKept(run, folder)).toThrow(expect.objectContaining({ code: 'SOURCE_CHANGED' }));
});

test('forks: why refuses, and names an alternative', async () => {
  const { server, out: run } = await recorded();
  const asked = server.asked.length;
  const store = openForReading(run);
  const options = { kinds: ['agent'] as const, most: 3, replicates: 2 };
  const error = await failing(attribute(store, run, '1', options));
  await store.close();
  expect([error.name, error.message]).toEqual([
    'ScenarioError',
    expect.stringMatching(/decide for minds \(http\).* --mechanical/),
  ]);
  expect(server.asked.length).toBe(asked);
});
