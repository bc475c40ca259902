/** Which folkmoot this is: version and, in a checkout, commit; and by which Node it runs. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Provenance } from '../../report/provenance.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
    version: string;
  };
  return version;
}

/** The commit of the checkout that runs, or null outside of one. */
export function commitHash(): string | null {
  if (!existsSync(`${root}.git`)) return null;
  try {
    const args = ['-C', root, 'rev-parse', 'HEAD'];
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

/** What results name, for whoever makes them again. */
export const build = (): Provenance => ({
  version: packageVersion(),
  commit: commitHash(),
  node: process.version,
});
