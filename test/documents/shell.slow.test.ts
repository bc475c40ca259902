/** Runs every shell block of README.md and the guides, unless a mark above it gives a reason. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from '../support/fixture.js';
import { root } from '../support/paths.js';
import { preparations } from './preparations.js';
import { guides, guideText, scriptOf, shellBlocks } from './shell.js';

/** The test needs namespaces of its own for the ports of the documents. */
const namespaces = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const apart = [namespaces, ['--user', '--map-root-user', ...namespaces]].find((options) => {
  try {
    execFileSync('unshare', [...options, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

const hasProgram = (name: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Returns a folder that has, like a checkout, the files that the documents name. */
function checkout(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const name of ['docs', 'examples', 'sim/scenarios']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, 'bin'));
  // A wrapper, because npx.mjs locates the build relative to its own path.
  writeFileSync(
    join(folder, 'bin/npx'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'test/documents/npx.mjs')}' "$@"\n`,
    { mode: 0o755 },
  );
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'dist'), join(folder, 'dist'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function runScript(folder: string, script: string): Promise<[number | null, string]> {
  writeFileSync(join(folder, 'script.sh'), script);
  const output = openSync(join(folder, 'output'), 'a');
  const child = spawn('unshare', [...apart!, 'bash', 'script.sh'], {
    cwd: folder,
    stdio: ['ignore', output, output],
    env: { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [code] = (await once(child, 'exit')) as [number | null];
  return [code, readFileSync(join(folder, 'output'), 'utf8')];
}

const withBlocks = guides.filter((path) => shellBlocks(guideText(path)).length > 0);

test('documents: marks give a reason, and preparations name a document with blocks', () => {
  const reasons = withBlocks.flatMap((path) =>
    shellBlocks(guideText(path)).flatMap(({ notRun }) => notRun ?? []),
  );
  expect(reasons.filter((reason) => reason.length < 20)).toEqual([]);
  expect(withBlocks).toEqual(expect.arrayContaining(Object.keys(preparations)));
  expect(withBlocks.length).toBeGreaterThan(15);
});

describe.skipIf(apart === undefined)('documents: run as printed (needs unshare and ip)', () => {
  test.for(
    withBlocks.filter((path) => shellBlocks(guideText(path)).some((one) => one.notRun === null)),
  )('documents: the commands of %s succeed', async (path, context) => {
    const { needs = [], ...preparation } = preparations[path] ?? {};
    const missing = needs.filter((program) => !hasProgram(program));
    if (missing.length > 0) return context.skip(`needs ${missing.join(', ')}`);
    const folder = checkout(preparation.files ?? {});
    const [code, output] = await runScript(
      folder,
      scriptOf(shellBlocks(guideText(path)), preparation),
    );
    expect(code, output.slice(-6_000)).toBe(0);
  });
});
