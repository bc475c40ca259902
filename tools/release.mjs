/**
 * Steps of a release, for the release workflow:
 *
 *   node tools/release.mjs check v1.2.3   refuses a tag that the files of the repository contradict
 *   node tools/release.mjs sbom FILE      writes the components of the package, in CycloneDX
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.env.FOLKMOOT_RELEASE_ROOT ?? fileURLToPath(new URL('..', import.meta.url));
const read = (file) => readFileSync(join(root, file), 'utf8');

/** Returns one line for each contradiction. */
function problems(tag) {
  const version = /^v(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(tag ?? '')?.[1];
  if (!version) return [`Invalid tag: ${tag}; expected v and a version, such as v1.2.3`];
  const found = [];
  const own = JSON.parse(read('package.json'));
  const expectVersion = (file, other) => {
    if (other === version) return;
    found.push(`Wrong version in ${file}: ${other}; set it to ${version}`);
  };
  expectVersion('package.json', own.version);
  expectVersion('package-lock.json', JSON.parse(read('package-lock.json')).version);
  expectVersion('CITATION.cff', /^version: "?([^"\s]+)"?$/m.exec(read('CITATION.cff'))?.[1]);
  const [, newest, note] = /^## (\S+)(?: \((.*)\))?$/m.exec(read('CHANGELOG.md')) ?? [];
  expectVersion('CHANGELOG.md', newest);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(note ?? '')) {
    const heading = `## ${version} (YYYY-MM-DD)`;
    found.push(`No date in CHANGELOG.md: ${note ?? 'none'}; write the heading as ${heading}`);
  }
  const { GITHUB_REPOSITORY: repository } = process.env;
  const url = own.repository?.url ?? 'none';
  if (repository && !url.includes(`github.com/${repository}`)) {
    const needed = `git+https://github.com/${repository}.git`;
    found.push(`Wrong repository.url in package.json: ${url}; provenance needs ${needed}`);
  }
  return found;
}

/**
 * Returns the components that a consumer installs, on any platform, and those that the build copies
 * into dist/. Chooses them by the lock, because npm's own `--omit=dev` leaves some out.
 */
function createBill() {
  const asked = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--workspaces=false'];
  const shell = process.platform === 'win32';
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, shell };
  const all = JSON.parse(execFileSync('npm', asked, options));
  const nameOf = ({ group, name, version }) => `${group ? `${group}/` : ''}${name}@${version}`;
  const titles = read('dist/vendor/LICENSES.txt').matchAll(/^==== (\S+) (\S+)$/gm);
  const bundled = new Set([...titles].map(([, name, version]) => `${name}@${version}`));
  const { packages } = JSON.parse(read('package-lock.json'));
  const installed = new Set(
    Object.entries(packages)
      .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
      .map(([path, { name, version }]) => {
        return `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`;
      }),
  );
  const properties = [{ name: 'folkmoot:bundled', value: 'dist' }];
  const components = all.components
    .filter((component) => installed.has(nameOf(component)) || bundled.has(nameOf(component)))
    .map((component) =>
      installed.has(nameOf(component)) ? component : { ...component, properties },
    );
  const own = all.metadata.component['bom-ref'];
  const refs = new Set([own, ...components.map((component) => component['bom-ref'])]);
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((to) => refs.has(to)) }));
  return { ...all, components, dependencies };
}

const [step, argument] = process.argv.slice(2);
if (step === 'check') {
  const found = problems(argument);
  for (const line of found) process.stderr.write(`${line}\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
} else if (step === 'sbom' && argument) {
  writeFileSync(argument, `${JSON.stringify(createBill(), null, 2)}\n`);
} else {
  process.stderr.write('Unknown step; use check TAG or sbom FILE\n');
  process.exitCode = 2;
}
