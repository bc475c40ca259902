/** Runs the tests in python/tests with Debian's Python, in parallel, against the built program. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../support/paths.js';

const python = '/usr/bin/python3';
const tests = join(root, 'python/tests');
const modules = readdirSync(tests)
  .filter((name) => /^test_\w+\.py$/.test(name))
  .map((name) => name.replace('.py', ''));

test.skipIf(!existsSync(python)).each(modules)('python: %s', async (name) => {
  const args = ['-W', 'error::ResourceWarning', '-m', 'unittest', '-v', name];
  const env = { ...process.env, FOLKMOOT_COMMAND: root };
  const { stderr } = await promisify(execFile)(python, args, { cwd: tests, env }).catch(
    (failed: { stderr: string }) => failed,
  );
  expect(stderr).toMatch(/\nRan [1-9]\d* tests? in .*\n\nOK/);
  // An error in a destructor or a thread fails no test of Python's own.
  expect(stderr).not.toMatch(/^(?:Exception ignored|Exception in thread)/m);
});
