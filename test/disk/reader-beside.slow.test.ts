/** Readers that open the folder of a live server do not affect its commits. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ends, openStore, tempFolder } from '../engine/store/fixture.js';
import { startWriter } from '../engine/store/start-writer.js';
import { meta, registration } from '../live/clients/actions.js';
import { Caller, inParallel } from '../live/clients/caller.js';
import { signatoryOf, temporaryFolder } from '../support/fixture.js';
import { host, stop } from '../support/host.js';
import { main } from '../support/paths.js';
import { faulty, why } from './faulty.js';

/** Resolves when a process has LMDB's data file open. */
async function openedData(pid: number): Promise<void> {
  const isOpen = (fd: string) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith('data.mdb');
    } catch {
      return false;
    }
  };
  // LMDB keeps its file descriptors open, and the preceding check closes its own.
  for (let seen = 0; seen < 20; seen = readdirSync(`/proc/${pid}/fd`).some(isOpen) ? seen + 1 : 0) {
    await sleep(10);
  }
}

/** The counts are an even and an odd number, because LMDB keeps its last two states, by parity. */
test.skipIf(why !== undefined).each([4, 5])(
  'disk: a reader that opens during %d commits reverts none of them',
  async (commits) => {
    const data = temporaryFolder();
    const server = await host({ data });
    const caller = new Caller(server.url);
    await caller.do(registration(signatoryOf(0), 'First'));
    expect(await meta(caller)).toMatchObject({ seq: 1 });
    // The reader pauses between reading the header and storing it in the lock table.
    const env = { ...process.env, ...faulty({ folder: data, rules: 'mmap:2:-2500' }) };
    const reader = spawn(process.execPath, [main, 'log', data], { env, stdio: 'ignore' });
    const ended = once(reader, 'exit');
    await openedData(reader.pid!);
    const numbers = Array.from({ length: commits }, (_, number) => 1 + number);
    const during = inParallel(numbers, 1, (number) =>
      caller.do(registration(signatoryOf(number), 'During')),
    );
    expect(await ended).toEqual([0, null]);
    await during;
    // One commit starts together with the reader. A second commit would hide the effect.
    await caller.do(registration(signatoryOf(100), 'After'));
    const told = await meta(caller);
    expect(told.seq).toBe(commits + 2);
    await server.kill('SIGKILL');
    const again = await host({ data });
    expect(await meta(new Caller(again.url))).toMatchObject({ seq: told.seq, digest: told.digest });
    await stop(again);
  },
);

test.skipIf(why !== undefined)('disk: a reader hides no commit from a later writer', async () => {
  const folder = tempFolder();
  const write = (env: Record<string, string> = {}) =>
    startWriter(['write', folder, '1', 'hold'], env);
  const first = write();
  await first.printed('committed 1');
  // The reader reads the header before the next commit, and stores it after the next open.
  const reading = faulty({ folder, rules: 'mmap:2:-5000' });
  const reader = startWriter(['read', folder], reading);
  await openedData(reader.process.pid!);
  first.process.stdin!.end();
  await first.ended;
  const second = write();
  await second.printed('committed 2');
  second.process.kill('SIGKILL');
  await second.ended;
  // LMDB opens this file after it has read the header.
  const third = startWriter(['write', folder, '1'], faulty({ folder, rules: 'open:6:-6000' }));
  await third.printed('committed 3');
  reader.process.stdin!.end();
  expect((await reader.ended).code).toBe(0);
  const store = openStore(folder);
  expect(ends(store)).toMatchObject({ meta: 3, entries: [1, 2, 3], votes: [1, 2, 3] });
});
