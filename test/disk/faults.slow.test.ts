/** Failing system calls: a one-line error, exit code 13, and a folder that opens again. */
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { meta, registration } from '../live/clients/actions.js';
import { Caller, expectCut, inParallel } from '../live/clients/caller.js';
import { expectOneLine } from '../support/command.js';
import { signatoryOf, temporaryFolder } from '../support/fixture.js';
import { host, stop } from '../support/host.js';
import { main } from '../support/paths.js';
import { linesOf } from '../support/runs.js';
import { faulty, why } from './faulty.js';

const { EACCES, EINTR, EIO, ENOMEM, ENOSPC } = constants.errno;

/** Starts a server with a limited address space, far larger than the server needs. */
function serveLimited(data: string, env: Record<string, string>) {
  const command = 'ulimit -v 1073741824; exec "$0" "$@"';
  const serve = [main, 'serve', '--port', '0', '--log-level', 'silent', '--data', data];
  const { status, signal, stdout, stderr } = spawnSync(
    'bash',
    ['-c', command, process.execPath, ...serve],
    { env: { ...process.env, ...env }, encoding: 'utf8' },
  );
  return { code: status, signal, stdout, stderr };
}

test.skipIf(why !== undefined).each([
  ['the first page does not fit on the disk', `pwrite:1:${ENOSPC}`],
  ['the lock file does not fit on the disk', `pwrite:2:${ENOSPC}`],
  ['no file can be created', `open:1:${EACCES}`],
  ['the data file cannot be created', `open:3:${EACCES}`],
  ['the data file cannot be renamed', `rename:1:${EIO}`],
  ['the first page cannot be flushed', `fsync:1:${EIO}`],
  ['the first commit cannot be flushed', `fdatasync:1:${EIO}`],
  ['the lock file cannot be mapped', `mmap:1:${ENOMEM}`],
  ['the data file cannot be mapped', `mmap:2:${ENOMEM}`],
  ['the free space cannot be read', `statfs:1:${EIO}`],
  ['the free space can be read only once', `statfs:2:${EIO}`],
])('serve: fails in one line in a new folder if %s', async (_, rules) => {
  const folder = join(temporaryFolder(), 'data');
  const ended = serveLimited(folder, faulty({ folder, rules }));
  expectOneLine(ended);
  // A missing permission is a usage error. Other errors are faults of the machine.
  expect(ended.code).toBe(rules.endsWith(`:${EACCES}`) ? 2 : 13);
  const server = await host({ data: folder });
  expect(await meta(new Caller(server.url))).toMatchObject({ seq: 0 });
  await stop(server);
});

test.skipIf(why !== undefined).each([
  ['statfs', 9, EIO, /statfs .*EIO/],
  ['fdatasync', 6, EIO, /commit to .*Input.output error/],
  ['fdatasync', 6, ENOSPC, /commit to .*No space left/],
  ['pwrite', 30, ENOSPC, /commit to .*No space left/],
])('serve: exits with 13 and logs one line if %s number %d fails with %d', async (...told) => {
  const [call, nth, errno, reason] = told;
  const folder = temporaryFolder();
  const rules = `${call}:${nth}+:${errno}`;
  const server = await host({ data: folder, env: faulty({ folder, rules }) });
  const caller = new Caller(server.url);
  const write = (n: number) => caller.send(registration(signatoryOf(n), 'New')).catch(expectCut);
  await inParallel([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 1, write);
  expect(await server.ended).toEqual({ code: 13, signal: null });
  // Every line is an entry of the log, so no library has printed a stack.
  type Line = { level: number; err: Error };
  const said = linesOf(server.stderr()).map((line) => JSON.parse(line) as Line);
  const fatal = said.filter(({ level }) => level === 60);
  expect(fatal).toHaveLength(1);
  expect(fatal[0]!.err.message).toMatch(reason);
});

test.skipIf(why !== undefined)('serve: retries an interrupted flush', async () => {
  const folder = temporaryFolder();
  const interrupted = Array.from({ length: 40 }, (_, k) => `fdatasync:${3 + 2 * k}:${EINTR}`);
  const rules = interrupted.slice(0, 30).join(',');
  const server = await host({ data: folder, env: faulty({ folder, rules }) });
  const caller = new Caller(server.url);
  const numbers = Array.from({ length: 60 }, (_, number) => number);
  await inParallel(numbers, 2, (n) => caller.do(registration(signatoryOf(n), 'New')));
  const told = await meta(caller);
  expect(told.seq).toBe(60);
  await stop(server);
  const again = await host({ data: folder });
  expect((await meta(new Caller(again.url))).digest).toBe(told.digest);
  await stop(again);
});

test.skipIf(why !== undefined).each([1, 2, 3])(
  'serve: does not start a new network if it cannot open file number %d',
  async (nth) => {
    const folder = temporaryFolder();
    await (await host({ data: folder })).kill('SIGKILL');
    const ended = serveLimited(folder, faulty({ folder, rules: `open:${nth}:${EIO}` }));
    expectOneLine(ended);
    expect(ended.code).toBe(13);
    expect(ended.stderr).toContain('EIO');
  },
);
