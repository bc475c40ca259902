/**
 * Last build step: bundles third-party code and its licences into dist/, so that the package does
 * not depend on the bundled packages.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { encodersCode } from './encoders.mjs';
import { meterWasm } from './metering.mjs';

/*
 * Validators: ajv compiles the schemas to code at build time. No process compiles a schema, and the
 * page, whose content policy forbids compiling, can run the protocol's validators.
 */

const built = (name) => import(new URL(`../dist/engine/protocol/${name}.js`, import.meta.url));

/** Returns the request schemas by kind, and the schema of `genesis`. */
async function protocolSchemas() {
  const [{ unsigned }, { Genesis }] = await Promise.all(
    ['schema/request', 'schema/genesis'].map(built),
  );
  return { ...unsigned, genesis: Genesis };
}

/** Returns the tables of encoders: events and records as logged, answers as sent. */
async function encoderTables() {
  const [{ eventShapes }, { records }, { answers }] = await Promise.all(
    ['schema/event', 'schema/record', 'schema/view'].map(built),
  );
  return {
    eventEncoders: { order: 'canonical', schemas: eventShapes },
    recordEncoders: { order: 'canonical', schemas: records },
    answerEncoders: { order: 'declared', schemas: answers },
  };
}

/** Returns all schemas registered with `validator`. Loading a module registers its schemas. */
async function namedSchemas(dist) {
  const users = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      path.endsWith('.js') && /\/validator\.js'/.test(readFileSync(join(dist, path), 'utf8')),
  );
  for (const path of users) await import(pathToFileURL(join(dist, path)).href);
  const { validator } = await built('schema/validator');
  return Object.fromEntries([...validator.schemas].sort());
}

/** Generates a module that exports the validators for these schemas by name. */
async function validatorsCode(schemas) {
  const { ajvOptions } = await built('bundled/options');
  const code = { ...ajvOptions.code, source: true, esm: true };
  const ajv = new Ajv({ ...ajvOptions, code, inlineRefs: false });
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(withShared(schema), name);
  const names = Object.keys(schemas);
  return longFirst(
    standaloneCode.default(ajv, Object.fromEntries(names.map((name) => [name, name]))),
  );
}

/** Returns the parts of a schema that name members, which messages about problems need. */
function shapeOf(schema) {
  const each = (members) =>
    members &&
    Object.fromEntries(Object.entries(members).map(([name, one]) => [name, shapeOf(one)]));
  // JSON leaves out the members without a value.
  return {
    properties: each(schema.properties),
    patternProperties: each(schema.patternProperties),
    items: schema.items && shapeOf(schema.items),
    anyOf: schema.anyOf?.map(shapeOf),
  };
}

/** Moves equal objects to definitions, so that ajv generates their code only once. */
function withShared(schema) {
  const seen = new Map();
  const isShared = (value) =>
    value !== null && typeof value === 'object' && (value.type === 'object' || 'anyOf' in value);
  const count = (value) => {
    if (value === null || typeof value !== 'object') return;
    if (isShared(value)) {
      const text = JSON.stringify(value);
      seen.set(text, (seen.get(text) ?? 0) + 1);
      if (seen.get(text) > 1) return;
    }
    for (const member of Object.values(value)) count(member);
  };
  count(schema);
  const names = new Map();
  const $defs = {};
  const replace = (value, top) => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map((member) => replace(member));
    const text = !top && isShared(value) ? JSON.stringify(value) : '';
    const members = () =>
      Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replace(member)]));
    if (!(seen.get(text) > 1)) return members();
    if (!names.has(text)) {
      names.set(text, `shared${names.size}`);
      $defs[names.get(text)] = members();
    }
    return { $ref: `#/$defs/${names.get(text)}` };
  };
  const replaced = replace(schema, true);
  return names.size === 0 ? schema : { ...replaced, $defs };
}

/**
 * Avoids counting characters for maxLength. A text never has more characters than UTF-16 units, so
 * the code counts characters only if there are too many units.
 */
function longFirst(code) {
  const tooLong = /(func\d+)\((data\d*)\) > (\d+)/g;
  return code.replaceAll(tooLong, '$2.length > $3 && $1($2) > $3');
}

/*
 * Builds ui/ into dist/ui: precompressed scripts and styles with content hashes in their names, the
 * list of files for the server, and the single-file page of an exported run.
 */

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Pattern for file names with an eight-character content hash. */
const IMMUTABLE = /-[A-Z0-9]{8}\.\w+$/;

