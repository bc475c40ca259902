/** Runs what the documents show: the embedding example, commands, the Python snippet. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { document, fenced } from './own-client/markdown.js';
import { dependingFolder } from './own-client/programs.js';
import { temporaryFolder } from './support/fixture.js';
import { main } from './support/paths.js';

test('embedding.md: the example runs as a program that depends on folkmoot', () => {
  const folder = dependingFolder();
  const [example] = fenced(document('docs/embedding.md'), 'js');
  const lines = example!.split('\n').filter((line) => line.trim() !== '');
  writeFileSync(join(folder, 'example.mjs'), example!);
  const printed = execFileSync('node', ['example.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(printed).toBe('1\n');
  expect(lines.length).toBeLessThan(20);
});

test('docs/protocol.md: the Python snippet recomputes the log digest', () => {
  const folder = temporaryFolder();
  const run = (...args: string[]) =>
    execFileSync('node', [main, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const options = ['--agents', '30', '--blocks', '2', '--out', 'run', '--json'];
  const result = JSON.parse(run('sim', ...options).toString());
  const [script] = fenced(document('docs/protocol.md'), 'python');
  const input = run('log', 'run');
  const printed = execFileSync('python3', ['-c', script!], { input, encoding: 'utf8' });
  expect(printed.trim()).toBe(result.log_digest);
});
