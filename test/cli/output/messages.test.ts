/** FOLKMOOT_STDERR=ndjson: progress, notes and errors as JSON lines on standard error. */
import { runCommand } from '../../support/command.js';

beforeEach(() => vi.stubEnv('FOLKMOOT_STDERR', 'ndjson'));
afterEach(() => vi.unstubAllEnvs());

async function messages(...args: string[]): Promise<Record<string, unknown>[]> {
  const { stderr } = await runCommand(args);
  return stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('messages: an error has its key, its exit code and what to do', async () => {
  const [error, ...others] = await messages('sim', 'no-such\nscenario');
  expect(others).toEqual([]);
  expect(error).toMatchObject({ type: 'error', code: 'NOT_FOUND', exit_code: 2 });
  expect(error!.advice).toMatch(/^name a file, or one of /);
  expect(error!.message).toBe(`scenario not found: no-such\nscenario; ${error!.advice}`);
});

test('messages: a failure of the store and a usage error have keys too', async () => {
  expect(await messages('replay', '/no/such/folder')).toMatchObject([
    { type: 'error', code: 'PATH_NOT_FOUND', exit_code: 2, advice: 'check the path' },
  ]);
  expect(await messages('sim', '--nonsense')).toEqual([
    { type: 'error', code: 'USAGE', exit_code: 2, message: "unknown option '--nonsense'" },
  ]);
});

test('messages: a run reports its progress up to the end', async () => {
  const found = await messages('sim', '--agents', '10', '--blocks', '2', '--log', 'none');
  expect(found[0]).toMatchObject({ type: 'note' });
  expect(found.at(-1)).toMatchObject({ type: 'progress', share: 1, closed: 2 });
});

test('messages: without the variable, standard error has lines for people', async () => {
  vi.unstubAllEnvs();
  const { stderr } = await runCommand(['sim', 'no-such-scenario']);
  expect(stderr).toMatch(/^folkmoot: scenario not found: no-such-scenario; name a file/);
});
