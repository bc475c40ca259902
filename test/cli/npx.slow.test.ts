/** `npx folkmoot`: starts the built program, and SIGTERM to npx stops a server. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../support/cli.js';
import { temporaryFolder } from '../support/fixture.js';
import { main, root } from '../support/paths.js';

/** Creates a project with the command in `.bin`. In the checkout, npx would build first. */
function installed(): string {
  const project = temporaryFolder();
  const bin = join(project, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{}');
  const command = `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`;
  writeFileSync(join(bin, 'folkmoot'), command, { mode: 0o755 });
  return project;
}

/** Copies the checkout, because other tests use the checkout's build. */
function checkout(): string {
  const copy = join(temporaryFolder(), 'checkout');
  const left = ['.git', 'dist', 'node_modules', 'runs', 'test'].map((name) => join(root, name));
  cpSync(root, copy, { recursive: true, filter: (path) => !left.includes(path) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

test.skipIf(process.platform === 'win32')(
  'npx folkmoot: starts after a rebuild, through the link that npm made before',
  () => {
    const copy = checkout();
    const { version } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
    const bin = join(copy, '..', 'node_modules', '.bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(join(copy, 'dist/cli/main.js'), join(bin, 'folkmoot'));
    writeFileSync(join(copy, '..', 'package.json'), '{}');
    execFileSync('npm', ['run', 'build'], { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
    expect(statSync(join(copy, 'dist/cli/main.js')).mode & 0o777).toBe(0o755);
    const npx = ['--no-install', 'folkmoot', '--version'];
    const printed = execFileSync('npx', npx, { cwd: join(copy, '..'), encoding: 'utf8' });
    expect(printed).toMatch(new RegExp(`^${version}\\b`));
  },
);

test.skipIf(process.platform === 'win32')(
  'npx folkmoot serve: SIGTERM to npx stops the server, which leaves its folder free',
  async () => {
    const data = join(temporaryFolder(), 'data');
    const args = ['--no-install', 'folkmoot', 'serve', '--port', '0', '--data', data];
    const npx = spawn('npx', args, { cwd: installed() });
    let told = '';
    npx.stderr.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    const ended = once(npx, 'exit');
    npx.stdout.setEncoding('utf8');
    const [first] = (await once(npx.stdout, 'data')) as [string];
    const { url } = JSON.parse(first.split('\n', 1)[0]!) as { url: string };
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    npx.kill('SIGTERM');
    await ended;
    const answers = () =>
      fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      );
    await expect.poll(answers).toBe(false);
    await expect.poll(() => told).toContain('"msg":"stopping"');
    // A folder that is still open would block the next server.
    const next = ['serve', '--host', 'nowhere.invalid', '--data', data];
    await expect.poll(async () => (await folkmoot(next)).code, { interval: 500 }).toBe(1);
  },
);
