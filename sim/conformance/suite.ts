/** Writes the conformance suite: vectors, logs of the shipped scenarios, schemas and a README. */
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { UNICODE_VERSION } from '../../engine/protocol/text.js';
import { storedLines } from '../../engine/replay/lines.js';
import { printLine } from '../../engine/replay/recompute.js';
import { StoreError, storeError } from '../../engine/store/messages.js';
import type { Store } from '../../engine/store/store.js';
import { withRunStore } from '../compare/logs.js';
import { simulate } from '../run/simulate.js';
import { loadScenario, shippedScenarios } from '../scenario/load.js';
import { type Case, vectorCases } from './cases.js';
import { suiteError } from './check.js';
import { type CaseRow, FORMAT, type SuiteFile, schemas } from './format.js';
import { playCase } from './harness.js';

/** README source. The path works in a checkout and in an installed package. */
const readme = fileURLToPath(new URL('../../../docs/conformance.md', import.meta.url));

/** Options for {@link writeSuite}. */
export interface SuiteOptions {
  /** Case names; default: all. */
  only?: readonly string[];
  onCase?: (row: CaseRow) => void;
}

/** Returns the names of all cases, in suite order. */
export function caseNames(): string[] {
  return [...vectorCases(), ...shippedScenarios()].map(({ name }) => name);
}

/**
 * Writes the conformance suite to a folder: cases, expected results and the format description.
 *
 * @throws {StoreError} if the folder is not empty or cannot be written.
 */
export async function writeSuite(out: string, options: SuiteOptions = {}): Promise<SuiteFile> {
  const { only, onCase } = options;
  await prepare(out);
  const wanted = ({ name }: { name: string }) => !only || only.includes(name);
  const cases: CaseRow[] = [];
  const add = (row: CaseRow) => {
    cases.push(row);
    onCase?.(row);
  };
  for (const one of vectorCases().filter(wanted)) add(await writeVectors(out, one));
  for (const one of shippedScenarios().filter(wanted)) add(await writeLog(out, one));
  const suite: SuiteFile = { format: FORMAT, unicode: UNICODE_VERSION, cases };
  await writeFile(join(out, 'suite.json'), pretty(suite));
  return suite;
}

const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

async function prepare(out: string): Promise<void> {
  try {
    await mkdir(out, { recursive: true });
    if ((await readdir(out)).length > 0) throw suiteError('OUTPUT_NOT_EMPTY', { path: out });
    for (const folder of ['logs', 'vectors', 'schemas']) await mkdir(join(out, folder));
    for (const [name, schema] of Object.entries(schemas)) {
      await writeFile(join(out, 'schemas', `${name}.schema.json`), pretty(schema));
    }
    await copyFile(readme, join(out, 'README.md'));
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    const reason = describeSystemError(cause);
    throw storeError('FILE_UNWRITABLE', { path: out, reason }, { cause });
  }
}

const ndjson = (lines: readonly unknown[]) =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

async function writeVectors(out: string, one: Case): Promise<CaseRow> {
  const { input, expected, log_digest, digest } = await playCase(one);
  await writeFile(join(out, 'vectors', `${one.name}.input.ndjson`), ndjson(input));
  await writeFile(join(out, 'vectors', `${one.name}.expected.ndjson`), ndjson(expected));
  const { name, about } = one;
  return { name, kind: 'vectors', about, lines: input.length, log_digest, digest };
}

async function writeLog(out: string, { name, path }: { name: string; path: string }) {
  const kept = await mkdtemp(join(tmpdir(), 'folkmoot-conformance-'));
  try {
    const { scenario, folder } = loadScenario(path);
    const run = join(kept, 'run');
    await simulate(scenario, { out: run, ...(folder === undefined ? {} : { folder }) });
    return await withRunStore(run, async (store) => {
      const { seq, log_digest, digest } = store.meta()!;
      await printLog(store, seq, join(out, 'logs', `${name}.ndjson`));
      const about = scenario.title;
      return { name, kind: 'log' as const, about, lines: seq + 1, log_digest, digest };
    });
  } finally {
    await rm(kept, { recursive: true, force: true });
  }
}

async function printLog(store: Store, last: number, path: string): Promise<void> {
  const file = createWriteStream(path);
  const written = finished(file);
  for (const line of storedLines(store, 0, last)) {
    if (file.write(`${JSON.stringify(printLine(line))}\n`)) continue;
    await new Promise<void>((resolve) => file.once('drain', resolve));
  }
  file.end();
  await written;
}
