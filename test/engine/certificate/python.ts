/** Runs docs/check-certificate.py, which is a checker without code of Folkmoot. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../support/paths.js';

/** Debian's packages need Debian's Python, which does not always come first in the path. */
export const python = ['python3', '/usr/bin/python3'].find((candidate) => {
  try {
    execFileSync(candidate, ['-c', 'import nacl.signing'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
export const lacking = python ? '' : ' (skipped: needs python3-nacl)';
const program = join(root, 'docs/check-certificate.py');

/** Runs the program once per argument list, in one process. */
const driver = `
import contextlib, io, json, runpy, sys
for line in sys.stdin:
    sys.argv, out = [sys.argv[0], *json.loads(line)], io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(${JSON.stringify(program)}, run_name="__main__")
        print(json.dumps(out.getvalue()))
    except SystemExit as end:
        print(json.dumps(str(end.code)))
`;

/** Returns the first output line for each certificate. */
export const run = (
  certificates: readonly (string | Uint8Array)[],
  ...trusted: string[]
): string[] => output(certificates, ...trusted).map((text) => text.split('\n')[0]!);

export function output(
  certificates: readonly (string | Uint8Array)[],
  ...trusted: string[]
): string[] {
  const folder = temporaryFolder();
  const lines = certificates.map((certificate, index) => {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, certificate);
    return JSON.stringify([file, ...trusted]);
  });
  const input = lines.join('\n');
  const { stdout, stderr } = spawnSync(python!, ['-c', driver], { input, maxBuffer: 1e9 });
  const said = String(stdout).split('\n').slice(0, -1);
  if (said.length !== lines.length) throw new Error(String(stderr));
  return said.map((line) => JSON.parse(line) as string);
}
