/** Where the scripts, prompts and data files of a kept run are: the same ones, by their hashes. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileBounds, readBounded } from '../../engine/internal.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import type { SimResult } from '../run/result.js';
import { fileInside } from '../scenario/files/inside.js';
import { ScenarioError } from '../scenario/problem.js';
import { shippedScenarios } from '../scenario/read/shipped.js';

type Named = Pick<SimResult, 'modules' | 'files'>;

/**
 * The folder that the user named; else the run's own, that of the process, or that of the shipped
 * scenarios: the first one that has all of them as they were.
 * @throws {ScenarioError} when none has.
 */
export function sourceOf(run: string, named: Named, given: string | undefined): string {
  const shipped = shippedScenarios().map(({ path }) => dirname(path));
  const folders = given === undefined ? [resolve(run), process.cwd(), ...shipped] : [given];
  const problems = folders.map((folder) => problemIn(folder, named));
  const at = problems.indexOf(null);
  if (at >= 0) return folders[at]!;
  const how = given === undefined ? '; --folder says where they are' : '';
  throw new ScenarioError(`${problems[0]}${how}`);
}

function problemIn(folder: string, { modules, files }: Named): string | null {
  for (const [path, sha256] of Object.entries({ ...modules, ...files })) {
    if (!existsSync(join(folder, path))) return `${path} is not in ${folder}, and the run needs it`;
    // Whoever wrote the folder must not choose what is copied, and to where.
    const found = fileInside(path, folder, 'a file');
    if ('why' in found) return `a file that the run needs ${found.why}`;
    if (sha256Hex(readBounded(found.file, fileBounds.result)) === sha256) continue;
    return `${join(folder, path)} is not what the run had: its sha256 was ${sha256}`;
  }
  return null;
}

/** Copies them into a folder, so that a scenario there finds them. */
export function copySources(from: string, to: string, { modules, files }: Named): void {
  for (const path of Object.keys({ ...modules, ...files })) {
    const target = join(to, path);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(from, path), target);
  }
}
