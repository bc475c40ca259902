import { statfsSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { full } from './test/support/counts.js';
import { gate } from './test/support/runner/files.js';
import { nodes } from './test/support/runner/nodes.js';
import { namedForks } from './test/support/runner/pool.js';
import { LongestFirst } from './test/support/runner/sequence.js';
import { SkipReporter } from './test/support/runner/skips.js';

// Most slow tests drive programs and browsers, and take some seconds on a quiet machine. Those that
// compute or wait for minutes are named `longest` in test/support/runner/files.ts; their limit is
// there. With full counts all of them may take hours.
const slowMs = full ? 3_600_000 : 180_000;
const slowPollMs = full ? 600_000 : 120_000;
// A fast test takes less than 10 s on a quiet machine, and most of its waits some milliseconds.
// These limits leave room for a machine that is several times as busy, and end a hang soon.
const fastMs = full ? slowMs : 60_000;
const fastPollMs = full ? 600_000 : 10_000;
const slow = 'test/**/*.slow.test.ts';

/** Fast tests that keep a folder write and sync thousands of small files: in memory, if it has room. */
function folderOfFast(): string {
  if (process.platform !== 'linux') return tmpdir();
  const { bavail, bsize } = statfsSync('/dev/shm');
  return bavail * bsize > 4 * 2 ** 30 ? '/dev/shm' : tmpdir();
}

// The gate has minutes: it runs some slow files of each kind, and `npm run test:slow` runs all.
const slowFiles = process.env.FOLKMOOT_TEST_GATE
  ? gate.map((name) => `test/${name}.slow.test.ts`)
  : [slow];
const otherNodes = 'test/**/*.nodes.test.ts';

/**
 * Tests run the built package as its users do: `npm run build` comes first. `fast` is what `npm test`
 * runs, `slow` what `npm run test:slow` does; `nodes` needs other versions of Node, which
 * `npm run test:full` brings. test/README.md says which tests are which.
 */
export default defineConfig({
  test: {
    pool: namedForks,
    runner: './test/support/runner/skipping.ts',
    reporters: ['default', new SkipReporter()],
    sequence: { sequencer: LongestFirst },
    // Tests use test, expect and the hooks without importing them.
    globals: true,
    // Files of a worker share its modules: loading them for each takes a fifth of all the time.
    isolate: false,
    // The built package runs unchanged, as in a user's process: Vite does not transform it.
    server: { deps: { external: [/\/dist\//] } },
    // One more than the cores of a small machine: many tests wait for other processes.
    maxWorkers: 3,
    testTimeout: slowMs,
    hookTimeout: slowMs,
    expect: { poll: { timeout: slowPollMs } },
    // The key that seals derived files lies in no tester's home.
    env: { XDG_STATE_HOME: join(tmpdir(), `folkmoot-test-state-${userInfo().uid}`) },
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [slow, otherNodes],
          env: { TMPDIR: folderOfFast(), FOLKMOOT_TEST_DISK: tmpdir() },
          testTimeout: fastMs,
          hookTimeout: fastMs,
          expect: { poll: { timeout: fastPollMs } },
        },
      },
      { extends: true, test: { name: 'slow', include: slowFiles } },
      // A project without tests would be a mistake.
      ...(nodes.length > 0
        ? [{ extends: true as const, test: { name: 'nodes', include: [otherNodes] } }]
        : []),
    ],
  },
});