function writeList(folder, files) {
  const listed = files.map((file) => {
    const bytes = readFileSync(join(folder, file));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(folder, `${file}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }));
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    return { file, type: types[extname(file)], digest, immutable: IMMUTABLE.test(file) };
  });
  writeFileSync(join(folder, 'files.json'), `${JSON.stringify(listed, null, 1)}\n`);
}

/** @returns the bundled inputs, for the licences. */
const buildExported = (root, common) =>
  build({
    ...common,
    // An inline script and a worker from a Blob are not modules.
    format: 'iife',
    charset: 'ascii',
    define: { IN_FILE: 'true' },
    outdir: join(root, 'dist/ui/exported'),
    entryPoints: ['begin', 'page', 'player'].map((name) => ({
      in: join(root, 'ui/exported', `${name}.ts`),
      out: name,
    })),
  });

/** File name of a worker. The worker is named after its folder. */
const WORKER = 'worker.ts';

const target = ['chrome110', 'firefox115', 'safari16.4'];

/** @returns the bundled inputs, for the licences. */
async function buildPage(root) {
  const source = join(root, 'ui');
  const out = join(root, 'dist/ui');
  mkdirSync(out, { recursive: true });
  const { declarations } = await import('../dist/report/shared/palette.js');
  const common = {
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target,
    minify: true,
    sourcemap: false,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    outdir: out,
    absWorkingDir: root,
    tsconfig: join(source, 'tsconfig.json'),
    plugins: [paletteOf(declarations)],
  };
  // Workers are built first, because the page needs their hashed names.
  const folders = readdirSync(source).filter((name) => existsSync(join(source, name, WORKER)));
  const workers = await build({
    ...common,
    entryPoints: folders.map((name) => ({ in: join(source, name, WORKER), out: name })),
    entryNames: '[name]-worker-[hash]',
  });
  const names = Object.fromEntries(
    outputsOf(workers).map((file) => [/^(\w+)-worker-/.exec(file)[1], file]),
  );
  const page = await build({
    ...common,
    entryPoints: { page: join(source, 'main.tsx') },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    define: { WORKERS: JSON.stringify(names), IN_FILE: 'false' },
  });
  const files = [...outputsOf(workers), ...outputsOf(page)];
  const named = (pattern) => files.find((file) => pattern.test(file));
  const html = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('{script}', named(/^page-\w+\.js$/))
    .replace('{style}', named(/^page-\w+\.css$/));
  writeFileSync(join(out, 'index.html'), html);
  // The same page with a marker for load runs, and for the gallery.
  const marked = ['load', 'gallery'].map((shows) => {
    const text = html
      .replace('<html ', `<html data-shows="${shows}" `)
      .replaceAll('/api/v1/network/state', `/api/v1/${shows}`);
    writeFileSync(join(out, `${shows}.html`), text);
    return `${shows}.html`;
  });
  writeList(out, ['index.html', ...marked, ...files]);
  return [workers, page, await buildExported(root, common)];
}

const outputsOf = ({ metafile }) => Object.keys(metafile.outputs).map((path) => basename(path));

/** Replaces `@import 'palette'` with the colors that reports and the page share. */
const paletteOf = (declarations) => ({
  name: 'palette',
  setup(builder) {
    const dark = `@media (prefers-color-scheme: dark) { :root { ${declarations('dark')} } }`;
    const contents = `:root { color-scheme: light dark; ${declarations('light')} } ${dark}`;
    builder.onResolve({ filter: /^palette$/ }, () => ({ path: 'palette', namespace: 'palette' }));
    builder.onLoad({ filter: /.*/, namespace: 'palette' }, () => ({ contents, loader: 'css' }));
  },
});

const root = fileURLToPath(new URL('..', import.meta.url));
const bundled = join(root, 'dist/engine/protocol/bundled');
const vendor = join(root, 'dist/vendor');
const table = join(root, 'dist/engine/rules/bundled');

// Loading the 700 modules of TypeBox takes longer than a small simulation.
const options = {
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  logLevel: 'warning',
  allowOverwrite: true,
  absWorkingDir: root,
  metafile: true,
};
const libraries = [
  await build({ ...options, entryPoints: [join(bundled, 'typebox.js')], outdir: bundled }),
];

const machines = join(root, 'dist/engine/core/bundled');
libraries.push(
  await build({
    ...options,
    // ESM, for tree shaking.
    conditions: ['module'],
    entryPoints: [join(machines, 'xstate.js')],
    outdir: machines,
  }),
);

// The gRPC client, loaded only for etcd. Bundling it avoids 28 dependencies.
const grpc = join(root, 'dist/cluster/etcd/bundled');
libraries.push(
  await build({
    ...options,
    platform: 'node',
    // Uses the same entry points as Node.
    mainFields: ['main'],
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    entryPoints: [join(grpc, 'grpc.js')],
    outfile: join(grpc, 'grpc.cjs'),
  }),
);
rmSync(join(grpc, 'grpc.js'));

const requireInModule = [
  "import { createRequire } from 'node:module';",
  'const require = createRequire(import.meta.url);',
].join('\n');

/**
 * Lets esbuild see the libraries of benchmark.js, which requires them by a function of its own, and
 * leaves out the WebAssembly of HdrHistogram, which Folkmoot does not use.
 */
const adapted = {
  name: 'adapted',
  setup(builder) {
    builder.onLoad({ filter: /benchmark[\\/]benchmark\.js$/ }, ({ path }) => ({
      contents: `const required = { lodash: require('lodash'), platform: require('platform') };
        ${readFileSync(path, 'utf8').replace('freeRequire(id)', 'required[id]')}`,
    }));
    const wasm = /(?:hdr-histogram-js[\\/]dist[\\/]wasm|@assemblyscript)[\\/].*\.js$/;
    builder.onLoad({ filter: wasm }, () => ({ contents: 'exports.WasmHistogram = class {};' }));
  },
};

// Libraries that are large or have many dependencies, and of which Folkmoot uses a small part.
for (const file of [
  'api/http/bundled/prom-client.js',
  'bench/load/bundled/hdr.js',
  'bench/raw/raw.js',
  'cli/output/bundled/hyparquet.js',
  'report/bundled/csv.js',
  'report/bundled/plot.js',
]) {
  const path = join(root, 'dist', file);
  libraries.push(
    await build({
      ...options,
      platform: 'node',
      minifySyntax: true,
      minifyWhitespace: true,
      plugins: [adapted],
      // linkedom draws on a canvas if that package is installed. raw.js imports the engine.
      external: ['canvas', '../../engine/*'],
      // CommonJS modules in the bundle require modules of Node.
      banner: { js: requireInModule },
      // Plot shifts lines by half a pixel where a test runner has defined these globals.
      define: { it: 'undefined', window: 'undefined' },
      entryPoints: [path],
      outdir: dirname(path),
    }),
  );
}

const requests = await protocolSchemas();
const requestCode = [
  "import { pattern } from './options.js';",
  await validatorsCode(requests),
  `export const validators = { ${Object.keys(requests).join(', ')} };`,
  `export const shapes = ${JSON.stringify(shapeOf({ properties: requests }).properties)};`,
];
libraries.push(
  await build({
    ...options,
    stdin: { contents: requestCode.join('\n'), resolveDir: bundled },
    external: ['./options.js'],
    outfile: join(bundled, 'validators.js'),
  }),
  await build({
    ...options,
    minifySyntax: true,
    stdin: { contents: encodersCode(await encoderTables()), resolveDir: root },
    external: ['../../protocol/canonical.js'],
    outfile: join(root, 'dist/engine/node/bundled/encoders.js'),
  }),
);

// One file per schema, loaded on first use, because most processes use few of them.
for (const [name, schema] of Object.entries(await namedSchemas(join(root, 'dist')))) {
  libraries.push(
    await build({
      ...options,
      format: 'cjs',
      minify: true,
      stdin: { contents: await validatorsCode({ [name]: schema }), resolveDir: bundled },
      // This CommonJS file cannot load the patterns, because they are in an ES module.
      banner: { js: 'module.exports = (pattern) => { const module = { exports: {} };' },
      footer: { js: 'return module.exports; };' },
      outfile: join(bundled, 'named', `${name}.cjs`),
    }),
  );
}

// /docs uses one file of RapiDoc. The npm package would add more than a hundred dependencies.
const viewer = join(root, 'node_modules/rapidoc');
mkdirSync(vendor, { recursive: true });
copyFileSync(join(viewer, 'dist/rapidoc-min.js'), join(vendor, 'rapidoc-min.js'));
writeList(vendor, ['rapidoc-min.js']);

// QuickJS, the sandbox of rule modules, rewritten so that it counts its work.
const quickjs = join(root, 'node_modules/@jitl/quickjs-wasmfile-release-sync');
const glue = readFileSync(join(quickjs, 'dist/emscripten-module.mjs'), 'utf8');
const exported = [...glue.matchAll(/\bd\._(\w+)=b\.([\w$]+)/g)].map(([, name, key]) => [key, name]);
writeFileSync(
  join(table, 'quickjs.wasm'),
  meterWasm(
    readFileSync(join(quickjs, 'dist/emscripten-module.wasm')),
    Object.fromEntries([...exported, ['u', 'initialize']]),
  ),
);

const made = [...libraries, ...(await buildPage(root))];
const inputs = made.flatMap(({ metafile }) => Object.keys(metafile.inputs));

const folders = new Set(
  inputs
    .map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
    .filter((folder) => folder !== undefined)
    .map((folder) => join(root, folder)),
);
const licences = [...folders, viewer, quickjs].flatMap(licencesOf);
licences.push(join(viewer, 'dist/rapidoc-min.js.LICENSE.txt'));
writeFileSync(join(vendor, 'LICENSES.txt'), licences.map(titled).join('\n'));

// npm sets the executable bit only when it links a command, and the build writes a new file.
const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
for (const command of Object.values(bin)) chmodSync(join(root, command), 0o755);

/** @throws for a package without a licence, which must not be shipped. */
function licencesOf(folder) {
  const names = readdirSync(folder).filter((name) => /^licen[cs]e/i.test(name));
  if (names.length === 0) throw new Error(`${folder} has no licence file`);
  return names.map((name) => join(folder, name));
}

function titled(file) {
  const folder = file.startsWith(viewer) ? viewer : dirname(file);
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `==== ${name} ${version}\n\n${readFileSync(file, 'utf8').trim()}\n`;
}
