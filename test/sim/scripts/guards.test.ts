/** What a script must not do: write into its view, draw its own chance, read clocks, exit, loop. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, ScenarioError, simulate } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { nearby, quiet } from '../fixture.js';
import { honest, mistake, scripted } from './fixture.js';

const vote = (does: string) =>
  `export const vote = (view, rng) => { ${does}; return { do: 'vote', decision: 'approve' } };`;

const who = 'script own\\.ts: vote for agent \\w+-[567]';

test.each([
  ['neighbours', 'view.neighbours[0] = 7'],
  ['neighbours, a list', 'view.neighbours.push(7)'],
  ['votes', 'view.block.votes.length = 0; view.block.votes.push(1)'],
  ['a vote', 'for (const v of view.block.votes) v.decision = 1; if (!view.round) throw 0'],
  ['memes', 'view.block.memes.push({})'],
  ['alliances', 'view.alliances.push("x")'],
  ['the head', 'view.head.hash = ""'],
  ['the block', 'view.block.soundness = 100'],
  ['itself', 'view.me.group = "honest"'],
  ['the parameters', 'view.parameters.x = 1'],
  ['parameters of parameters', 'view.parameters.deep.list.push(1)'],
  ['its memory, whole', 'view.memory = {}'],
  ['a group', 'view.agentsOf("own").push(0)'],
])('view: %s is frozen, and who writes there is named', async (what, does) => {
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
  ['Math.random', 'Math.random()', /it drew its own chance by Math\.random: use rng/],
  ['all of Math', 'const { random } = globalThis.Math; random()', /Math\.random/],
  ['eval', "(0, eval)('Math.random()')", /Math\.random/],
  ['a function of a text', "new Function('return Math.random()')()", /Math\.random/],
  ['crypto', 'crypto.randomUUID()', /chance by crypto\.randomUUID/],
  ['crypto, numbers', 'crypto.getRandomValues(new Uint8Array(1))', /crypto\.getRandomValues/],
  ['node:crypto', "require('node:crypto').randomBytes(1)", /crypto\.randomBytes/],
  ['Date.now', 'Date.now()', /it read a clock by Date\.now: use view\.nowMs/],
  ['new Date', 'new Date()', /clock by new Date\(\)/],
  ['Date', 'Date()', /clock by Date\(\)/],
  ['a Date of its own', 'class D extends Date {} new D()', /clock by new Date\(\)/],
  ['performance', 'performance.now()', /clock by performance\.now/],
  ['node:perf_hooks', "require('node:perf_hooks').performance.now()", /performance\.now/],
  ['hrtime', 'process.hrtime()', /clock by process\.hrtime/],
  ['hrtime.bigint', 'process.hrtime.bigint()', /process\.hrtime\.bigint/],
  ['a timer', 'setTimeout(() => {}, 1)', /set a timer by globalThis\.setTimeout/],
  ['exit', 'process.exit(0)', /it ended the process by process\.exit: a script may not/],
  ['kill', 'process.kill(process.pid)', /process\.kill/],
  ['keys', "require('node:crypto').generateKeySync('hmac', { length: 64 })", /generateKeySync/],
  ['what is caught', 'try { Math.random() } catch {}', /Math\.random/],
  ['a member', "return { do: 'vote', get decision() { return Math.random(); } }", /Math\.random/],
  ['a microtask', 'queueMicrotask(() => process.exit())', /something for later by .*queueMicro/],
  ['a promise', 'Promise.resolve().then(() => process.exit())', /made a promise; expected an/],
  ['a promise that fails', "Promise.reject(new Error('x'))", /made a promise/],
  ['an async function', '(async () => { await 0; process.exit(); })()', /made a promise/],
  ['an import', "import('node:os')", /made a promise/],
])('script: %s of its own is named with script, function and agent', async (_, does, why) => {
  const error = await mistake(vote(does));
  expect(error).toBeInstanceOf(ScenarioError);
  expect(error.message).toMatch(new RegExp(`^${who}: it `));
  expect(error.message).toMatch(why);
});

test('script: at its top, and in a module that it imports, likewise', async () => {
  const top = await mistake(`const x = Math.random(); ${vote('')}`);
  expect(top.message).toMatch(/^script own\.ts: it drew its own chance by Math\.random/);
  const { folder, group } = scripted(`import { draw } from './lib.ts'; ${vote('draw()')}`);
  writeFileSync(join(folder, 'lib.ts'), 'export const draw = (): number => Math.random();');
  const scenario = completeScenario({ title: 't', agents: [honest, group] }, folder);
  await expect(simulate(scenario, { folder })).rejects.toThrow(/own\.ts: vote .*Math\.random/);
});

test('script: a promise at its top is named, and of a package is its business', async () => {
  const later = 'let x; Promise.resolve().then(() => { x = Math.random(); });';
  expect((await mistake(`${later} ${vote('')}`)).message).toBe(
    'script own.ts: it made a promise; expected an answer at once',
  );
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

test('script: what it took before, a Date with a time, and its console are its own', async () => {
  const { folder, group } = scripted(`
    const { random } = Math;
    const day = new Date(864e5).toISOString() + Date.UTC(1970, 0, 2) + Date.parse('1970-01-02');
    ${vote("if (day !== '1970-01-02T00:00:00.000Z8640000086400000') throw day; random()")}`);
  const scenario = completeScenario({ title: 't', agents: [honest, group] }, folder);
  await expect(simulate(scenario, { folder })).rejects.toThrow(/chance by Math\.random/);
});

test('guard: beside a run, and after it, others in the process find all as it was', async () => {
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
  ['in a call', vote('for (;;);'), new RegExp(`^${who} took more than 0\\.3 s and was ended$`)],
  ['that catches', vote('for (;;) try { null.x } catch {}'), /took more than 0\.3 s/],
  [
    'at its top',
    `for (;;); ${vote('')}`,
    /^script own\.ts: it took more than 0\.3 s and was ended$/,
  ],
])('script: an endless loop %s is ended and named', async (_, text, why) => {
  const error = await mistake(text, 300);
  expect(error).toBeInstanceOf(ScenarioError);
  expect(error.message).toMatch(why);
});

test('script: many calls that take long together are none that takes too long', async () => {
  const { folder, group } = scripted(`
    export const hear = (view) => {
      let x = 0;
      for (let i = 0; i < 4e6; i += 1) x += i % 7;
      view.memory.x = x;
    };`);
  const scenario = completeScenario(
    {
      title: 't',
      signatures: 'none',
      agents: [honest, { ...group, count: 200 }],
      social: quiet,
      links: nearby,
      length: { blocks: 1 },
    },
    folder,
  );
  // All of them hear of a block at one instant.
  const { measures } = await simulate(scenario, { folder, store: 'memory', scriptMs: 300 });
  expect(measures.votes).toBe(5);
});
