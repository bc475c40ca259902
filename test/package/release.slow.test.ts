/** Release steps: contradictions that refuse a tag, and the bill of materials. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/fixture.js';
import { root } from '../support/paths.js';
import { brought } from './project.js';

const files = ['package.json', 'package-lock.json', 'CITATION.cff', 'CHANGELOG.md'] as const;

function step(args: readonly string[], env: Record<string, string> = {}) {
  return new Promise<{ code: number | null; stderr: string }>((resolve) => {
    const tool = [join(root, 'tools/release.mjs'), ...args];
    const child = execFile(
      process.execPath,
      tool,
      { env: { PATH: process.env.PATH, ...env } },
      (_, __, stderr) => resolve({ code: child.exitCode, stderr }),
    );
  });
}

/** Copies the files of this repository as they are at a release of `version`. */
function released(version: string): { folder: string; edit: typeof edit } {
  const folder = temporaryFolder();
  for (const file of files) cpSync(join(root, file), join(folder, file));
  const edit = (file: (typeof files)[number], from: string | RegExp, to: string) => {
    const text = readFileSync(join(folder, file), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(join(folder, file), text.replace(from, to));
  };
  for (const file of files.slice(0, 2)) edit(file, /"version": "[^"]+"/, `"version": "${version}"`);
  edit('CITATION.cff', /^version: .*$/m, `version: ${version}`);
  edit('CHANGELOG.md', /^## .*$/m, `## ${version} (2026-12-01)`);
  return { folder, edit };
}

const check = (folder: string, tag: string, env: Record<string, string> = {}) =>
  step(['check', tag], { FOLKMOOT_RELEASE_ROOT: folder, ...env });

test('release: accepts a tag if all files agree', async () => {
  const { folder } = released('1.2.3');
  expect(await check(folder, 'v1.2.3')).toEqual({ code: 0, stderr: '' });
});

test('release: refuses other tags, versions, changelogs and repositories', async () => {
  const { folder, edit } = released('1.2.3');
  for (const tag of ['v1.2.4', '1.2.3', 'v1.2', 'vnext']) {
    expect((await check(folder, tag)).code, tag).toBe(1);
  }
  const env = { GITHUB_REPOSITORY: 'owner/name' };
  expect((await check(folder, 'v1.2.3', env)).stderr).toContain('repository.url');
  const address = '"repository": { "url": "git+https://github.com/owner/name.git" },\n  "version"';
  edit('package.json', '"version"', address);
  expect(await check(folder, 'v1.2.3', env)).toEqual({ code: 0, stderr: '' });
  for (const heading of ['## 1.2.3 (unreleased)', '## 1.2.3', '## 1.2.2 (2026-12-01)']) {
    edit('CHANGELOG.md', /^## .*$/m, heading);
    const { code, stderr } = await check(folder, 'v1.2.3');
    expect(code).toBe(1);
    expect(stderr).toContain('CHANGELOG.md');
  }
});

test('release: the bill of materials has each package that is installed or bundled', async () => {
  const file = join(temporaryFolder(), 'bill.json');
  expect(await step(['sbom', file])).toMatchObject({ code: 0 });
  const bill = JSON.parse(readFileSync(file, 'utf8')) as {
    bomFormat: string;
    components: { name: string; version: string; 'bom-ref': string; properties?: object[] }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  expect(bill.bomFormat).toBe('CycloneDX');
  const listed = bill.components.map(({ name, version }) => `${name}@${version}`);
  expect(new Set(listed).size).toBe(listed.length);
  const licences = readFileSync(join(root, 'dist/vendor/LICENSES.txt'), 'utf8');
  const bundled = [...licences.matchAll(/^==== (\S+) (\S+)$/gm)].map(([, on, at]) => `${on}@${at}`);
  expect(bundled.length).toBeGreaterThan(60);
  const names = new Set(bill.components.map(({ name }) => name));
  const installed = [...brought().keys()].map((path) => path.replace(/^.*node_modules\//, ''));
  expect(installed.filter((name) => !names.has(name))).toEqual([]);
  expect(bundled.filter((name) => !listed.includes(name))).toEqual([]);
  // Every reference leads to a component.
  const refs = new Set(bill.dependencies.map(({ ref }) => ref));
  expect(bill.dependencies.flatMap((d) => d.dependsOn.filter((to) => !refs.has(to)))).toEqual([]);
  expect(names).not.toContain('vitest');
});
