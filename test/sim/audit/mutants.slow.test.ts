/** Mutation test: the auditor finds each bug that is seeded in a copy of the engine. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledChild } from '../../support/child.js';
import { full } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { mutants } from './mutants.js';
import type { Errand, Report } from './mutants-child.js';
import type { Mutant } from './mutants-terms.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const UNTOUCHED = 'no bug at all';

/** Package with the same dependencies and a copy of the engine, which the auditor alone checks. */
function copyOf(folder: string): string {
  mkdirSync(folder);
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(root, 'dist/engine'), join(folder, 'dist/engine'), {
    recursive: true,
    filter: (path) => !/\.(map|d\.ts)$/.test(path),
  });
  const engine = join(folder, 'dist/engine');
  const name = 'the engine asserts nothing';
  seed(
    { name, file: 'protocol/invariants.js', find: 'if (!holds)', becomes: 'if (false)' },
    engine,
  );
  return engine;
}

function seed({ name, file, find, becomes }: Mutant, engine: string): void {
  const path = join(engine, file);
  const parts = readFileSync(path, 'utf8').split(find);
  expect(parts.length - 1, `"${name}": matches of ${find} in ${file}`).toBe(1);
  writeFileSync(path, parts.join(becomes));
}

async function reportsOf(seeded: readonly Mutant[]): Promise<Map<string, Report>> {
  const folder = temporaryFolder();
  const child = await bundledChild('test/sim/audit/mutants-child.ts', join(folder, 'child'));
  const errands: Errand[] = seeded.map((mutant, index) => {
    const engine = copyOf(join(folder, `${index}`));
    seed(mutant, engine);
    const { name, genesis = {}, rule } = mutant;
    return { name, engine: join(engine, 'index.js'), genesis, safety: rule !== undefined };
  });
  const engine = join(copyOf(join(folder, 'untouched')), 'index.js');
  errands.push({ name: UNTOUCHED, engine, genesis: {}, safety: false });
  writeFileSync(join(folder, 'errands.json'), JSON.stringify(errands));
  const lines = execFileSync(process.execPath, [child, join(folder, 'errands.json')], {
    encoding: 'utf8',
  });
  const reports = lines.trim().split('\n');
  return new Map(reports.map((line) => JSON.parse(line)).map((one: Report) => [one.name, one]));
}

test(`audit: each ${full ? '' : 'third '}seeded bug is reached and found`, async () => {
  const seeded = mutants.filter((_, index) => full || index % 3 === 0);
  const reports = await reportsOf(seeded);
  expect(reports.get(UNTOUCHED)).toMatchObject({ ran: 0, violation: null });
  for (const { name, rule } of seeded) {
    const { ran, violation } = reports.get(name)!;
    expect(ran, `"${name}" was reached`).toBeGreaterThan(0);
    expect(violation?.rule, `"${name}": ${violation?.text}`).toEqual(rule ?? expect.any(String));
  }
});
