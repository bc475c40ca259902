import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { full } from './test/support/counts.js';
import { nodes } from './test/support/runner/nodes.js';
import { namedForks } from './test/support/runner/pool.js';
import { LongestFirst, longest } from './test/support/runner/sequence.js';
import { SkipReporter } from './test/support/runner/skips.js';

// Slow tests drive programs and browsers, and full counts take hours: only a hang reaches these.
const slowMs = full ? 3_600_000 : 900_000;
// A fast test takes less than 10 s on a quiet machine, and most of its waits some milliseconds.
// These limits leave room for a machine that is several times as busy, and end a hang soon.
const fastMs = full ? slowMs : 60_000;
const fastPollMs = full ? 600_000 : 10_000;
const slow = 'test/**/*.slow.test.ts';
// The gate has minutes: the files that take most of them run with all others in `npm run test:slow`.
const left = process.env.FOLKMOOT_TEST_GATE
  ? longest.map((name) => `test/${name}.slow.test.ts`)
  : [];
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
    // Files of a worker share its modules: loading them for each takes a fifth of all the time.
    isolate: false,
    // One more than the cores of a small machine: many tests wait for other processes.
    maxWorkers: 3,
    testTimeout: slowMs,
    hookTimeout: slowMs,
    expect: { poll: { timeout: 600_000 } },
    // The key that seals derived files lies in no tester's home.
    env: { XDG_STATE_HOME: join(tmpdir(), `folkmoot-test-state-${userInfo().uid}`) },
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [slow, otherNodes],
          testTimeout: fastMs,
          hookTimeout: fastMs,
          expect: { poll: { timeout: fastPollMs } },
        },
      },
      { extends: true, test: { name: 'slow', include: [slow], exclude: left } },
      // A project without tests would be a mistake.
      ...(nodes.length > 0
        ? [{ extends: true as const, test: { name: 'nodes', include: [otherNodes] } }]
        : []),
    ],
  },
});
