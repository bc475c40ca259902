/** Random system call failures under load: no acknowledged data is lost. */
import { constants } from 'node:os';
import { Endurance } from '../live/clients/endurance.js';
import { counts } from '../support/counts.js';
import { temporaryFolder } from '../support/fixture.js';
import type { Ending } from '../support/host.js';
import { drawnFrom, seed } from '../support/seeded.js';
import { faulty, why } from './faulty.js';

const draw = drawnFrom(seed);
const { EINTR, EIO, ENOSPC } = constants.errno;
const transports = ['uws', 'node'];

/** Calls that can fail, with their errors and the range from which the call number is drawn. */
const failures: [call: string, errors: number[], among: number][] = [
  // 0 writes half of the bytes.
  ['pwrite', [EIO, ENOSPC, EINTR, 0], 400],
  ['fdatasync', [EIO, ENOSPC, EINTR], 200],
  ['statfs', [EIO, EINTR], 200],
  ['mmap', [constants.errno.ENOMEM], 12],
  ['ftruncate', [EIO, ENOSPC, EINTR], 4],
  ['open', [EIO, constants.errno.EMFILE], 20],
  ['fsync', [EIO, EINTR], 6],
  ['rename', [EIO], 3],
];

const pick = <Item>(items: readonly Item[]): Item => items[draw(items.length)]!;

/** Draws a rule. Early failures are as frequent as late failures, and one in four is permanent. */
function rule(): string {
  const [call, errors, among] = pick([...failures, failures[0]!, failures[0]!, failures[1]!]);
  const error = pick(errors);
  const nth = 1 + draw(pick([among, Math.ceil(among / 20)]));
  // EINTR must fail only once, because lmdb retries as long as the call is interrupted.
  const onwards = error !== EINTR && draw(4) === 0;
  return `${call}:${nth}${onwards ? '+' : ''}:${error}`;
}

/** Number of servers by how they ended. */
const endings = new Map<string, number>();

/**
 * Failures after which LMDB can end the process with a signal (see operating.md): LMDB's files
 * cannot be opened or mapped, or a page cannot be written (lmdb 3.5.6 formats up to 120 characters
 * into 100 bytes, mdb.c, mdb_page_flush). A half-page write takes a different path.
 */
const nativeEnd = /mmap|open|pwrite:\d+\+?:[1-9]/;

/**
 * Expects that a server that exits reports the reason in one line. Acknowledged data is on disk in
 * any case.
 */
function expectClear({ code, signal }: Ending, stderr: string, rules: string): void {
  const how = `${rules}\n${stderr}`;
  const name = String(signal ?? code);
  endings.set(name, (endings.get(name) ?? 0) + 1);
  if (signal !== null && nativeEnd.test(rules)) {
    expect(['SIGSEGV', 'SIGABRT', 'SIGBUS'], how).toContain(signal);
    return;
  }
  expect([code, signal], how).toEqual([13, null]);
  const told = stderr.split('\n').filter((line) => /"level":60|^folkmoot: /.test(line));
  expect(told, how).toHaveLength(1);
}

describe.skipIf(why !== undefined)(`random faults of a disk, seed ${seed}`, () => {
  test(`disk: ${counts.randomFaults} servers with random failures lose nothing`, async () => {
    const data = temporaryFolder();
    const moot = new Endurance(data);
    await moot.begin();
    for (let time = 0; time < counts.randomFaults; time += 1) {
      const rules = Array.from({ length: 1 + draw(3) }, rule).join(',');
      const env = faulty({ folder: data, rules });
      const failed = (ending: Ending, stderr: string) => expectClear(ending, stderr, rules);
      await moot.die({ after: 100 + draw(150), env, transport: transports[time % 2]!, failed });
      await moot.look();
    }
    // All servers may have failed before a connection, so run one more without faults.
    await moot.die({ after: 100, transport: pick(transports) });
    await moot.end();
    process.stdout.write(`disk: servers ended by ${JSON.stringify([...endings])}\n`);
  });
});
