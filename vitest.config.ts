import { defineConfig } from 'vitest/config';
import { full } from './test/support/counts.js';

/** Tests run the built package through its own doors: `npm run build` comes first. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Files of a worker share its modules: loading them for each takes a fifth of all the time.
    isolate: false,
    // One more than the cores of a small machine: many tests wait for other processes.
    maxWorkers: 3,
    // With full counts a test may take as long as it counts: only one that hangs is ended.
    testTimeout: full ? 3_600_000 : 120_000,
    hookTimeout: 60_000,
  },
});
