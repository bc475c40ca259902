import { defineConfig } from 'vitest/config';

/** Tests run the built package through its own doors: `npm run build` comes first. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Files of a worker share its modules: loading them for each takes a fifth of all the time.
    isolate: false,
    // One more than the cores of a small machine: many tests wait for other processes.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
