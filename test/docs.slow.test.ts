/** Runs what the documents show: the embedding example, commands, the Python snippet. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dependingFolder } from './own-client/programs.js';
import { temporaryFolder } from './support/fixture.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const embedding = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
const protocol = readFileSync(join(root, 'docs/protocol.md'), 'utf8');
const cli = join(root, 'dist/cli/main.js');

function blocks(text: string, language: string): string[] {
  const pattern = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g');
  return [...text.matchAll(pattern)].map(([, code]) => code!);
}

test('embedding.md: the example runs as a program that depends on folkmoot', () => {
  const folder = dependingFolder();
  const [example] = blocks(embedding, 'js');
  const lines = example!.split('\n').filter((line) => line.trim() !== '');
  writeFileSync(join(folder, 'example.mjs'), example!);
  const printed = execFileSync('node', ['example.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(printed).toBe('1\n');
  expect(lines.length).toBeLessThan(20);
});

test('README: the commands of its simulation section run as written', () => {
  const folder = temporaryFolder();
  const section = blocks(readme, 'sh').find((block) => block.includes('npx folkmoot sim'))!;
  const commands = section.replaceAll('npx folkmoot', `'${process.execPath}' '${cli}'`);
  expect(commands.trim().split('\n').length).toBeGreaterThan(3);
  // Throws when a command fails.
  execFileSync('sh', ['-ec', commands], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
});

test('README: the commands of its quick start are scripts of the package', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(readme).toContain('npm ci && npm run sim');
  expect(readme).toContain('npm ci && npm test');
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['sim', 'test', 'docs:site']));
});

test('docs/protocol.md: the Python snippet recomputes the log digest', () => {
  const folder = temporaryFolder();
  const run = (...args: string[]) =>
    execFileSync('node', [cli, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const options = ['--agents', '30', '--blocks', '2', '--out', 'run', '--json'];
  const result = JSON.parse(run('sim', ...options).toString());
  const [script] = blocks(protocol, 'python');
  const input = run('log', 'run');
  const printed = execFileSync('python3', ['-c', script!], { input, encoding: 'utf8' });
  expect(printed.trim()).toBe(result.log_digest);
});
