/** Output lines for `recount`. */
import { type Outcome, undecidedText } from '../../sim/rules/recorded-polls.js';
import type {
  DescribedRecount,
  RecountedBlock,
  RecountRow,
  RuleSums,
  VoterSums,
} from '../../sim/rules/recount.js';

/** Limit on listed blocks and voters. --json lists all of them. */
const MOST = 20;

export function recountLines(found: DescribedRecount): string[] {
  const { source, policy, undecided, blocks, rules, voters } = found;
  const left = undecidedText(undecided);
  const rest = left === null ? '' : `; left out: ${left}`;
  const recorded = policy === null ? '' : `, recorded under ${policy}`;
  return [
    `${source}: ${blocks.length} ${blocks.length === 1 ? 'block' : 'blocks'}${recorded}${rest}`,
    '',
    ...ruleTable(found),
    '',
    ...(policy === null ? outcomeLines(blocks, rules) : blockLines(blocks, rules)),
    ...voterLines(voters, rules),
    ...notes(rules),
  ];
}

const statuses = ['finalized', 'rejected', 'expired'] as const;

function ruleTable({ policy, blocks, rules }: DescribedRecount): string[] {
  const header = [
    'rule',
    ...statuses,
    'differ',
    'with a pivotal voter',
    'ballots',
    'converted',
    'dropped',
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
    ...[ballots.kept, ballots.converted, ballots.dropped].map(String),
  ]);
  return align([header, ...(policy === null ? [] : [recorded]), ...rows]);
}

/** Aligns the first column left, and all others right. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd(),
  );
}

const outcomeText = ({ status, choice }: Outcome): string =>
  choice === undefined ? status : `${status} ${choice}`;

function resultText({ outcome, fault, waits, pivotal }: RecountedBlock): string {
  const parts = [
    ...(fault === undefined ? [] : [fault]),
    ...(waits > 0 ? [`${waits} absent`] : []),
    ...(pivotal === null || pivotal.length === 0 ? [] : [`${pivotal.length} pivotal`]),
  ];
  return `${outcomeText(outcome)}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}

const blockName = ({ number, height }: RecountRow): string => `block ${number} (height ${height})`;

/** Lists the blocks with a different outcome under a rule. */
function blockLines(blocks: readonly RecountRow[], rules: readonly RuleSums[]): string[] {
  const differing = blocks.filter((row) => row.rules.some(({ differs }) => differs));
  if (differing.length === 0) return ['no block has a different outcome'];
  const lines = differing
    .slice(0, MOST)
    .flatMap((row) => [
      `${blockName(row)}: ${outcomeText(row.recorded!)}`,
      ...row.rules.flatMap((one, at) =>
        one.differs ? [`  ${rules[at]!.rule}: ${resultText(one)}`] : [],
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
      const scores = standings.map(([name, score]) => `${name} ${score}`).join(', ');
      return [`${rules[at]!.rule}: ${resultText(one)}`, ...(scores === '' ? [] : [`  ${scores}`])];
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
  return ['', ...align([header, ...rows]), ...rest];
}

function notes(rules: readonly RuleSums[]): string[] {
  const lines = rules.flatMap(({ rule, waits, faults, exceeded }) => [
    ...(waits > 0
      ? [`${rule}: in ${waits} blocks, electors could still have voted; they count as absent`]
      : []),
    ...(faults > 0 ? [`${rule}: the rule failed in ${faults} blocks`] : []),
    ...(exceeded > 0
      ? [`${rule}: pivotal voters of ${exceeded} blocks exceed the limit; raise --most`]
      : []),
  ]);
  return lines.length === 0 ? [] : ['', ...lines];
}
