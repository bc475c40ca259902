/**
 * A project with the package installed as from a registry, but offline: the files of `npm pack` and
 * copies of the dependencies.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/paths.js';

interface Locked {
  dev?: boolean;
  /** A workspace of this repository. */
  link?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
  engines?: { node?: string };
}

/** Dependencies of the package on this platform, by path. */
export function brought(): Map<string, Locked> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const entries = Object.entries(packages).filter(([path, { dev, link, optional }]) => {
    if (!path.startsWith('node_modules/') || link || dev) return false;
    const here = existsSync(join(root, path));
    if (!here && !optional) throw new Error(`${path} is not installed: run npm ci`);
    return here;
  });
  return new Map(entries);
}

/** Copies the package to `node_modules/folkmoot` of a project. Returns the paths. */
function unpack(project: string): string[] {
  const pack = ['pack', '--ignore-scripts', '--offline', '--json', '--pack-destination', project];
  const options = { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' } as const;
  const printed = execFileSync('npm', pack, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
  const told = JSON.parse(printed) as Packed[] | Record<string, Packed>;
  const [{ filename, files }] = Object.values(told) as [Packed];
  const folder = join(project, 'node_modules/folkmoot');
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', join(project, filename), '--strip-components=1', '-C', folder]);
  return files.map(({ path }) => path);
}

interface Packed {
  filename: string;
  files: { path: string }[];
}

/** Installs into an empty folder. Returns the paths of the package files. */
export function install(project: string): string[] {
  const files = unpack(project);
  for (const path of brought().keys()) {
    // A nested package is copied with its parent.
    const nested = path.lastIndexOf('node_modules/') > 0;
    if (!nested) cpSync(join(root, path), join(project, path), { recursive: true });
  }
  // Development dependencies of a TypeScript project for Node.
  for (const name of ['@types/node', 'undici-types']) {
    cpSync(join(root, 'node_modules', name), join(project, 'node_modules', name), {
      recursive: true,
    });
  }
  mkdirSync(join(project, 'node_modules/.bin'));
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const main = join('node_modules/folkmoot', bin.folkmoot);
  symlinkSync(join('../..', main), join(project, 'node_modules/.bin/folkmoot'));
  writeFileSync(join(project, 'package.json'), '{"name":"consumer","private":true}\n');
  return files;
}
