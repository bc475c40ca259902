/** `folkmoot check`: whether a folder is whole, said in a line, whatever is wrong with it. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import type { ReplayResult } from '../../engine/replay/replay.js';
import { exitCodes } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { damageText, printJson, writeStderr, writeStdout } from '../output/output.js';

interface Flags {
  pages?: boolean;
  json?: boolean;
}

/** What --json prints. */
interface Checked {
  whole: boolean;
  /** Pages of data.mdb, all looked at. */
  pages: number;
  /** Null with --pages. */
  entries: number | null;
  digest: string | null;
  /** What is damaged. */
  problem: string | null;
}

export function checkCommand(): Command {
  return new Command('check')
    .description('look at every byte of a data folder or kept run, and say what is damaged')
    .argument('<dir>', 'a data folder or a kept run that no server has open')
    .option('--pages', 'only the order of the data file: as quick as reading it')
    .option('--json', 'print {whole, pages, entries, digest, problem}')
    .addHelpText(
      'after',
      `
First the pages of data.mdb are read as plain bytes: each must be in use once or free, all keys in
their order. Then a second process replays the log and compares every entry, event, record and
file, and all of archive/, so that even data that would end the process which reads it is named.
Nothing is changed.
Exit code 0 when all is whole, 13 with what is damaged: then restore the folder from a copy; what
"folkmoot log DIR" still prints of it can be replayed.

Examples:
  $ folkmoot check folkmoot-data
  $ folkmoot check runs/7 --pages`,
    )
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
  const { StoreError } = await import('../../engine/store/store.js');
  const { storeFolder } = await import('../options/folder.js');
  const found: Checked = { whole: false, pages: 0, entries: null, digest: null, problem: null };
  try {
    found.pages = checkStorePages(storeFolder(folder));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ...found, problem: error.message };
  }
  if (flags.pages) return { ...found, whole: true };
  return { ...found, ...replayApart(folder) };
}

/** Replays in a process of its own: it may be the end of it. */
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
    const said = last.replace(/^folkmoot: /, '') || `replaying ends with ${signal ?? status}`;
    const problem = signal === null ? said : `${folder}: LMDB ends the process that reads it`;
    return { problem: `${problem}; restore the folder from a copy` };
  }
  const result = JSON.parse(stdout) as ReplayResult;
  const { match, entries, digest, first_divergence: divergence } = result;
  if (match) return { whole: true, entries, digest };
  return { entries, digest, problem: damageText(folder, divergence!) };
}
