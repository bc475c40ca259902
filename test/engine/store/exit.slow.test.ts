/** A process that ends while a commit is under way does end, and the folder is whole. */
import { expect, test } from 'vitest';
import { ends, endsAfter, openStore, tempFolder } from './fixture.js';
import { startWriter } from './start-writer.js';

/** At first LMDB's thread waits for the main one: there a bare exit hung for ever. */
const turns = [0, 1, 2, 5];

async function endOf(how: string, after: number) {
  const folder = tempFolder();
  const child = startWriter([how, folder, String(after)]);
  let said = '';
  child.process.stderr!.on('data', (text: string) => {
    said += text;
  });
  // What hangs would do so for ever: a minute is far more than it takes.
  const late = setTimeout(() => child.process.kill('SIGABRT'), 60_000);
  const end = await child.ended;
  clearTimeout(late);
  const kept = openStore(folder);
  expect([endsAfter(1), endsAfter(2)]).toContainEqual(ends(kept));
  return { ...end, said };
}

test.each(turns)('exit: %i turns into a commit, by exitProcess: with its code', async (after) => {
  expect(await endOf('exitProcess', after)).toEqual({ code: 13, signal: null, said: '' });
});

test.each(turns)('exit: %i turns into a commit, by process.exit: it ends', async (after) => {
  const { code, signal } = await endOf('exit', after);
  expect(code ?? signal).toBeOneOf([13, 'SIGKILL']);
});

test.each(turns)('exit: %i turns into a commit, by an error: it says which', async (after) => {
  const { code, signal, said } = await endOf('throw', after);
  expect(code ?? signal).toBeOneOf([1, 'SIGKILL']);
  expect(said).toContain('what nobody caught');
});
