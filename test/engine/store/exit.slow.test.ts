/** A process that exits during a commit does not hang, and the folder is intact. */
import { ends, endsAfter, openStore, tempFolder } from './fixture.js';
import { startWriter } from './start-writer.js';

/** At the start of a commit, LMDB's thread waits for the main thread, so a bare exit would hang. */
const turns = [0, 1, 2, 5];

async function endOf(how: string, after: number) {
  const folder = tempFolder();
  const child = startWriter([how, folder, String(after)]);
  let said = '';
  child.process.stderr!.on('data', (text: string) => {
    said += text;
  });
  // A process that hangs would never end. A minute is more than enough.
  const late = setTimeout(() => child.process.kill('SIGABRT'), 60_000);
  const end = await child.ended;
  clearTimeout(late);
  const kept = openStore(folder);
  expect([endsAfter(1), endsAfter(2)]).toContainEqual(ends(kept));
  return { ...end, said };
}

test.each(turns)('exitProcess: exits in a commit, after %i turns', async (after) => {
  expect(await endOf('exitProcess', after)).toEqual({ code: 13, signal: null, said: '' });
});

test.each(turns)('process.exit: ends it in a commit, after %i turns', async (after) => {
  const { code, signal } = await endOf('exit', after);
  expect(code ?? signal).toBeOneOf([13, 'SIGKILL']);
});

test.each(turns)('uncaught error: ends it in a commit, after %i turns', async (after) => {
  const { code, signal, said } = await endOf('throw', after);
  expect(code ?? signal).toBeOneOf([1, 'SIGKILL']);
  expect(said).toContain('uncaught');
});
