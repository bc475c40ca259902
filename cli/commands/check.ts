import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ReplayResult } from '../../engine/replay/replay.js';
import { CliCommand } from '../options/options.js';
import { exitCodes, isUsage } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { damageText, printJson, writeStderr, writeStdout } from '../output/output.js';

interface Flags {
  pages?: boolean;
  json?: boolean;
}

/** Output of --json. */
interface Checked {
  whole: boolean;
  /** Number of pages checked in data.mdb. */
  pages: number;
  /** Number of entries; null with --pages. */
  entries: number | null;
  digest: string | null;
  /** Description of the damage. */
  problem: string | null;
}

export function checkCommand(): CliCommand {
  return new CliCommand('check')
    .description('check a data folder or saved run for damage')
    .argument('<dir>', 'data folder or saved run, not open in a server')
    .option('--pages', 'check the page structure only')
    .option('--json', 'print one JSON object')
    .explain({
      notes: `
First checks the pages of data.mdb as plain bytes: each page is used once or
free, and all keys are in order. Then a second process replays the log and
compares every entry, event, record and file, including archive/. It therefore
also reports data that crashes the reader, and segments of another network in
archive/. The folder is not changed.

Exits with code 13 if the folder is damaged. Restore it from a copy, or replay
the part that folkmoot log still prints.`,
      examples: ['check folkmoot-data', 'check runs/7 --pages', 'check runs/7 --json'],
    })
    .action(run);
}

async function run(folder: string, flags: Flags): Promise<void> {
  const checked = await check(folder, flags);
  const { whole, pages, entries, problem } = checked;
  if (flags.json) printJson(checked);
  else if (whole) {
    const replayed = entries === null ? '' : `, ${entries} entries replay to digest`;
    writeStdout(`whole: ${pages} pages${replayed} ${checked.digest ?? ''}`);
  }
  if (whole) return;
  setExitCode(exitCodes.crash);
  if (!flags.json) writeStderr(`folkmoot: ${problem}`);
}

async function check(folder: string, flags: Flags): Promise<Checked> {
  const { checkStorePages } = await import('../../engine/store/lmdb-guards.js');
  const { StoreError } = await import('../../engine/store/messages.js');
  const { storeFolder } = await import('../options/folder.js');
  const found: Checked = { whole: false, pages: 0, entries: null, digest: null, problem: null };
  try {
    found.pages = checkStorePages(storeFolder(folder));
  } catch (error) {
    // A wrong path is a usage error, not damage.
    if (!(error instanceof StoreError) || isUsage(error)) throw error;
    return { ...found, problem: error.message };
  }
  if (flags.pages) return { ...found, whole: true };
  return { ...found, ...replayApart(folder) };
}

/** Replays in a child process, because damaged data can crash the process that reads it. */
function replayApart(folder: string): Partial<Checked> {
  const program = fileURLToPath(new URL('../main.js', import.meta.url));
  const replay = [program, 'replay', folder, '--json'];
  const ended = spawnSync(process.execPath, [...process.execArgv, ...replay], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { status, signal, stdout, stderr } = ended;
  const isDone = status === exitCodes.done || status === exitCodes.differs;
  if (!isDone) {
    const last = stderr.trim().split('\n').at(-1) ?? '';
    const text = last.replace(/^folkmoot: /, '') || `replay ended with ${signal ?? status}`;
    const problem = signal === null ? text : `${folder}: damaged: LMDB crashes when reading it`;
    return { problem: `${problem}; restore the folder from a copy` };
  }
  const result = JSON.parse(stdout) as ReplayResult;
  const { match, entries, digest, first_divergence: divergence } = result;
  if (match) return { whole: true, entries, digest };
  return { entries, digest, problem: damageText(folder, divergence!) };
}
