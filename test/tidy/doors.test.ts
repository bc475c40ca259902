/** Checks further import rules, in addition to the order of floors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { code, offences, resolve, root, type Source, sources, under } from './sources.js';

test('engine: protocol, core, crypto and store import only lower layers', () => {
  const below: Record<string, string[]> = {
    'engine/protocol': ['engine/protocol'],
    'engine/rules': ['engine/rules', 'engine/protocol'],
    'engine/core': [
      ...['engine/core', 'engine/rules', 'engine/protocol/schema', 'engine/protocol/invariants.ts'],
      'engine/protocol/limits.ts',
    ],
    'engine/crypto': ['engine/crypto', 'engine/protocol'],
    'engine/store': ['engine/store', 'engine/protocol'],
  };
  const wrong = offences(({ path }, to) => {
    const folder = Object.keys(below).find((name) => under(path, name));
    if (!folder || !under(to, 'engine') || under(to, ...below[folder]!)) return null;
    return `${folder} may import only ${below[folder]!.join(', ')}`;
  });
  expect(wrong).toEqual([]);
});

/** Sources of the `exports` in package.json. */
const { exports: exported } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.values<string | { default: string }>(exported).flatMap((target) =>
  typeof target === 'string' ? [] : [target.default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts')],
);

test('doors: entry points list each export by name', () => {
  expect(entries).toContain('testing/index.ts');
  const found = entries.filter((path) => {
    const { text } = sources.find((source) => source.path === path)!;
    return /^export (?:type )?\*/m.test(code(text));
  });
  expect(found).toEqual([]);
});

test('doors: only folkmoot/testing exports the test hooks', () => {
  const hooks = ['engine/protocol/log.ts', 'engine/store/process-end.ts'];
  const wrong = offences(({ path }, to) => {
    if (to === 'testing/index.ts') return 'it is for tests';
    if (path === 'testing/index.ts' || !entries.includes(path) || !hooks.includes(to)) return null;
    return 'export it from testing/index.ts';
  });
  expect(wrong).toEqual([]);
});

/** Returns the modules that these files load through static value imports. */
function loadedWith(paths: readonly string[]): string[] {
  const seen = new Set<string>();
  const load = (path: string) => {
    const source = sources.find((one) => one.path === path);
    if (!source || seen.has(path)) return;
    seen.add(path);
    const values = source.text.matchAll(/(?:^|\n)(?:im|ex)port (?!type )[^'";]*?from\s+'([^']+)'/g);
    for (const [, name] of values) load(resolve(path, name!));
  };
  for (const path of paths) load(path);
  return [...seen].sort();
}

test('cli: defining the commands loads no engine, server or simulator', () => {
  const main = sources.find(({ path }) => path === 'cli/run.ts')!;
  const commands = [...main.text.matchAll(/\bimport\('([^']+)'\)/g)];
  expect(commands.length).toBeGreaterThan(20);
  const files = commands.map(([, name]) => resolve('cli/run.ts', name!));
  const loaded = loadedWith(['cli/main.ts', ...files]);
  expect(loaded.filter((path) => !under(path, 'cli'))).toEqual([
    ...['bench/load/options.ts', 'engine/protocol/bundled/typebox.ts'],
    ...['engine/protocol/event-types.ts', 'engine/protocol/messages.ts'],
    ...['engine/protocol/patterns.ts', 'engine/protocol/repeated-members.ts'],
    ...['engine/protocol/schema/genesis.ts', 'engine/store/process-end.ts'],
    'report/shared/format.ts',
  ]);
});

test('etcd: entry points and runs do not load the client', () => {
  const runs = [
    ...['sim/run/job-child.ts', 'sim/sweep/sweep.ts', 'sim/sweep/merge.ts', 'sim/swarm/swarm.ts'],
  ];
  const loaded = loadedWith([...entries, ...runs]);
  expect(loaded.length).toBeGreaterThan(200);
  expect(loaded.filter((path) => under(path, 'cluster/etcd', 'cluster/queue'))).toEqual([]);
});

/** Returns true if a source imports only types from a module. */
function importsTypesOnly({ path, text }: Source, to: string): boolean {
  const typed = [...text.matchAll(/^import type [^;']*'([^']+)'/gm)];
  const valued = [...text.matchAll(/^(?:import (?!type )|export )[^;']*'([^']+)'/gm)];
  const names = (found: RegExpMatchArray[]) =>
    found.some(([, from]) => resolve(path, from!) === to);
  return names(typed) && !names(valued);
}

test('audit: the auditor shares no code with the engine', () => {
  const wrong = offences((source, to) => {
    const { path } = source;
    const shared = ['sim/audit', 'engine/protocol/signing.ts', 'tinyqueue'];
    if (!under(path, 'sim/audit') || under(to, ...shared)) return null;
    // Only the three policies have formulas of the auditor. Other rules are applied as defined.
    if (path === 'sim/audit/polls.ts' && under(to, 'engine/rules')) return null;
    return importsTypesOnly(source, to)
      ? null
      : 'import types only: the model is written from the protocol';
  });
  expect(wrong).toEqual([]);
});

test('world: imports only the port of agents', () => {
  const wrong = offences(({ path }, to) => {
    if (!under(path, 'sim/world') || !under(to, 'sim/agents') || under(to, 'sim/agents/port.ts')) {
      return null;
    }
    return 'import sim/agents/port.ts, and take the behaviour from the options';
  });
  expect(wrong).toEqual([]);
});

test('client: imports only modules for browsers', () => {
  const names = [
    ...['crypto/reference', 'protocol/canonical', 'protocol/compose', 'protocol/messages'],
    'protocol/signing',
  ];
  // `certify.ts` and `collect.ts` need a log, so they are not included.
  const certificate = ['check', 'format', 'requests', 'statement'].map((of) => `certificate/${of}`);
  const files = [...names, ...certificate].map((name) => `engine/${name}.ts`);
  const wrong = offences((source, to) => {
    const { path } = source;
    if (!under(path, 'api/client') || under(to, 'api/client', ...files)) {
      return null;
    }
    // Route types load no schemas or messages.
    if (under(to, 'api/contract') && importsTypesOnly(source, to)) return null;
    const checks = ['validate', 'validator'].map((name) => `engine/protocol/schema/${name}.ts`);
    if (under(to, 'engine/protocol/schema') && !under(to, ...checks)) return null;
    return to === 'ws' ? null : `the client may import ${files.join(', ')}, the schemas and ws`;
  });
  expect(wrong).toEqual([]);
});

test('view: code shared by server and page imports only modules for browsers', () => {
  const table = 'engine/protocol/event-types.ts';
  const pure = [table, 'engine/protocol/messages.ts', 'engine/protocol/repeated-members.ts'];
  const shared = (path: string) => pure.includes(path) || /^api\/view\/[^/]+\.ts$/.test(path);
  const wrong = offences((source, to) => {
    if (!shared(source.path) || shared(to) || importsTypesOnly(source, to)) return null;
    return 'move code for Node into a folder below api/view';
  });
  expect([wrong, sources.find(({ path }) => path === table)!.imports]).toEqual([[], []]);
});

test('reports: code shared with the page runs in a browser and imports nothing', () => {
  const wrong = offences(({ path }, to) => {
    if (!under(path, 'report/shared') || under(to, 'report/shared')) return null;
    return 'report/shared must not import other modules';
  });
  expect(wrong).toEqual([]);
  const outside = /\bprocess\.|\bBuffer\b|\bdocument\.|\bwindow\.|\bglobalThis\b/;
  const shared = sources.filter(({ path }) => under(path, 'report/shared'));
  expect(shared.length).toBeGreaterThan(3);
  const unsafe = shared.filter(({ text }) => outside.test(code(text)));
  expect(unsafe.map(({ path }) => path)).toEqual([]);
});

test('ui: imports only modules for browsers, and only tests import it', () => {
  // The engine runs in the page. Engine modules for Node would fail to bundle.
  const allowed = ['api/view', 'report/shared', 'engine', 'dist/engine'];
  const wrong = offences((source, to) => {
    const { path } = source;
    if (under(to, 'ui')) return under(path, 'ui', 'test') ? null : 'the page is served, not used';
    if (!under(path, 'ui') || under(to, ...allowed)) return null;
    if (under(to, 'api/contract') && importsTypesOnly(source, to)) return null;
    if (/^(?:preact|@preact\/signals|d3-force$|palette$|\.)/.test(to)) return null;
    // The engine uses Node's Buffer.
    if (to === 'buffer' && path === 'ui/verify/buffer.ts') return null;
    return `the page may import ${allowed.join(', ')}, preact and d3-force`;
  });
  expect(wrong).toEqual([]);
});

test('packages: the package depends on what it imports, except for bundled libraries', () => {
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
  const shipped = ['engine', 'cluster', 'api', 'report', 'sim', 'testing', 'cli', 'bench/load'];
  const wrong = sources
    .filter(({ path }) => under(path, ...shipped) && !path.includes('/bundled/'))
    .flatMap(({ path, text }) => {
      const values = text.matchAll(/(?:^|\n)(?:im|ex)port (?!type)[^'";]*?from\s+'([a-z@][^']*)'/g);
      return [...values]
        .map(([, name]) => /^(?:@[^/]+\/)?[^/]+/.exec(name!)![0])
        .filter((name) => !name.startsWith('node:') && !installed.has(name))
        .map((name) => `${path} imports ${name}: add it to dependencies, or bundle it`);
    });
  expect(wrong).toEqual([]);
});

test('packages: some may be imported only in one place', () => {
  const importers: Record<string, RegExp> = {
    lmdb: /^(engine\/store\/|bench\/servers\/plain-state)/,
    fastify: /^bench\/plain-server/,
    '@grpc/grpc-js': /^cluster\/etcd\/bundled\/grpc/,
    '@grpc/proto-loader': /^cluster\/etcd\/bundled\/grpc/,
    'fs-native-extensions': /^engine\/store\/folder/,
    piscina: /^(engine\/crypto\/threads\.|bench\/load\/sign)/,
    'uWebSockets.js': /^(api\/transport\/uws|bench\/bare-server)/,
    ajv: /^(engine\/protocol\/bundled\/options|tools\/bundle)/,
    'seedrandom/lib/alea.js': /^sim\/rng/,
    xstate: /^engine\/core\/bundled\/xstate/,
    benchmark: /^bench\/raw\/raw/,
    'hdr-histogram-js': /^bench\/load\/bundled\/hdr/,
    'hyparquet-writer': /^cli\/output\/bundled\/hyparquet/,
    '@observablehq/plot': /^report\/bundled\/plot/,
    linkedom: /^report\/bundled\/plot/,
    'csv-parse/sync': /^report\/bundled\/csv/,
    'csv-parse': /^report\/bundled\/csv/,
    'csv-stringify/sync': /^report\/bundled\/csv/,
    'prom-client': /^api\/http\/bundled\/prom-client/,
    typebox: /^engine\/protocol\/bundled\/typebox/,
    'typebox/value': /^engine\/protocol\/bundled\/typebox/,
  };
  const wrong = offences(({ path }, to) => {
    const only = importers[to];
    return !only || only.test(path) || under(path, 'test') ? null : `only ${only} may`;
  });
  expect(wrong).toEqual([]);
});
