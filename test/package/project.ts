/**
 * An empty project into which the package is installed as from a registry, without a network: what
 * `npm pack` would publish, and copies of the packages that it brings, none of the others.
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

/** What the package brings here, by path: without what is for other platforms. */
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

/** The files of the package, in `node_modules/folkmoot` of `project`: gives their paths. */
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

/** Installs into an empty folder: gives the paths of the package's own files. */
export function install(project: string): string[] {
  const files = unpack(project);
  for (const path of brought().keys()) {
    // What lies inside of another comes with it.
    const nested = path.lastIndexOf('node_modules/') > 0;
    if (!nested) cpSync(join(root, path), join(project, path), { recursive: true });
  }
  // What a TypeScript project for Node has of its own.
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
