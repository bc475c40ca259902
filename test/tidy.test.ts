/** Keeps the tree as it is meant to be: imports in one direction, a pure core, small files. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['engine', 'api', 'sim', 'bench', 'cli', 'test'];

interface Source {
  path: string;
  text: string;
  /** Paths of our own files, and names of packages. */
  imports: string[];
}

const sources = folders.flatMap(filesIn).map(read);

function filesIn(folder: string): string[] {
  if (!readdirSync(root).includes(folder)) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs|cjs)$/.test(name))
    .map((name) => join(folder, name));
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

function resolve(from: string, name: string): string {
  if (!name.startsWith('.')) return name;
  return relative(root, normalize(join(root, dirname(from), name))).replace(/\.js$/, '.ts');
}

const under = (path: string, ...parents: string[]) =>
  parents.some((parent) => path === parent || path.startsWith(`${parent}/`));

/** Every import that breaks a rule, as a line that says what to do instead. */
function offences(rule: (from: Source, to: string) => string | null): string[] {
  return sources.flatMap((source) =>
    source.imports.flatMap((to) => {
      const advice = rule(source, to);
      return advice ? [`${source.path} imports ${to}: ${advice}`] : [];
    }),
  );
}

test('folders: imports go engine <- api <- sim <- bench <- cli, tests outside', () => {
  const order = ['engine', 'api', 'sim', 'bench', 'cli', 'test'];
  const rank = (path: string) => order.indexOf(path.split('/')[0]!);
  const wrong = offences(({ path }, to) => {
    if (rank(to) < 0 || rank(to) <= rank(path)) return null;
    return 'turn the dependency round, or move what both need down';
  });
  expect(wrong).toEqual([]);
});

test('engine: schema, core, crypto and store do not know what is above or beside them', () => {
  const below: Record<string, string[]> = {
    'engine/schema': ['engine/schema'],
    'engine/core': ['engine/core', 'engine/schema', 'engine/limits.ts'],
    'engine/crypto': ['engine/crypto', 'engine/limits.ts', 'engine/sizes.ts'],
    'engine/store': ['engine/store', 'engine/schema', 'engine/limits.ts', 'engine/crash.ts'],
    'engine/hash': ['engine/hash'],
  };
  const wrong = offences(({ path }, to) => {
    const folder = Object.keys(below).find((name) => under(path, name));
    if (!folder || !under(to, 'engine') || under(to, ...below[folder]!)) return null;
    return `${folder} may import only ${below[folder]!.join(', ')}`;
  });
  expect(wrong).toEqual([]);
});

