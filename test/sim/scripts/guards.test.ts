/** Forbidden to a script: writing to its view, unseeded randomness, clocks, exits and loops. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, ScenarioError, simulate } from 'folkmoot/sim';
import { nearby, quiet } from '../fixture.js';
import { honest, mistake, scripted } from './fixture.js';

const vote = (does: string) =>
  `export const vote = (view, rng) => { ${does}; return { do: 'vote', decision: 'approve' } };`;

const who = 'script own\\.ts: vote for agent \\w+-[567]';

test.each([
  ['neighbours', 'view.neighbours[0] = 7'],
  ['the list of neighbours', 'view.neighbours.push(7)'],
  ['votes', 'view.block.votes.length = 0; view.block.votes.push(1)'],
  ['a vote', 'for (const v of view.block.votes) v.decision = 1; if (!view.round) throw 0'],
  ['memes', 'view.block.memes.push({})'],
  ['alliances', 'view.alliances.push("x")'],
  ['the head', 'view.head.hash = ""'],
  ['the block', 'view.block.soundness = 100'],
  ['itself', 'view.me.group = "honest"'],
  ['the parameters', 'view.parameters.x = 1'],
  ['nested parameters', 'view.parameters.deep.list.push(1)'],
  ['its whole memory', 'view.memory = {}'],
  ['a group', 'view.agentsOf("own").push(0)'],
])('view: freezes %s, and names a script that writes to it', async (what, does) => {
  const { folder, group } = scripted(`
    export const hear = () => ({ do: 'wait', ms: 3000 });
    ${vote(does)}`);
  const strategy = { ...group.strategy, parameters: { deep: { list: [] } } };
  const scenario = completeScenario(
    { title: 't', signatures: 'none', agents: [honest, { ...group, strategy }], social: quiet },
    folder,
  );
  const error = await simulate(scenario, { folder, store: 'memory' }).catch((one) => one);
  expect(error, what).toBeInstanceOf(ScenarioError);
  expect(error.message).toMatch(new RegExp(`^${who}: (Cannot (assign|add)|.*not extensible)`));
  if (what !== 'a group') expect(error.cause).toBeInstanceOf(TypeError);
});

test.each([
  ['Math.random', 'Math.random()', /Math\.random/],
  ['destructured Math', 'const { random } = globalThis.Math; random()', /Math\.random/],
  ['eval', "(0, eval)('Math.random()')", /Math\.random/],
  ['a function from a string', "new Function('return Math.random()')()", /Math\.random/],
  ['crypto', 'crypto.randomUUID()', /crypto\.randomUUID/],
  ['crypto.getRandom', 'crypto.getRandomValues(new Uint8Array(1))', /crypto\.getRandomValues/],
  ['node:crypto', "require('node:crypto').randomBytes(1)", /crypto\.randomBytes/],
  ['Date.now', 'Date.now()', /Date\.now/],
  ['new Date', 'new Date()', /new Date\(\)/],
  ['Date', 'Date()', /Date\(\)/],
  ['a subclass of Date', 'class D extends Date {} new D()', /new Date\(\)/],
  ['performance', 'performance.now()', /performance\.now/],
  ['node:perf_hooks', "require('node:perf_hooks').performance.now()", /performance\.now/],
  ['hrtime', 'process.hrtime()', /process\.hrtime/],
  ['hrtime.bigint', 'process.hrtime.bigint()', /process\.hrtime\.bigint/],
  ['a timer', 'setTimeout(() => {}, 1)', /globalThis\.setTimeout/],
  ['exit', 'process.exit(0)', /process\.exit/],
  ['kill', 'process.kill(process.pid)', /process\.kill/],
  ['keys', "require('node:crypto').generateKeySync('hmac', { length: 64 })", /generateKeySync/],
  ['a call in try', 'try { Math.random() } catch {}', /Math\.random/],
  ['a member', "return { do: 'vote', get decision() { return Math.random(); } }", /Math\.random/],
  ['a microtask', 'queueMicrotask(() => process.exit())', /queueMicrotask/],
  ['a promise', 'Promise.resolve().then(() => process.exit())', /promise/],
  ['a rejected promise', "Promise.reject(new Error('x'))", /promise/],
  ['an async function', '(async () => { await 0; process.exit(); })()', /promise/],
  ['an import', "import('node:os')", /promise/],
])('guard: names script, function and agent of %s', async (_, does, why) => {
  const error = await mistake(vote(does));
  expect(error).toBeInstanceOf(ScenarioError);
  expect(error.code).toBe('SCRIPT_FAILED');
  for (const form of [new RegExp(`^${who}: `), why]) expect(error.message).toMatch(form);
});

test('guard: covers top-level code and imported modules', async () => {
  const top = await mistake(`const x = Math.random(); ${vote('')}`);
  expect(top.message).toMatch(/^script own\.ts: .*Math\.random/);
  const { folder, group } = scripted(`import { draw } from './lib.ts'; ${vote('draw()')}`);
  writeFileSync(join(folder, 'lib.ts'), 'export const draw = (): number => Math.random();');
  const scenario = completeScenario({ title: 't', agents: [honest, group] }, folder);
  await expect(simulate(scenario, { folder })).rejects.toThrow(/own\.ts: vote .*Math\.random/);
});

test('guard: rejects promises in top-level code, and allows them in packages', async () => {
  const later = 'let x; Promise.resolve().then(() => { x = Math.random(); });';
  expect((await mistake(`${later} ${vote('')}`)).message).toMatch(/^script own\.ts: .*promise/);
  const { folder, group } = scripted(`import { ready } from 'pack'; ${vote('ready')}`);
  const pack = join(folder, 'node_modules/pack');
  mkdirSync(pack, { recursive: true });
  writeFileSync(join(pack, 'package.json'), '{ "main": "index.cjs" }');
  writeFileSync(join(pack, 'index.cjs'), 'exports.ready = Promise.resolve(1).then((one) => one);');
  const scenario = completeScenario(
    { title: 't', signatures: 'none', agents: [honest, group], length: { blocks: 1 } },
    folder,
  );
  expect((await simulate(scenario, { folder, store: 'memory' })).verdict).toBe('pass');
});

test('guard: covers saved references, and allows a Date with a given time', async () => {
  const { folder, group } = scripted(`
    const { random } = Math;
    const day = new Date(864e5).toISOString() + Date.UTC(1970, 0, 2) + Date.parse('1970-01-02');
    ${vote("if (day !== '1970-01-02T00:00:00.000Z8640000086400000') throw day; random()")}`);
  const scenario = completeScenario({ title: 't', agents: [honest, group] }, folder);
  await expect(simulate(scenario, { folder })).rejects.toThrow(/Math\.random/);
});

test('guard: leaves globals unchanged for other code, during and after a run', async () => {
  const before = [Date, Math.random, setTimeout, process.exit, performance.now];
  const { folder, group } = scripted(vote(''));
  const scenario = completeScenario(
    { title: 't', agents: [honest, group], length: { blocks: 2 } },
    folder,
  );
  const during = simulate(scenario, { folder, store: 'memory' });
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(new Date()).toBeInstanceOf(Date);
  expect([Math.random(), randomBytes(2).length, process.hrtime.bigint()]).toHaveLength(3);
  expect((await during).verdict).toBe('pass');
  expect([Date, Math.random, setTimeout, process.exit, performance.now]).toEqual(before);
  await mistake('export const vote = (');
  expect([Date, Math.random, setTimeout, process.exit, performance.now]).toEqual(before);
});

test.each([
  ['in a call', vote('for (;;);'), new RegExp(`^${who}: .* 0\\.3 s$`)],
  ['that catches all exceptions', vote('for (;;) try { null.x } catch {}'), / 0\.3 s$/],
  ['at the top level', `for (;;); ${vote('')}`, /^script own\.ts: .* 0\.3 s$/],
])('guard: stops and names an endless loop %s', async (_, text, why) => {
  const error = await mistake(text, 300);
  expect(error).toBeInstanceOf(ScenarioError);
  expect(error.message).toMatch(why);
});

test('guard: limits the time of each call, not their sum', async () => {
  const { folder, group } = scripted(`
    export const hear = (view) => {
      let x = 0;
      for (let i = 0; i < 8e6; i += 1) x += i % 7;
      view.memory.x = x;
    };`);
  const scenario = completeScenario(
    {
      title: 't',
      signatures: 'none',
      agents: [honest, { ...group, count: 150 }],
      social: quiet,
      links: nearby,
      length: { blocks: 1 },
    },
    folder,
  );
  // All agents receive a block at the same time.
  const { measures } = await simulate(scenario, { folder, store: 'memory', scriptMs: 1_000 });
  expect(measures.votes).toBe(5);
});
