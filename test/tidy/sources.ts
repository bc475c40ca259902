/** All source files with their imports, for the rules in this folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = [
  ...['engine', 'cluster', 'api', 'report', 'ui', 'sim', 'testing', 'bench', 'cli', 'examples'],
  ...['tools', 'test'],
];

export interface Source {
  path: string;
  text: string;
  /** Paths in this repository, and package names. */
  imports: string[];
}

export const sources = folders.flatMap(filesIn).map(read);
export const known = new Set(sources.map(({ path }) => path));

/** Returns a path with forward slashes, as the rules name it, on Windows too. */
function withSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}

function filesIn(folder: string): string[] {
  if (!readdirSync(root).includes(folder)) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|mjs|cjs)$/.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${withSlashes(name)}`);
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const patterns = [
    /(?:^|\n)(?:import|export)\s[^'";]*?from\s+'([^']+)'/g,
    /(?:^|\n)import\s+'([^']+)'/g,
    /\bimport\('([^']+)'\)/g,
  ];
  const names = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name!));
  return { path, text, imports: names.map((name) => resolve(path, name)) };
}

export function resolve(from: string, name: string): string {
  if (!name.startsWith('.')) return name;
  const path = withSlashes(relative(root, normalize(join(root, dirname(from), name))));
  const typed = path.replace(/\.js$/, '.ts');
  return existsSync(join(root, `${typed}x`)) ? `${typed}x` : typed;
}

export const under = (path: string, ...parents: string[]) =>
  parents.some((parent) => path === parent || path.startsWith(`${parent}/`));

/** Returns one line with advice per import that breaks a rule. */
export function offences(rule: (from: Source, to: string) => string | null): string[] {
  return sources.flatMap((source) =>
    source.imports.flatMap((to) => {
      const advice = rule(source, to);
      return advice ? [`${source.path} imports ${to}: ${advice}`] : [];
    }),
  );
}

/** Returns a text without comments. */
export const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