test('load tester: each of its folders imports only those before it', () => {
  const order =
    'server send prepare record agents chain workloads run figures saturate report files';
  const rooms = order.split(' ');
  const room = (path: string) => rooms.indexOf(path.slice('bench/load/'.length).split('/')[0]!);
  const wrong = offences(({ path }, to) => {
    if (!under(path, 'bench/load') || !under(to, 'bench/load')) return null;
    if (path === 'bench/load/index.ts' || room(to) <= room(path)) return null;
    return `the order is ${rooms.join(', ')}; the files beside them are below all`;
  });
  expect(wrong).toEqual([]);
  const folders = sources.map(({ path }) => path).filter((path) => /^bench\/load\/.+\//.test(path));
  expect(new Set(folders.map(room))).toEqual(new Set(rooms.keys()));
});

test('doors: from outside, the engine is entered by its doors only', () => {
  const doors = ['engine/index.ts', 'engine/signing.ts'];
  // The words of a genesis, for the options of commands that need no engine to show their help.
  const words = 'engine/schema/genesis.ts';
  const wrong = offences(({ path }, to) => {
    if (under(path, 'engine', 'test') || !under(to, 'engine') || doors.includes(to)) return null;
    if (under(path, 'api/client.ts', 'api/client')) return null;
    if (under(path, 'cli') && to === words) return null;
    return `export it from ${doors[0]}`;
  });
  expect(wrong).toEqual([]);
});

test('cli: what is loaded for every command is not the engine, the server or the simulator', () => {
  const seen = new Set<string>();
  const load = (path: string) => {
    const source = sources.find((one) => one.path === path);
    if (!source || seen.has(path)) return;
    seen.add(path);
    const values = source.text.matchAll(/(?:^|\n)(?:im|ex)port (?!type )[^'";]*?from\s+'([^']+)'/g);
    for (const [, name] of values) load(resolve(path, name!));
  };
  load('cli/main.ts');
  const beyond = [...seen].filter((path) => !under(path, 'cli'));
  expect(beyond.sort()).toEqual([
    'bench/load/options.ts',
    'engine/schema/genesis.ts',
    'engine/schema/typebox.ts',
  ]);
});

test('audit: the auditor shares no code with the engine', () => {
  const wrong = offences(({ path, text }, to) => {
    if (!under(path, 'sim/audit') || under(to, 'sim/audit', 'engine/signing.ts')) return null;
    if (to !== 'engine/index.ts') return 'it may import types of engine/index.ts, and signing.ts';
    const valued = /^import (?!type )[^;]*engine\/index\.js'/m.test(text);
    return valued ? 'import types only: the model is written from the protocol' : null;
  });
  expect(wrong).toEqual([]);
});

test('client: imports only what a browser can run', () => {
  const names = ['browser-keys', 'canonical', 'compose', 'signing'];
  const files = names.map((name) => `engine/${name}.ts`);
  const wrong = offences(({ path }, to) => {
    if (!under(path, 'api/client.ts', 'api/client') || under(to, 'api/client', ...files)) {
      return null;
    }
    if (under(to, 'engine/schema') && to !== 'engine/schema/validate.ts') return null;
    return to === 'ws' ? null : `the client may import ${files.join(', ')}, engine/schema and ws`;
  });
  expect(wrong).toEqual([]);
});

test('packages: some have a single importer', () => {
  const importers: Record<string, RegExp> = {
    lmdb: /^engine\/store\//,
    'fs-native-extensions': /^engine\/store\/lock/,
    piscina: /^(engine\/crypto|sim\/jobs|bench\/load\/prepare)\//,
    jstat: /^sim\/sweep\/statistics/,
    'uWebSockets.js': /^(api\/uws|bench\/bare-server)/,
    ajv: /^engine\/schema\/ajv/,
    seedrandom: /^sim\/streams/,
    benchmark: /^bench\//,
    typebox: /^engine\/schema\/typebox/,
    'typebox/value': /^engine\/schema\/typebox/,
  };
  const wrong = offences(({ path }, to) => {
    const only = importers[to];
    return !only || only.test(path) || under(path, 'test') ? null : `only ${only} may`;
  });
  expect(wrong).toEqual([]);
});

test('imports: no cycles', () => {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]) => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (done.has(path) || trail.includes(path)) return;
    for (const next of graph.get(path) ?? []) if (graph.has(next)) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

/** What would make two runs differ, and what to use instead. */
const impure: [RegExp, string][] = [
  [/\bDate\.now\b|new Date\(\)|\bperformance\b/, 'take the time from the entry'],
  [/\bMath\.random\b|\brandomUUID\b|getRandomValues/, 'take it from the command'],
  [/\bMath\.(?:sin|cos|tan|exp|log|log2|log10|pow|sqrt|cbrt|hypot)\b/, 'use integers'],
  [
    /\basync\b|\bawait\b|\bPromise\b|\bsetTimeout\((?!\))|\bqueueMicrotask\b/,
    'apply is synchronous',
  ],
  [/\bprocess\.|\bglobalThis\b|\bconsole\b/, 'the host does that'],
  [/\.localeCompare\(|toLocale|\bIntl\b/, 'compare code units'],
];

const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

test('core: reads no clock, draws no chance, awaits nothing, does no I/O', () => {
  const found = sources
    .filter(({ path }) => under(path, 'engine/core'))
    .flatMap(({ path, text, imports }) => [
      ...impure
        .filter(([pattern]) => pattern.test(code(text)))
        .map(([pattern, advice]) => `${path} has ${pattern}: ${advice}`),
      ...imports.filter((name) => name.startsWith('node:')).map((name) => `${path}: ${name}`),
    ])
    // XState asks for a clock object; this one throws.
    .filter(
      (line) => !(line.startsWith('engine/core/directory.ts') && line.includes('setTimeout')),
    );
  expect(found).toEqual([]);
});

/** What a Node with newer tables of Unicode may answer otherwise. */
const byPlatform = new RegExp(
  [
    /\\p\{|\\s|\.to(?:Locale)?(?:Lower|Upper)Case\(|\.normalize\(|\.localeCompare\(|\bIntl\b/,
    /(?<!archive)\.trim(?:Start|End)?\(\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

test('engine: asks the platform nothing that depends on its version of Unicode', () => {
  // The tables themselves; and the pattern for readers of the documents, which nobody checks by.
  const allowed = ['engine/schema/unicode.ts', 'engine/schema/primitives.ts'];
  const found = sources
    .filter(({ path }) => under(path, 'engine') && !allowed.includes(path))
    .filter(({ text }) => byPlatform.test(code(text)))
    .map(({ path }) => `${path}: use engine/schema/unicode.ts`);
  expect(found).toEqual([]);
});

test('machines: speak by emit and change by assign; no timers, children or sends', () => {
  const forbidden = /\b(?:after|delay|invoke|spawn\w*|sendTo|raise|inspect)\s*[:(]/;
  const found = sources
    .filter(({ path, text }) => under(path, 'engine/core/machines') && forbidden.test(code(text)))
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

test('sim: draws chance only from its streams', () => {
  const found = sources
    .filter(({ path, text }) => under(path, 'sim') && /\bMath\.random\b|Date\.now/.test(code(text)))
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

const LINES = 300;
const COLUMNS = 100;

test(`files: at most ${LINES} lines of ${COLUMNS} columns, with a first line that says why`, () => {
  const found = sources.flatMap(({ path, text }) => {
    const lines = text.split('\n');
    const long = lines.findIndex((line) => [...line].length > COLUMNS);
    return [
      ...(lines.length > LINES ? [`${path}: ${lines.length} lines, split it by noun`] : []),
      ...(long >= 0 ? [`${path}:${long + 1} is longer than ${COLUMNS} columns`] : []),
      ...(/^(?:#!.*\n)?\s*(?:\/\*\*|\/\/)/.test(text)
        ? []
        : [`${path}: begin with what it is for`]),
      ...(/\bTO[D]O\b|\bFIX[M]E\b/.test(text) ? [`${path}: finish it or drop it`] : []),
    ];
  });
  expect(found).toEqual([]);
});
