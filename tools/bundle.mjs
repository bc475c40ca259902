/**
 * The end of the build: in dist/, what programs of others become part of, and their licences. Who
 * installs the package needs none of these packages, only what stands here.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildPage } from './page/build.mjs';
import { writeList } from './page/pack.mjs';
import { validatorsCode } from './validators.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bundled = join(root, 'dist/engine/protocol/bundled');
const vendor = join(root, 'dist/vendor');

// TypeBox's 700 modules and ajv's 60 take longer to load than a small simulation to run.
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
  // Read when it is first needed, by a call that waits for it.
  await build({
    ...options,
    format: 'cjs',
    entryPoints: [join(bundled, 'ajv.js')],
    outfile: join(bundled, 'ajv.cjs'),
  }),
];
rmSync(join(bundled, 'ajv.js'));

const machines = join(root, 'dist/engine/core/machines');
libraries.push(
  await build({
    ...options,
    // As ESM, of which only what is used is taken.
    conditions: ['module'],
    entryPoints: [join(machines, 'xstate.js')],
    outdir: machines,
  }),
);

// Read when somebody asks an etcd; it brings 28 packages, which nobody else should have to install.
const grpc = join(root, 'dist/cluster/etcd/bundled');
libraries.push(
  await build({
    ...options,
    platform: 'node',
    // As Node itself would take them.
    mainFields: ['main'],
    format: 'cjs',
    entryPoints: [join(grpc, 'grpc.js')],
    outfile: join(grpc, 'grpc.cjs'),
  }),
);
rmSync(join(grpc, 'grpc.js'));

libraries.push(
  await build({
    ...options,
    stdin: { contents: await validatorsCode(), resolveDir: bundled },
    external: ['./options.js'],
    outfile: join(bundled, 'validators.js'),
  }),
);

// The page at /docs is drawn by one file of RapiDoc; the package depends on a hundred and more.
const viewer = join(root, 'node_modules/rapidoc');
mkdirSync(vendor, { recursive: true });
copyFileSync(join(viewer, 'dist/rapidoc-min.js'), join(vendor, 'rapidoc-min.js'));
writeList(vendor, ['rapidoc-min.js']);

const made = [...libraries, ...(await buildPage(root))];
const inputs = made.flatMap(({ metafile }) => Object.keys(metafile.inputs));

const folders = new Set(
  inputs
    .map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
    .filter((folder) => folder !== undefined)
    .map((folder) => join(root, folder)),
);
const licences = [...folders, viewer].flatMap(licencesOf);
licences.push(join(viewer, 'dist/rapidoc-min.js.LICENSE.txt'));
writeFileSync(join(vendor, 'LICENSES.txt'), licences.map(titled).join('\n'));

// npm makes a command executable only when it creates a link to it, and a build writes a new file.
const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
for (const command of Object.values(bin)) chmodSync(join(root, command), 0o755);

/** @throws for a package without one: it may not be shipped. */
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
