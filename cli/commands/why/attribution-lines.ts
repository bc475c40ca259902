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
  const { rows, forks, level, margin } = ablation;
  if (rows.length === 0) return ['left out: there was nothing to leave out'];
  const head =
    `left out, one by one: ${rows.length} of ${candidates}, in pairs of runs with the same ` +
    `chance (${forks} forks)`;
  const found = rows.filter(({ significant }) => significant).length;
  const alike = rows.filter(({ within_margin }) => within_margin).length;
  const unmeasured = rows.filter(({ measured }) => !measured).length;
  return [
    head,
    ...rows.map((row) => rowLine(row, margin)),
    `shown to change the chance that the block is finalized: ${found}, at a level of ${level}`,
    ...(margin === null ? [] : [`shown to change it by less than ${margin}: ${alike}`]),
    ...openLines(ablation),
    ...(unmeasured === 0 ? [] : [`not measured: ${unmeasured}`]),
  ];
}

/** States the size of what may have been missed: what was not shown is not shown to be nothing. */
function openLines({ rows }: Ablation): string[] {
  const open = rows.filter((row) => row.measured && !row.significant && !row.within_margin);
  const [first] = open;
  if (!first) return [];
  const { pairs, detectable } = first;
  const missed =
    detectable === null
      ? `${pairs} pairs can show no change at all; use a larger --most-replicates`
      : `${pairs} pairs find a change of ${detectable.toFixed(2)} in 4 of 5 cases, ` +
        'smaller changes less often; a larger --most-replicates finds smaller ones';
  return [`not shown to change it: ${open.length}, which is not shown to have no effect`, missed];
}

function rowLine(row: AblationRow, margin: number | null): string {
  const { kind, name, id, pairs, both, only_with, only_without, difference, low, high } = row;
  const what = kind === 'agent' ? name : `${id} (${name})`;
  if (difference === null || low === null || high === null || row.p_holm === null) {
    return `  ${kind} ${what}: not measured: it was left out in ${row.acted} of ${pairs} pairs`;
  }
  const alike = row.within_margin ? `, below ${margin} with p ${row.p_margin!.toPrecision(2)}` : '';
  const sign = row.significant ? '*' : row.within_margin ? '=' : ' ';
  const p = row.p_holm.toPrecision(2);
  return (
    `${sign} ${kind} ${what}: finalized ${both + only_with} of ${pairs} with it, ` +
    `${both + only_without} without: ${signed(difference)} ` +
    `[${signed(low)}, ${signed(high)}], p ${p}${alike}`
  );
}

const signed = (share: number): string => `${share < 0 ? '-' : '+'}${Math.abs(share).toFixed(2)}`;
