import { alignColumns, plural } from '../../report/shared/format.js';
import { ballotUses, describeBallots, labelOption } from '../../sim/elections/rule-ballots.js';
import type { ChosenRule } from '../../sim/rules/chosen-rule.js';
import { type Outcome, undecidedText } from '../../sim/rules/recorded-polls.js';
import {
  type DescribedRecount,
  type RecountedBlock,
  type RecountRow,
  type RuleSums,
  resultNotes,
  skippedText,
  statuses,
  type VoterSums,
} from '../../sim/rules/recount.js';

/** Limit on listed blocks and voters. --json lists all of them. */
const MOST = 20;

export function recountLines(found: DescribedRecount): string[] {
  const { source, policy, undecided, blocks, rules, voters, skipped } = found;
  const left = undecidedText(undecided);
  const rest = left === null ? '' : `; left out: ${left}`;
  const recorded = policy === null ? '' : `, recorded under ${policy}`;
  return [
    `${source}: ${blocks.length} ${blocks.length === 1 ? 'block' : 'blocks'}${recorded}${rest}`,
    ...(skipped ? [skippedText(skipped)] : []),
    '',
    ...ruleTable(found),
    ...ballotLines(rules),
    '',
    ...(policy === null ? outcomeLines(blocks, rules) : blockLines(blocks, rules)),
    ...voterLines(voters, rules),
    ...notes(rules),
  ];
}

function ruleTable({ policy, blocks, rules }: DescribedRecount): string[] {
  const header = [
    'rule',
    ...statuses,
    'differ',
    'with a pivotal voter',
    'ballots',
    'converted',
    'left out',
  ];
  const recorded = [
    'recorded',
    ...statuses.map(
      (status) => `${blocks.filter((row) => row.recorded?.status === status).length}`,
    ),
  ];
  const rows = rules.map(({ rule, statuses: counts, differs, pivotal, exceeded, ballots }) => [
    rule,
    ...statuses.map((status) => `${counts[status] ?? 0}`),
    policy === null ? '' : `${differs}`,
    exceeded > 0 ? `${pivotal} of ${blocks.length - exceeded}` : `${pivotal}`,
    ...[ballots.kept, ballots.converted + ballots.listed, ballots.tied + ballots.dropped].map(
      String,
    ),
  ]);
  return alignColumns([header, ...(policy === null ? [] : [recorded]), ...rows]);
}

/** Names ballots that count in another way than recorded, or not at all. */
const ballotLines = (rules: readonly RuleSums[]): string[] =>
  rules.flatMap((sums) => describeBallots(sums).map((text) => `${sums.rule}: ${text}`));

const outcomeText = (row: RecountRow, { status, choice }: Outcome): string =>
  choice === undefined ? status : `${status} ${labelOption(row, choice)}`;

