/** Output lines for `why`. Equal rows share a line, and long lists are truncated. */
import type { Ablation, AblationRow, Attribution } from '../../sim/attribution/ablation.js';
import type {
  Explanation,
  LeftOut,
  PowerTable,
  Recounted,
  Swing,
} from '../../sim/attribution/explanation.js';
import type { RecordedForks } from '../../sim/attribution/recorded.js';

/** Limit on rows. --json includes all rows. */
const MOST_ROWS = 12;
const NAMES = 3;

export function explanationLines(explanation: Explanation): string[] {
  const { block, electors, power } = explanation;
  const { block_hash, height, status, policy, approve, reject, total } = block;
  const voted = electors.filter(({ vote }) => vote !== null).length;
  return [
    `block ${block_hash} at height ${height}: ${status}`,
    `  policy ${policy}, weights ${block.weights}: ${approve} for, ${reject} against, ` +
      `of ${total}; ` +
      `${voted} of ${electors.length} electors voted`,
    '',
    `power to decide: quota ${power.decision.quota} of ${total}`,
    ...powerLines(explanation, power.decision),
    ...(power.turnout
      ? [
          '',
          `power to reach the turnout: quota ${power.turnout.quota} of ${total}`,
          ...powerLines(explanation, power.turnout),
        ]
      : []),
    '',
    ...swingLines(explanation.swings),
    '',
    ...leftOutLines(explanation),
  ];
}

/** Groups electors with equal indices, most powerful first. */
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

/** Groups electors with the same vote and the same swing. */
function swingLines(swings: readonly Swing[]): string[] {
  if (swings.length === 0) return ['swing votes: none'];
  const alike = new Map<string, string[]>();
  for (const { name, vote, other, outcome } of swings) {
    const was = vote === null ? 'did not vote' : `voted ${vote}`;
    const then = other === null ? 'without a vote' : `with ${other}`;
    const text = `${was}; ${then}: ${ended(outcome)}`;
    alike.set(text, [...(alike.get(text) ?? []), name]);
  }
  const lines = [...alike].map(([text, names]) => `  ${listed(names)} ${text}`);
  return ['swing votes (all other votes as cast):', ...cut(lines)];
}

function leftOutLines({ mechanical }: Explanation): string[] {
  const changing = mechanical.filter(({ changes }) => changes);
  const head = 'mechanical recount, without new decisions';
  if (changing.length === 0) {
    return [`${head}: none of ${mechanical.length} removals changes the outcome`];
  }
  return [
    `${head}: ${changing.length} of ${mechanical.length} removals change the outcome`,
    ...cut(changing.map(leftOutLine)),
  ];
}

const leftOutTexts: Record<LeftOut['kind'], string> = {
  elector: 'without elector',
  references: 'without votes that refer to meme',
  members: 'without votes of alliance',
  bonus: 'without bonus weight of alliance',
  weights: 'with equal weights:',
};

const leftOutLine = ({ kind, id, name, votes, outcome }: LeftOut): string =>
  `  ${leftOutTexts[kind]} ${[id, name].filter(Boolean).join(', ')}: ${ended(outcome)} ` +
  `(${votes} ${votes === 1 ? 'vote' : 'votes'} affected)`;

const ended = (outcome: Recounted): string => (outcome === 'open' ? 'undecided' : outcome);

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMES).join(', ');
  return names.length <= NAMES ? shown : `${shown} and ${names.length - NAMES} more`;
}

const percent = (share: number | null): string =>
  share === null ? 'unknown' : `${(100 * share).toFixed(2)} %`;

function cut(lines: readonly string[]): string[] {
  if (lines.length <= MOST_ROWS) return [...lines];
  const left = lines.length - MOST_ROWS;
  return [...lines.slice(0, MOST_ROWS), `  and ${left} more; use --json for all`];
}

/** @param reason explains why there are no new runs; null if the folder is not a saved run. */
export function attributionLines(found: Attribution | null, reason: string | null): string[] {
  if (found) return [...reasonLines(found), '', ...testedLines(found)];
  return [reason ?? 'no new runs: not a saved run, so its agents cannot decide again'];
}

const factors = { content: 'content', neighbours: 'neighbours', memes: 'memes', whim: 'whim' };

function reasonLines({ decisions }: Attribution): string[] {
  const judged = decisions.filter(({ without }) => without !== null);
  const turned = (Object.keys(factors) as (keyof typeof factors)[]).map((factor) => {
    const votes = judged.filter(({ without, decision }) => without![factor] !== decision);
    return `${factors[factor]} ${votes.length}`;
  });
  const others = decisions.length - judged.length;
  if (judged.length === 0) return [`votes without known factors: ${others}`];
  return [
    `votes that would flip without a factor, of ${judged.length}:`,
    `  ${turned.join(', ')}${others === 0 ? '' : `; ${others} votes without known factors`}`,
  ];
}

const testedLines = ({ ablation, recorded, candidates }: Attribution): string[] =>
  ablation ? ablationLines(ablation, candidates) : recordedLines(recorded!, candidates);

