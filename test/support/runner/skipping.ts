/**
 * Runs test files, with a longer time limit for the longest files. Skips tests of the uws transport
 * on a Node version without a uWebSockets.js binary. Such a test has `uws` in its name or in the
 * name of its suite. On a Node version with a binary, a transport that does not load is a failure.
 */
import { type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest';
import { longest, longestMs } from './files.js';
import { loadsUws } from './nodes.js';

async function unloadable(): Promise<string | null> {
  const { platform, arch, versions } = process;
  if (loadsUws(versions.node)) return null;
  return import('uWebSockets.js').then(
    () => null,
    () => `uWebSockets.js does not load on ${platform} ${arch} with Node ${versions.node}`,
  );
}

const reason = await unloadable();

/**
 * Skips the transport's tests. The suite itself is not skipped, because vitest would not count its
 * tests after collection. Only the suite's hooks are removed.
 */
function skipUws(suite: RunnerTestSuite, note: string, within = false): void {
  for (const task of suite.tasks) {
    const named = within || /\buws\b/.test(task.name);
    if (task.type === 'suite') {
      if (named)
        for (const hooks of Object.values(TestRunner.getSuiteHooks(task))) hooks.length = 0;
      skipUws(task, note, named);
    } else if (named && task.mode === 'run') {
      task.mode = 'skip';
      task.result = Object.assign({ state: 'skip' as const }, { note });
    }
  }
}

export default class SkippingRunner extends TestRunner {
  readonly #testMs = this.config.testTimeout;
  readonly #hookMs = this.config.hookTimeout;

  override importFile(path: string, source: 'collect' | 'setup') {
    const isLong = longest.some((name) => path.endsWith(`/test/${name}.slow.test.ts`));
    const least = isLong ? longestMs : 0;
    this.config.testTimeout = Math.max(this.#testMs, least);
    this.config.hookTimeout = Math.max(this.#hookMs, least);
    return super.importFile(path, source);
  }

  onCollected(files: RunnerTestFile[]): void {
    if (reason !== null) for (const file of files) skipUws(file, reason);
  }
}
