/** On what the figures were measured: nobody can compare them without. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export function machine() {
  const all = cpus();
  const cpu = all[0]?.model.trim() ?? 'unknown';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return {
    machine: `${all.length} x ${cpu}, ${gigabytes} GiB, ${type()} ${release()}`,
    cpu,
    node: process.version,
    commit: commit(),
  };
}

function commit(): string {
  if (!existsSync(`${root}.git`)) return 'unknown';
  const args = ['-C', root, 'rev-parse', '--short', 'HEAD'];
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}
