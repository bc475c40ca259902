/** What an attribution found, as lines. */
import type { Ablation, AblationRow, Attribution } from '../../../sim/why/index.js';

/** @param asked why there is none, where it was not wanted. */
export function attributionLines(found: Attribution | null, asked: string | null): string[] {
  if (found) return [...reasonLines(found), '', ...ablationLines(found)];
  return [asked ?? 'live log: its agents cannot be asked again, so nothing was run again'];
}

const factors = { content: 'content', neighbours: 'neighbours', memes: 'memes', whim: 'whim' };

function reasonLines({ decisions }: Attribution): string[] {
  const judged = decisions.filter(({ without }) => without !== null);
  const turned = (Object.keys(factors) as (keyof typeof factors)[]).map((factor) => {
    const votes = judged.filter(({ without, decision }) => without![factor] !== decision);
    return `${factors[factor]} ${votes.length}`;
  });
  const others = decisions.length - judged.length;
  return [
    `what the votes rested on: without it, so many of ${judged.length} would have been another`,
    `  ${turned.join(', ')}${others === 0 ? '' : `; of ${others} more no weights are known`}`,
  ];
}

function ablationLines({ ablation, candidates }: Attribution): string[] {
  const { rows, replicates, forks, level } = ablation;
  if (rows.length === 0) return ['left out: there was nothing to leave out'];
  const found = rows.filter(({ significant }) => significant);
  const head =
    `left out, one by one: ${rows.length} of ${candidates}, in ${replicates} pairs of runs with ` +
    `the same chance (${forks} forks)`;
  const what = found.length === 0 ? 'nothing changes' : `${found.length} change`;
  const verdict = `${what} the chance that the block is finalized, at a level of ${level} in all`;
  return [head, ...rows.map((row) => rowLine(row, ablation)), verdict];
}

function rowLine(row: AblationRow, { replicates }: Ablation): string {
  const { kind, name, id, both, only_with, only_without, difference, low, high } = row;
  const what = kind === 'agent' ? name : `${id} (${name})`;
  const idle = row.acted === 0 ? '; it changed nothing' : '';
  return (
    `${row.significant ? '*' : ' '} ${kind} ${what}: finalized ${both + only_with} of ` +
    `${replicates} with it, ${both + only_without} without: ${signed(difference)} ` +
    `[${signed(low)}, ${signed(high)}], p ${row.p_holm.toPrecision(2)}${idle}`
  );
}

const signed = (share: number): string => `${share < 0 ? '-' : '+'}${Math.abs(share).toFixed(2)}`;
