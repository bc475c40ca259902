import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { comparedVerifiers, compareRuns, type Determinism } from '../../sim/compare/determinism.js';
import type { SimResult } from '../../sim/run/result.js';
import { exitCodes } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdout } from '../output/output.js';

const main = fileURLToPath(new URL('../main.js', import.meta.url));

/**
 * Runs `folkmoot sim` twice, in two processes. Sets the exit code to 12 if the runs differ, or else
 * to the run's exit code.
 * @param given arguments after `sim`. The check overrides --out, --verifier and --store.
 */
export async function checkDeterminism(given: readonly string[]): Promise<void> {
  const { args, json } = passedOn(given);
  const codes: number[] = [];
  /** Exit code of a run that ended early, and that has printed the reason. */
  let endedEarly: number | null = null;
  try {
    const found = await compareRuns(async (verifier, folder) => {
      writeStderr(`run ${codes.length + 1} of ${comparedVerifiers.length}`);
      const { code, text } = await runOnce([...args, '--verifier', verifier, '--out', folder]);
      codes.push(code);
      if (ran.has(code)) return JSON.parse(text) as SimResult;
      endedEarly = code;
      throw new Error(`the run ended with exit code ${code}`);
    });
    const { same, digest, difference } = found;
    if (json) printJson({ same, digest, ...difference });
    else writeStdout(...readable(found));
    setExitCode(same ? codes[0]! : exitCodes.differs);
  } catch (error) {
    if (endedEarly === null) throw error;
    setExitCode(endedEarly);
  }
}

/** Removes the overridden arguments. */
function passedOn(given: readonly string[]): { args: string[]; json: boolean } {
  const args: string[] = [];
  let json = false;
  for (let index = 0; index < given.length; index += 1) {
    const [name] = given[index]!.split('=', 1) as [string];
    if (name === '--json') json = true;
    else if (['--out', '--verifier', '--store'].includes(name)) {
      if (name === given[index]) index += 1;
    } else if (name !== '--check-determinism') args.push(given[index]!);
  }
  return { args, json };
}

/** Exit codes of a run that has a result. */
const ran: ReadonlySet<number> = new Set([exitCodes.done, exitCodes.noProgress, exitCodes.safety]);

async function runOnce(args: readonly string[]): Promise<{ code: number; text: string }> {
  const child = spawn(process.execPath, [main, 'sim', ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (ended) => resolve(ended ?? exitCodes.crash));
  });
  return { code, text };
}

function readable({ digest, difference }: Determinism): string[] {
  if (!difference) return [`deterministic: both runs have digest ${digest}`];
  const { where, details } = difference;
  const lines = Object.entries(details).map(([name, text]) => `  ${name.padEnd(7)} ${text}`);
  return [`not deterministic: the runs diverge at ${where}`, ...lines];
}
