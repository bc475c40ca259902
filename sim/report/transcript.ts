/**
 * Transcript of deliberations: agents as rows and rounds as columns, with reasons, private notes,
 * and the agents whose statements each agent saw. All texts are those of agents, and untrusted.
 */
import { hasFile, type TableRow, tableRows } from '../../report/folder.js';
import { code, type Html, html, section, table } from '../../report/page.js';
import { plural } from '../../report/shared/format.js';

/** Limits on what the report shows. The table has everything. */
const DELIBERATIONS = 5;
const AGENTS = 30;
const ROUNDS = 10;

/** Returns null for a run without deliberations. */
export async function transcriptSection(folder: string): Promise<Html | null> {
  if (!hasFile(folder, 'samples.csv')) return null;
  const samples: TableRow[] = [];
  for await (const row of tableRows(folder, 'samples.csv')) {
    samples.push(row);
    if (samples.length === DELIBERATIONS) break;
  }
  if (samples.length === 0) return null;
  const byBlock = new Map(samples.map(({ block }) => [block!, [] as TableRow[]]));
  for await (const row of tableRows(folder, 'statements.csv')) byBlock.get(row.block!)?.push(row);
  const votes = await readVotes(folder, byBlock);
  return section(
    'Transcript',
    html`<p>The first ${plural(samples.length, 'deliberation')}; see statements.csv for all.</p>\n`,
    samples.map((sample) => transcript(sample, byBlock.get(sample.block!)!, votes)),
  );
}

/** Returns the votes by block and agent, if the run has votes.csv. */
async function readVotes(
  folder: string,
  blocks: ReadonlyMap<string, unknown>,
): Promise<Map<string, string>> {
  const votes = new Map<string, string>();
  if (!hasFile(folder, 'votes.csv')) return votes;
  for await (const { block, agent, decision } of tableRows(folder, 'votes.csv')) {
    if (blocks.has(block!)) votes.set(`${block}/${agent}`, decision!);
  }
  return votes;
}

function transcript(
  sample: TableRow,
  statements: readonly TableRow[],
  votes: ReadonlyMap<string, string>,
): Html {
  const { block, question, truth, outcome, referee } = sample;
  const rounds = [...new Set(statements.map(({ round }) => Number(round)))].sort((a, b) => a - b);
  const shown = rounds.slice(0, ROUNDS);
  const agents = [...new Set(statements.map(({ agent }) => agent!))];
  const columns = [
    'agent',
    ...shown.map((round) => `round ${round}`),
    ...(votes.size > 0 ? ['vote'] : []),
  ];
  const rows = agents.map((agent) => {
    const own = statements.filter((one) => one.agent === agent);
    const { group, role } = own[0]!;
    return [
      html`${agent} ${group!}${role === 'honest' ? null : html` (${role!})`}`,
      ...shown.map((round) => own.filter((one) => Number(one.round) === round).map(statement)),
      ...(votes.size > 0 ? [votes.get(`${block}/${agent}`) ?? '–'] : []),
    ];
  });
  const more = rounds.length > ROUNDS ? `, the first ${ROUNDS} of ${rounds.length} rounds` : '';
  const right = truth === '' ? '' : `, right: ${truth}`;
  const caption = `Block ${block}: ${question === '' ? 'deliberation' : question}${right}${more}`;
  return html`<h3>${caption}</h3>
<p>Outcome: ${code(outcome!)}. Referee: ${code(referee!)}.</p>
${table(caption, columns, rows, { most: AGENTS, rest: 'statements.csv' })}`;
}

/** Shows a statement: the value, the reason, the private note, and what the agent had seen. */
function statement({ value, reason, note, stop, seen }: TableRow): Html {
  const saw = seen === '' ? 'saw no statement' : `saw ${seen}`;
  return html`<p title="${saw}">${code(value!)}${stop === '1' ? ' stop' : null}${
    reason === '' ? null : html`<br>${reason!}`
  }${note === '' ? null : html`<br><em>private: ${note!}</em>`}<br><small>${saw}</small></p>`;
}
