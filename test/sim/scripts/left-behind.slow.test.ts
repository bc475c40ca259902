/** Asynchronous work that a script leaves behind ends the command with an error. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';

/** Result of a run whose script executes `does` before its answer. */
async function ended(does: string) {
  const folder = temporaryFolder();
  const answer = "return { do: 'vote', decision: 'approve' };";
  const vote = `export const vote = () => { ${does}; ${answer} };`;
  writeFileSync(join(folder, 'own.mjs'), `import fs from 'node:fs';\n${vote}`);
  const file = join(folder, 'town.yaml');
  const strategy = 'strategy: { kind: script, module: own.mjs }';
  const groups = ['{ group: a, count: 4, producers: 1 }', `{ group: own, count: 3, ${strategy} }`];
  writeFileSync(file, `title: t\nagents: [${groups.join(', ')}]\nlength: { blocks: 3 }\n`);
  return folkmoot(['sim', file]);
}

test.each([
  ['in a microtask', 'queueMicrotask(() => process.exit(0))', /queueMicrotask/],
  // Vitest restores process.nextTick in its own processes whenever it reports.
  ['in a tick', 'process.nextTick(() => process.exit(0))', /process\.nextTick/],
  ['in a promise', 'Promise.resolve().then(() => process.exit(0))', /promise/],
  ['after an await', '(async () => { await 0; process.exit(0); })()', /promise/],
  ['in a callback of node:fs', "fs.stat('.', () => process.exit(0))", /process\.exit/],
])('script: reports an exit %s', async (_, does, why) => {
  const { code, stderr } = await ended(does);
  expect(stderr).toMatch(/^folkmoot: script (own\.mjs: vote for agent|in ) ?/m);
  expect(stderr).toMatch(why);
  expect(code).toBe(2);
});

test('script: reports promises that never finish, and ends the process', async () => {
  const { code, stderr } = await ended('const on = async () => { await 0; return on(); }; on()');
  expect(stderr).toMatch(/^folkmoot: script in .*promises/m);
  expect(code).not.toBe(0);
});