function recordedLines({ rows, calls, untested }: RecordedForks, candidates: number): string[] {
  const head =
    `omitted one by one: ${rows.length} of ${candidates} candidates, with the same draws and ` +
    `recorded answers (${calls} calls)`;
  return [
    head,
    ...rows.map(({ kind, name, id, status, changed, flipped }) => {
      const what = kind === 'agent' ? name : `${id} (${name})`;
      const end = `${changed ? '*' : ' '} ${kind} ${what}: ${status ?? 'not proposed'} without`;
      return `${end}, ${flipped} other ${flipped === 1 ? 'agent votes' : 'agents vote'} otherwise`;
    }),
    ...(untested === 0 ? [] : [`not tested: ${untested}; raise --most-calls`]),
  ];
}

function ablationLines(ablation: Ablation, candidates: number): string[] {
  const { rows, forks, level, margin } = ablation;
  if (rows.length === 0) return ['tested: no candidates'];
  const head =
    `tested one by one: ${rows.length} of ${candidates} candidates, in pairs of runs with ` +
    `common random numbers (${forks} forks)`;
  const found = rows.filter(({ significant }) => significant).length;
  const alike = rows.filter(({ within_margin }) => within_margin).length;
  const unmeasured = rows.filter(({ measured }) => !measured).length;
  return [
    head,
    ...rows.map((row) => rowLine(row, margin)),
    found === 0
      ? `no shown effect on the chance of finality, at level ${level}`
      : `shown effects on the chance of finality (*): ${found}, at level ${level}`,
    ...(alike === 0 ? [] : [`effects smaller than ${margin} (=): ${alike}`]),
    ...openLines(ablation),
    ...(unmeasured === 0 ? [] : [`not measured: ${unmeasured}`]),
  ];
}

/** States the detectable effect size, because an effect that was not detected can still exist. */
function openLines({ rows }: Ablation): string[] {
  const open = rows.filter((row) => row.measured && !row.significant && !row.within_margin);
  const [first] = open;
  if (!first) return [];
  const { pairs, detectable } = first;
  const missed =
    detectable === null
      ? `${pairs} pairs cannot detect any effect; raise --most-replicates`
      : `${pairs} pairs detect an effect of ${detectable.toFixed(2)} with 80 % power; ` +
        'raise --most-replicates to detect smaller effects';
  return [`undecided: ${open.length} (an effect is neither shown nor excluded)`, missed];
}

function rowLine(row: AblationRow, margin: number | null): string {
  const { kind, name, id, pairs, both, only_with, only_without, difference, low, high } = row;
  const what = kind === 'agent' ? name : `${id} (${name})`;
  if (difference === null || low === null || high === null || row.p_holm === null) {
    return `  ${kind} ${what}: not measured: removed in ${row.acted} of ${pairs} pairs`;
  }
  const alike = row.within_margin ? `, below ${margin} with p ${row.p_margin!.toPrecision(2)}` : '';
  const sign = row.significant ? '*' : row.within_margin ? '=' : ' ';
  const p = row.p_holm.toPrecision(2);
  return (
    `${sign} ${kind} ${what}: finalized ${both + only_with} of ${pairs} with, ` +
    `${both + only_without} without: ${signed(difference)} ` +
    `[${signed(low)}, ${signed(high)}], p ${p}${alike}`
  );
}

/** Names the candidate without which most changes. */
function describeRecorded({ rows: [first] }: RecordedForks): string {
  if (!first) return 'there was no cause to test';
  const { kind, id, name, status, changed, flipped } = first;
  if (!changed && flipped === 0) return 'no tested candidate changes another vote';
  const what = `without ${kind} ${kind === 'agent' ? name : id}`;
  return `${what} it is ${status ?? 'not proposed'}, and ${flipped} other votes differ`;
}

/** States the shown effects, or the effects that the forks could have shown. */
export function describeCauses(found: Attribution | null): string {
  if (!found) return 'its causes were not tested';
  if (!found.ablation) return describeRecorded(found.recorded!);
  const { rows } = found.ablation;
  if (rows.length === 0) return 'there was no cause to test';
  const shown = rows.filter(({ significant }) => significant);
  if (shown.length === 0) return describeNone(found.ablation);
  const effects = shown.slice(0, NAMES).map(({ kind, id, name, difference }) => {
    const what = kind === 'agent' ? name : id;
    return `without ${kind} ${what} the chance of finality changes by ${signed(difference!)}`;
  });
  const others = shown.length - effects.length;
  const rest = others === 0 ? [] : [`${others} other tested causes have a shown effect`];
  return [...effects, ...rest].join('; ');
}

function describeNone({ rows, margin }: Ablation): string {
  const measured = rows.filter((row) => row.measured);
  if (measured.length === 0) return 'no tested cause could be measured';
  const open = measured.filter((row) => !row.within_margin);
  if (open.length === 0) return `each measured effect is smaller than ${margin}`;
  const detectable = open.map((row) => row.detectable ?? Number.POSITIVE_INFINITY);
  const least = Math.max(...detectable);
  const power = Number.isFinite(least)
    ? `the pairs could have found ${least.toFixed(2)}`
    : 'the pairs are too few to find any effect';
  return `no tested cause has a shown effect; ${power}`;
}

const signed = (share: number): string => `${share < 0 ? '-' : '+'}${Math.abs(share).toFixed(2)}`;