function resultText(row: RecountRow, result: RecountedBlock): string {
  const { outcome, pivotal } = result;
  const parts = [
    ...resultNotes(row, result),
    ...(pivotal === null || pivotal.length === 0 ? [] : [`${pivotal.length} pivotal`]),
  ];
  return `${outcomeText(row, outcome)}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}

const blockName = ({ number, height }: RecountRow): string => `block ${number} (height ${height})`;

/** Lists the blocks with a different outcome under a rule. */
function blockLines(blocks: readonly RecountRow[], rules: readonly RuleSums[]): string[] {
  const differing = blocks.filter((row) => row.rules.some(({ differs }) => differs));
  if (differing.length === 0) return ['no block has a different outcome'];
  const lines = differing
    .slice(0, MOST)
    .flatMap((row) => [
      `${blockName(row)}: ${outcomeText(row, row.recorded!)}`,
      ...row.rules.flatMap((one, at) =>
        one.differs ? [`  ${rules[at]!.rule}: ${resultText(row, one)}`] : [],
      ),
    ]);
  const more = differing.length - MOST;
  return more > 0 ? [...lines, `and ${more} more blocks; use --json for all`] : lines;
}

/** Lists all outcomes of election data, with standings. */
function outcomeLines(blocks: readonly RecountRow[], rules: readonly RuleSums[]): string[] {
  return blocks.flatMap((row) =>
    row.rules.flatMap((one, at) => {
      const standings = Object.entries(one.standings ?? {}).sort(([, a], [, b]) => b - a);
      const scores = standings
        .map(([name, score]) => `${labelOption(row, name)} ${score}`)
        .join(', ');
      return [
        `${rules[at]!.rule}: ${resultText(row, one)}`,
        ...(scores === '' ? [] : [`  ${scores}`]),
      ];
    }),
  );
}

function voterLines(voters: readonly VoterSums[], rules: readonly RuleSums[]): string[] {
  if (voters.length === 0) return [];
  const header = ['most often pivotal', ...rules.map(({ rule }) => rule)];
  const rows = voters.slice(0, MOST).map(({ agent_id, name, pivotal }) => {
    return [name === '' ? agent_id : `${name} (${agent_id.slice(6, 14)})`, ...pivotal.map(String)];
  });
  const more = voters.length - rows.length;
  const rest = more > 0 ? [`and ${more} more voters; use --json for all`] : [];
  return ['', ...alignColumns([header, ...rows]), ...rest];
}

function notes(rules: readonly RuleSums[]): string[] {
  const lines = rules.flatMap(({ rule, waits, faults, ties, exceeded }) => [
    ...(waits > 0
      ? [`${rule}: in ${waits} blocks, electors could still have voted; they count as absent`]
      : []),
    ...(ties > 0 ? [`${rule}: the order of the options decided in ${plural(ties, 'block')}`] : []),
    ...(faults > 0 ? [`${rule}: the rule failed in ${faults} blocks`] : []),
    ...(exceeded > 0
      ? [`${rule}: pivotal voters of ${exceeded} blocks exceed the limit; raise --most`]
      : []),
  ]);
  return lines.length === 0 ? [] : ['', ...lines];
}

/** A file of several: its recount, or the reason why it cannot be counted. */
export type FileRecount = DescribedRecount | { source: string; problem: string };

/** Lists the choices of several files of election data, one line per file. */
export function fileLines(files: readonly FileRecount[], rules: readonly ChosenRule[]): string[] {
  const header = ['file', 'voters', ...rules.map(({ label }) => label)];
  const rows = files.map((file) => {
    if ('problem' in file) return [file.source, '', `not counted: ${file.problem}`];
    const [row] = file.blocks;
    const skipped = file.skipped ? [skippedText(file.skipped)] : [];
    return [
      file.source,
      `${row!.votes}`,
      ...row!.rules.map((one) => resultText(row!, one)),
      ...skipped,
    ];
  });
  return alignColumns([header, ...rows]);
}

export const tableColumns = [
  ...[
    'source',
    'block',
    'block_hash',
    'voters',
    'rule',
    'status',
    'choice',
    'choice_label',
    'winners',
  ],
  ...ballotUses,
  ...['scale_to', 'scale_from', 'fault', 'skipped_lines', 'problem'],
];

/** Rows of a table with one line for each source, block and rule. */
export function* toTableRows(
  files: readonly FileRecount[],
): Iterable<Record<string, string | number | null>> {
  const none = Object.fromEntries(tableColumns.map((name) => [name, null]));
  for (const file of files) {
    const { source } = file;
    if ('problem' in file) {
      yield { ...none, source, problem: file.problem };
      continue;
    }
    for (const row of file.blocks) {
      for (const [at, { outcome, tied, ballots, scale, fault }] of row.rules.entries()) {
        const { choice = null } = outcome;
        yield {
          ...none,
          ...{ source, block: row.number, block_hash: row.block_hash, voters: row.votes },
          ...{ rule: file.rules[at]!.rule, status: outcome.status, choice },
          choice_label: choice === null ? null : (row.labels?.[choice] ?? null),
          winners: tied ? JSON.stringify(tied.winners) : null,
          ...ballots,
          ...{ scale_to: scale?.to ?? null, scale_from: scale?.from ?? null },
          ...{ fault: fault ?? null, skipped_lines: file.skipped?.lines ?? null },
        };
      }
    }
  }
}
