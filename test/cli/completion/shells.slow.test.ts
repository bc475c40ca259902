/** Completion in real shells: bash completes a line, zsh and fish parse their scripts. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { folkmoot } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';

const run = promisify(execFile);

function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns a folder with the script of a shell, and a program that logs other command lines. */
async function prepare(shell: string) {
  const folder = temporaryFolder();
  const { code, stdout } = await folkmoot(['completion', shell]);
  expect(code).toBe(0);
  const script = join(folder, `completion.${shell}`);
  writeFileSync(script, stdout);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const log = join(folder, 'lines.log');
  writeFileSync(
    join(bin, 'folkmoot'),
    `#!/bin/sh\nif [ "$1" = __complete ]; then exec '${process.execPath}' '${main}' "$@"; fi\n` +
      `printf '%s\\n' "$*" >> '${log}'\n`,
  );
  chmodSync(join(bin, 'folkmoot'), 0o755);
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, PS1: '$ ', TERM: 'dumb' };
  return { folder, script, log, env };
}

test.skipIf(!has('bash'))('bash: calls the function as readline does', async () => {
  const { folder, script, env } = await prepare('bash');
  const evil = '$(touch owned)';
  mkdirSync(join(folder, evil));
  writeFileSync(join(folder, evil, 'summary.json'), '');
  mkdirSync(join(folder, 'with space'));
  const call = async (...words: string[]): Promise<string[]> => {
    const array = words.map((word) => `'${word}'`).join(' ');
    const line =
      `source '${script}'; COMP_WORDS=(folkmoot ${array}); COMP_CWORD=${words.length}; ` +
      `_folkmoot; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run('bash', ['--norc', '-c', line], { env, cwd: folder });
    return stdout.split('\n').filter((value) => value !== '');
  };
  // A load test can be a file, so names of files complete too.
  expect(await call('load', 'comp')).toEqual(['compare', 'completion.bash']);
  expect(await call('serve', '--limits', '')).toEqual(['spec', 'bench', 'off']);
  expect(await call('serve', '--limits', '=', 'b')).toEqual(['bench']);
  expect(await call('sim', 'healthy-t')).toEqual(['healthy-town']);
  expect(await call('serve', '--data', 'with')).toEqual(['with space']);
  // A hostile name of a folder is quoted, not evaluated. Neither is a word of the line.
  expect(await call('explore', '$(touch owned')).toContain('\\$\\(touch\\ owned\\)');
  await call('serve', '$(touch owned)', '--lim');
  const { stdout } = await run('ls', [], { cwd: folder });
  expect(stdout.split('\n')).not.toContain('owned');
});

const interactive = has('bash') && has('script');

test.skipIf(!interactive)('bash: completes a typed line on a terminal', async () => {
  const { folder, script, log, env } = await prepare('bash');
  const shell = spawn('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], {
    env,
    cwd: folder,
  });
  const ended = new Promise((resolve) => shell.once('close', resolve));
  shell.stdout.resume();
  shell.stdin.write(`source '${script}'\n`);
  shell.stdin.write('folkmoot ser\t--limits be\t--no-u\t\n');
  shell.stdin.write('folkmoot load --workload=sub\t\n');
  shell.stdin.write('folkmoot sim healthy-t\t\nexit\n');
  await ended;
  expect(
    readFileSync(log, 'utf8')
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual([
    ...['serve --limits bench --no-ui', 'load --workload=subscribers', 'sim healthy-town', ''],
  ]);
});

test.skipIf(!has('zsh'))('zsh: parses the script, and completes with it', async () => {
  const { folder, script, env } = await prepare('zsh');
  await run('zsh', ['-n', script], { env });
  // Stands in for the completion system, which needs a terminal.
  const line =
    'compdef() { : }; compadd() { print -rl -- $values }; _files() { print FILES }; ' +
    `source '${script}'; words=(folkmoot serve --limits b); CURRENT=4; _folkmoot; ` +
    'values=(); words=(folkmoot serve --config ""); CURRENT=4; _folkmoot';
  const { stdout } = await run('zsh', ['-f', '-c', line], { env, cwd: folder });
  expect(stdout.split('\n').filter(Boolean)).toEqual(['bench', 'FILES']);
});

test.skipIf(!has('fish'))('fish: parses the script, and completes with it', async () => {
  const { folder, script, env } = await prepare('fish');
  await run('fish', ['--no-execute', script], { env });
  const line = `source '${script}'; complete --do-complete 'folkmoot serve --limits b'`;
  const home = { ...env, HOME: folder, XDG_CONFIG_HOME: folder };
  const { stdout } = await run('fish', ['--no-config', '-c', line], { env: home, cwd: folder });
  expect(stdout.split('\n').filter(Boolean)).toEqual(['bench']);
});
