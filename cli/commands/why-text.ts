/**
 * The lines that `why` prints: an explanation, in which what is alike stands in one line and the
 * longest lists are cut, and what each factor did.
 */

import type { Ablation, AblationRow, Attribution } from '../../sim/attribution/ablation.js';
import type {
  Explanation,
  LeftOut,
  PowerTable,
  Recounted,
  Swing,
} from '../../sim/attribution/explanation.js';

/** Rows of a list that are shown; --json has all. */
const MOST_ROWS = 12;
const NAMES = 3;

export function explanationLines(explanation: Explanation): string[] {
  const { block, electors, power } = explanation;
  const { block_hash, height, status, policy, approve, reject, total } = block;
  const voted = electors.filter(({ vote }) => vote !== null).length;
  return [
    `block ${block_hash} of height ${height}: ${status}`,
    `  by ${policy}, weights ${block.weights}: ${approve} for, ${reject} against, of ${total}; ` +
      `${voted} of ${electors.length} electors voted`,
    '',
    `power to decide, when all vote: a weight of ${power.decision.quota} of ${total} finalizes`,
    ...powerLines(explanation, power.decision),
    ...(power.turnout
      ? [
          '',
          `power to make the turnout: a weight of ${power.turnout.quota} has to vote`,
          ...powerLines(explanation, power.turnout),
        ]
      : []),
    '',
    ...swingLines(explanation.swings),
    '',
    ...leftOutLines(explanation),
  ];
}

/** Electors with the same indices in one line, the most powerful first. */
function powerLines({ electors }: Explanation, table: PowerTable): string[] {
  const alike = new Map<string, { names: string[]; at: number }>();
  for (const [at, { swings, shapley_shubik }] of table.electors.entries()) {
    const key = `${electors[at]!.weight} ${swings} ${shapley_shubik}`;
    const group = alike.get(key) ?? { names: [], at };
    group.names.push(electors[at]!.name);
    alike.set(key, group);
  }
  const power = ({ at }: { at: number }) =>
    table.electors[at]!.banzhaf ?? table.electors[at]!.shapley_shubik ?? electors[at]!.weight;
  const rows = [...alike.values()].sort((a, b) => power(b) - power(a));
  const lines = rows.map(({ names, at }) => {
    const { banzhaf, decisive, shapley_shubik } = table.electors[at]!;
    const { weight } = electors[at]!;
    return (
      `  ${listed(names)} (weight ${weight}): Banzhaf ${percent(banzhaf)}, ` +
      `Shapley-Shubik ${percent(shapley_shubik)}, decisive in ${percent(decisive)} of coalitions`
    );
  });
  return [...cut(lines), ...table.refused.map((why) => `  not computed: ${why}`)];
}

/** Those who voted alike and would have changed it alike in one line. */
function swingLines(swings: readonly Swing[]): string[] {
  if (swings.length === 0) return ['swing votes: none; no single vote would have changed it'];
  const alike = new Map<string, string[]>();
  for (const { name, vote, other, outcome } of swings) {
    const was = vote === null ? 'did not vote' : `voted ${vote}`;
    const then = other === null ? 'had it not voted' : `had it voted ${other}`;
    const text = `${was}; ${then}: ${ended(outcome)}`;
    alike.set(text, [...(alike.get(text) ?? []), name]);
  }
  const lines = [...alike].map(([text, names]) => `  ${listed(names)} ${text}`);
  return ['swing votes, each by itself, all others as cast:', ...cut(lines)];
}

function leftOutLines({ mechanical }: Explanation): string[] {
  const changing = mechanical.filter(({ changes }) => changes);
  const head = 'counted again, mechanically: nobody was asked again';
  if (changing.length === 0) {
    return [`${head}: none of ${mechanical.length} left out changes the outcome`];
  }
  return [
    `${head}: ${changing.length} of ${mechanical.length} left out change the outcome`,
    ...cut(changing.map(leftOutLine)),
  ];
}

const leftOutTexts: Record<LeftOut['kind'], string> = {
  elector: 'without the elector',
  references: 'without the votes that refer to meme',
  members: 'without the votes of members of alliance',
  bonus: 'without the weight that came by alliance',
  weights: 'with equal weights:',
};

const leftOutLine = ({ kind, id, name, votes, outcome }: LeftOut): string =>
  `  ${leftOutTexts[kind]} ${[id, name].filter(Boolean).join(', ')}: ${ended(outcome)} ` +
  `(${votes} ${votes === 1 ? 'vote' : 'votes'} concerned)`;

const ended = (outcome: Recounted): string =>
  outcome === 'open' ? 'not decided by the votes that were cast' : outcome;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMES).join(', ');
  return names.length <= NAMES ? shown : `${shown} and ${names.length - NAMES} more`;
}

const percent = (share: number | null): string =>
  share === null ? 'unknown' : `${(100 * share).toFixed(2)} %`;

function cut(lines: readonly string[]): string[] {
  if (lines.length <= MOST_ROWS) return [...lines];
  const left = lines.length - MOST_ROWS;
  return [...lines.slice(0, MOST_ROWS), `  and ${left} more: --json has all`];
}

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
