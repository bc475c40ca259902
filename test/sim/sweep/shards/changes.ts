/** Modifications of a shard's folder. */
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Change = (
  value: { [Name in 'scenario' | 'modules' | 'shard' | 'values']: object },
) => unknown;

export function edit(path: string, change: Change) {
  const value = JSON.parse(readFileSync(path, 'utf8'));
  change(value);
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Path of a run's file in the shard. */
export const runOf = (shard: string) => `runs/${readdirSync(join(shard, 'runs'))[0]}`;

/** Recomputes the checksums of changed runs, as an attacker could. */
export function reseal(shard: string) {
  const names = readdirSync(join(shard, 'runs')).map((name) => `runs/${name}`);
  const hashOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(shard, name)))
      .digest('hex');
  const lines = names.map((name) => `${hashOf(name)}  ${name}\n`);
  writeFileSync(join(shard, 'runs.sha256'), lines.join(''));
}

/** Replaces one folder with a copy of another. */
export function fresh(from: string, to: string) {
  rmSync(to, { recursive: true });
  cpSync(from, to, { recursive: true });
}
