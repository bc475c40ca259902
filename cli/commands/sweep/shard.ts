/** `--shard i/n`, and `--shard slurm`: which part of a sweep this process runs. */
import { InvalidArgumentError } from 'commander';
import type { Shard } from '../../../sim/sweep/index.js';

/** As many as a sweep may have runs. */
const MOST = 1_000_000;

export function shardOf(text: string): Shard {
  if (text === 'slurm') return taskOf(process.env);
  const [, index = 0, of = 0] = (/^(\d{1,7})\/(\d{1,7})$/.exec(text) ?? []).map(Number);
  if (1 <= index && index <= of && of <= MOST) return { index, of };
  throw new InvalidArgumentError(
    `expected i/n with i from 1 to n, such as 3/16, n at most ${MOST}, or slurm`,
  );
}

/**
 * The task of a Slurm job array: 1-16, 0-15 or 10-40:2, each from its least index on. Slurm says
 * how many tasks there are, and their least and greatest index: whose turn it is follows from that
 * where they are evenly spaced. Of tasks that are submitted once more, it counts those alone.
 */
function taskOf(env: NodeJS.ProcessEnv): Shard {
  const [id, of, least, most] = ['ID', 'COUNT', 'MIN', 'MAX'].map((name) => numberIn(env, name));
  const step = of! > 1 ? (most! - least!) / (of! - 1) : 1;
  const index = 1 + (id! - least!) / step;
  const isEven = Number.isSafeInteger(step) && step >= 1 && least! + step * (of! - 1) === most;
  if (isEven && Number.isSafeInteger(index) && 1 <= index && index <= of! && of! <= MOST) {
    return { index, of: of! };
  }
  const array = `task ${id} of ${of} from ${least} to ${most}`;
  throw new InvalidArgumentError(
    `Slurm says ${array}; expected an array that is evenly spaced, such as --array=1-16, or i/n`,
  );
}

function numberIn(env: NodeJS.ProcessEnv, which: string): number {
  const name = `SLURM_ARRAY_TASK_${which}`;
  const text = env[name];
  if (text !== undefined && /^\d{1,10}$/.test(text)) return Number(text);
  const what = text === undefined ? `${name} is not set` : `${name} is ${JSON.stringify(text)}`;
  throw new InvalidArgumentError(`${what}; expected a task of a Slurm job array, or i/n`);
}
