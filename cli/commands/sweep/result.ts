/** How a sweep, a shard or a merge is told of: what it came to, and the first run that failed. */
import type { FailedRun, Shard, SweepResult } from '../../../sim/sweep/index.js';
import { exitCodes } from '../../output/exit.js';
import { say } from '../../output/output.js';
import { simCommandLine } from '../../output/reproduce.js';

export function summary(out: string, result: SweepResult, shard?: Shard): string[] {
  const { planned, completed, verdicts, finished } = result;
  const counted = Object.entries(verdicts).filter(([, count]) => count > 0);
  const shown = counted.map(([verdict, count]) => `${count} ${verdict}`).join(', ');
  const head = `${completed} of ${planned} planned runs completed`;
  if (!finished) return [`${head}, kept in ${out}`];
  const all = shown === '' ? head : `${head}: ${shown}`;
  if (!shard) return [all, `${out}/report.html, runs.csv, summary.csv`];
  return [
    all,
    `${out} is shard ${shard.index}/${shard.of}: folkmoot merge makes the tables of all`,
  ];
}

const failures = {
  safety: { code: exitCodes.safety, what: 'the network broke a rule' },
  scenario: { code: exitCodes.usage, what: 'scenario or script' },
  unanswered: { code: exitCodes.unanswered, what: 'a decider has not answered' },
  crash: { code: exitCodes.crash, what: 'it crashed' },
  differs: { code: exitCodes.differs, what: 'not deterministic' },
} as const;

/** @param stopped whether that is what ended the sweep. */
export function tellFailed(file: string, failed: FailedRun, stopped: boolean): void {
  const { cell, replicate, kind, message, seed, values } = failed;
  const { code, what } = failures[kind];
  const advice =
    kind === 'unanswered'
      ? ['to continue: the same command with --resume']
      : stopped && kind !== 'differs'
        ? ['to go past it: --resume --on-error continue']
        : [];
  say(
    `folkmoot: run ${replicate} of cell ${cell} failed, ${what}: ${message}`,
    `to reproduce it: ${simCommandLine(file, seed, values)}`,
    ...advice,
  );
  process.exitCode = code;
}
