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
  const { rows, replicates, forks } = ablation;
  if (rows.length === 0) return ['left out: there was nothing to leave out'];
  const head =
    `left out, one by one: ${rows.length} of ${candidates}, in ${replicates} pairs of runs with ` +
    `the same chance (${forks} forks)`;
  return [head, ...rows.map((row) => rowLine(row, ablation)), ...verdictLines(ablation)];
}

/** States what was found, and the size of what may have been missed: that is not nothing. */
function verdictLines({ rows, replicates, level, detectable }: Ablation): string[] {
  const found = rows.filter(({ significant }) => significant).length;
  const unmeasured = rows.filter(({ measured }) => !measured).length;
  const open = rows.length - found - unmeasured;
  const missed =
    detectable === null
      ? `${replicates} pairs can show no change at all; use a larger --replicates`
      : `${replicates} pairs find a change of ${detectable.toFixed(2)} in 4 of 5 cases, ` +
        'smaller changes less often; a larger --replicates finds smaller ones';
  return [
    `shown to change the chance that the block is finalized: ${found}, at a level of ${level}`,
    ...(open === 0
      ? []
      : [`not shown to change it: ${open}, which is not shown to have no effect`]),
    ...(unmeasured === 0 ? [] : [`not measured: ${unmeasured}`]),
    ...(open === 0 ? [] : [missed]),
  ];
}

function rowLine(row: AblationRow, { replicates }: Ablation): string {
  const { kind, name, id, both, only_with, only_without, difference, low, high, p_holm } = row;
  const what = kind === 'agent' ? name : `${id} (${name})`;
  if (difference === null || low === null || high === null || p_holm === null) {
    const why = `it was left out in ${row.acted} of ${replicates} pairs`;
    return `  ${kind} ${what}: not measured: ${why}`;
  }
  return (
    `${row.significant ? '*' : ' '} ${kind} ${what}: finalized ${both + only_with} of ` +
    `${replicates} with it, ${both + only_without} without: ${signed(difference)} ` +
    `[${signed(low)}, ${signed(high)}], p ${p_holm.toPrecision(2)}`
  );
}

const signed = (share: number): string => `${share < 0 ? '-' : '+'}${Math.abs(share).toFixed(2)}`;
