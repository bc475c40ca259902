/** Run report: its question, verdict, charts, measures and the commands that reproduce the run. */
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { type Chart, figure } from '../../report/figure.js';
import { hasFile, parseNumber, readJson, type TableRow, tableRows } from '../../report/folder.js';
import {
  code,
  facts,
  type Html,
  html,
  listing,
  madeBy,
  numberColumn,
  page,
  section,
  table,
  textColumn,
} from '../../report/page.js';
import { commandLine, format, formatMs, plural } from '../../report/shared/format.js';
import {
  measures as dictionary,
  groupTitles,
  type MeasureName,
  measureText,
  measureTitles,
} from '../../report/shared/measures.js';
import { decidedText, endingText, runVerdicts } from '../../report/shared/verdicts.js';
import { describeElections } from '../elections/rule-ballots.js';
import { tables } from '../measure/dictionary.js';
import { describeTies, type SimResult } from '../run/result.js';
import { groupsChart, reputationChart, SeriesData } from './agent-charts.js';
import { finalityChart, Latencies, outcomesChart } from './block-charts.js';
import { blockLinks, closerSection, configuration, isExported } from './sections.js';
import { computeShades, readClosedBlocks } from './timeline.js';

export async function runReport(folder: string): Promise<string> {
  const result = readJson<SimResult>(folder, 'summary.json');
  const groups = await groupsOf(folder);
  const charts = await chartsOf(folder, result, groups);
  const { title, question } = result.scenario;
  return page(title, [
    html`<h1>${title}</h1>\n`,
    question === '' ? null : html`<p class="lead">${question}</p>\n`,
    verdictBox(result),
    keyFacts(result),
    charts.length > 0 ? section('Charts', charts.map(figure)) : null,
    section('Groups', groupsTable(groups, result)),
    section('Measures', measuresTable(result)),
    reportedSection(result),
    await transcriptSection(folder),
    section('Configuration', configuration(result.scenario)),
    closerSection(folder, result),
    section('Reproduce', again(folder, result)),
    madeBy(result),
  ]);
}

/** Reads rows of groups.csv, largest group first. */
async function groupsOf(folder: string): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for await (const row of tableRows(folder, 'groups.csv')) rows.push(row);
  return rows.sort((a, b) => Number(b.agents) - Number(a.agents));
}

async function chartsOf(folder: string, result: SimResult, groups: TableRow[]): Promise<Chart[]> {
  const blocks = await readClosedBlocks(folder);
  const series = await SeriesData.read(folder);
  const shades = computeShades(result);
  const names = groups.map(({ group }) => group!);
  const finality = finalityChart(blocks, result.measures, shades, result.virtual_ms);
  const links = isExported(folder) ? blockLinks(blocks) : [];
  const charts = [
    finality && { ...finality, links },
    outcomesChart(blocks, shades, result.virtual_ms),
    reputationChart(series, names, shades),
    groupsChart(groups),
    hasFile(folder, 'votes.csv') ? await latencyChart(folder, result) : null,
  ];
  return charts.filter((chart) => chart !== null);
}

async function latencyChart(folder: string, result: SimResult): Promise<Chart | null> {
  const { scenario, speed = 1 } = result;
  const latencies = new Latencies(scenario.consensus.voting_period_ms * speed);
  for await (const row of tableRows(folder, 'votes.csv')) latencies.add(row);
  return latencies.chart();
}

function keyFacts(result: SimResult): Html {
  const { measures, scenario } = result;
  return facts([
    { name: 'agents', value: format(scenario.population) },
    {
      name: 'blocks finalized',
      value: `${format(measures.finalized)} of ${format(measures.proposed)}`,
    },
    { name: 'median time to finality', value: formatMs(measures.finality_p50_ms) },
    { name: 'votes', value: format(measures.votes) },
    { name: 'virtual time', value: formatMs(result.virtual_ms) },
    { name: 'seed', value: code(result.seed) },
    result.url === undefined
      ? { name: 'run digest', value: code(result.digest), wide: true }
      : { name: 'server with the log', value: code(result.url), wide: true },
  ]);
}

/** Returns a filter that hides decider and slot columns for runs without deciders and scripts. */
function shownIn({ deciders, modules }: SimResult): (name: string) => boolean {
  const decides = deciders !== undefined || Object.keys(modules ?? {}).length > 0;
  return (name) =>
    (deciders !== undefined || !name.startsWith('decider_')) &&
    (decides || !name.startsWith('slot'));
}

function groupsTable(groups: readonly TableRow[], result: SimResult): Html {
  const columns = Object.keys(tables['groups.csv']).filter(shownIn(result));
  const rows = groups.map((row) =>
    columns.map((column) => (column === 'group' ? row[column]! : format(parseNumber(row[column])))),
  );
  const titleOf = (column: string) => groupTitles[column as keyof typeof groupTitles];
  const heads = columns.map((column) =>
    column === 'group' ? titleOf(column) : numberColumn(titleOf(column)),
  );
  const named = Object.entries(tables['groups.csv']).slice(1);
  const meanings = named.filter(([name]) => columns.includes(name));
  return html`${table('Groups of the scenario', heads, rows)}
<details>
<summary>Column meanings</summary>
${facts(
  meanings.map(([column, meaning]) => {
    return { name: titleOf(column), value: [code(column), ': ', meaning], wide: true };
  }),
)}
</details>
`;
}

/** Table of measures. The caption says if the run was cut short or had a warm-up. */
function measuresTable(result: SimResult): Html {
  const { measures, ended_by, measured_from_ms = 0 } = result;
  const short = ended_by === 'stalled' || ended_by === 'safety' || ended_by === 'nothing_due';
  const cut =
    (short ? `. The run ended early (${ended_by})` : '') +
    (measured_from_ms ? `. The warm-up, up to ${formatMs(measured_from_ms)}, is excluded` : '');
  const names = (Object.keys(dictionary) as MeasureName[]).filter(shownIn(result));
  const columns = ['measure', numberColumn('value'), textColumn('meaning'), 'column'];
  const rows = names.map((name) => {
    const value = html`<span class="whole">${measureText(name, measures[name])}</span>`;
    return [measureTitles[name], value, dictionary[name], code(name)];
  });
  return table(`Measures of the run (–: no value)${cut}`, columns, rows);
}

/** Measures reported by scripts. Older run folders do not contain them. */
function reportedSection({ reported }: Partial<SimResult>): Html | null {
  const of = (whom: string, figures: Readonly<Record<string, number | null>>) =>
    Object.entries(figures).map(([name, value]) => [whom, code(name), format(value)]);
  const { run = {}, groups = {} } = reported ?? {};
  const rows = [
    ...of('run', run),
    ...Object.entries(groups).flatMap(([group, figures]) => of(group, figures)),
  ];
  if (rows.length === 0) return null;
  const columns = ['of', 'measure', numberColumn('value')];
  return section(
    'Reported',
    table('Measures reported by scripts and deliberations', columns, rows),
  );
}

function again(folder: string, result: SimResult): Html {
  const { seed, scenario, digest, url, speed = 1 } = result;
  const taken = result.deciders ? ['--cassette', '.'] : [];
  const sim = commandLine('sim', 'scenario.json', '--seed', seed, ...taken);
  if (url !== undefined) {
    const there = commandLine('sim', 'scenario.json', '--url', url, '--speed', `${speed}`);
    return html`<p>Run in the folder of this report. Two runs on a server are never identical:</p>
${listing('command that runs the scenario on the server again', there)}
<p>A simulation of the same scenario in virtual time is deterministic:</p>
${listing('command that simulates the scenario', sim)}`;
  }
  const signed = scenario.signatures === 'none' ? [] : ['--signatures'];
  const replay = commandLine('replay', 'network', ...signed);
  return html`<p>Run in the folder of this report. The same scenario and seed give the same digest,
${code(digest)}:</p>
${listing('command that repeats the run', sim)}
${
  hasFile(folder, 'network')
    ? html`<p>Recompute the log from its first entry${
        signed.length > 0 ? ' and check every signature' : null
      }:</p>
${listing('command that checks the log', replay)}`
    : null
}`;
}

function verdictBox(result: SimResult): Html {
  const { verdict, broken, scenario, measures } = result;
  const expected = verdict === scenario.expect;
  const bad = verdict === 'safety' || !expected;
  return html`<div class="verdict${bad ? ' bad' : null}">
<p><strong>Verdict: ${verdict}.</strong> ${runVerdicts[verdict] ?? null}
${decidedText(verdict, measures)}
The scenario expects ${expected ? 'this verdict' : scenario.expect}.</p>
${unanswered(measures)}${ending(result)}${
  broken === null
    ? null
    : facts([
        { name: 'rule', value: broken.rule, wide: true },
        { name: 'engine time', value: formatInstant(broken.at), wide: true },
        { name: 'actor', value: broken.actor, wide: true },
        { name: 'expected', value: broken.expected, wide: true },
        { name: 'found', value: broken.found, wide: true },
      ])
}${findingsList(result)}</div>
`;
}

/** Says that most questions have no usable answer, of which the verdict says nothing. */
function unanswered({ decider_questions: asked, decider_failures: failed }: SimResult['measures']) {
  if (!asked || !failed || failed <= asked / 2) return null;
  return html`<p>The deciders gave no usable answer to ${format(failed)} of ${format(asked)}
questions. The figures below describe agents that mostly did not answer.</p>\n`;
}

/** Findings about scripts. Older run folders do not contain them. */
function findingsList({ findings = [] }: Pick<SimResult, 'findings'>): Html | null {
  if (findings.length === 0) return null;
  const items = findings.map(
    ({ name, count, agent, at_ms, detail }) =>
      html`<li>${code(name)} (${format(count)}), first by ${agent} at ${formatMs(at_ms)}:
${detail}</li>`,
  );
  return html`<p>Findings about scripts:</p>\n<ul>${items}</ul>\n`;
}

/** Reason why the run ended, and its effects on the data. Older run folders contain neither. */
function ending(result: Partial<SimResult>): Html | null {
  const { ended_by, censored = [], elections, reported } = result;
  if (ended_by === undefined) return null;
  const lists: [string, readonly string[]][] = [
    ['Election data', describeElections(elections)],
    ['Choices that the order of options decided', describeTies(result)],
    ['Censored data', censored],
    ['Warnings about measures of scripts', reported?.missing ?? []],
  ];
  return html`<p>Ended by ${code(ended_by)}: ${endingText(ended_by)}.</p>\n${lists
    .filter(([, texts]) => texts.length > 0)
    .map(([title, texts]) => {
      const items = texts.map((text) => html`<li>${text}</li>`);
      return html`<p>${title}:</p>\n<ul>${items}</ul>\n`;
    })}`;
}

/*
 * Transcript of deliberations: agents as rows and rounds as columns, with reasons, private notes,
 * and the agents whose statements each agent saw. All texts are those of agents, and untrusted.
 */

/** Limits on what the report shows. The table has everything. */
const DELIBERATIONS = 5;
const AGENTS = 30;
const ROUNDS = 10;

/** Returns null for a run without deliberations. */
async function transcriptSection(folder: string): Promise<Html | null> {
  if (!hasFile(folder, 'samples.csv')) return null;
  const samples: TableRow[] = [];
  for await (const row of tableRows(folder, 'samples.csv')) {
    samples.push(row);
    if (samples.length === DELIBERATIONS) break;
  }
  if (samples.length === 0) return null;
  const byBlock = new Map(samples.map(({ block }) => [block!, [] as TableRow[]]));
  for await (const row of tableRows(folder, 'statements.csv')) byBlock.get(row.block!)?.push(row);
  const further = {
    vote: await readByAgent(folder, 'votes.csv', byBlock, ({ decision }) => decision!),
    // Tokens of external deciders.
    tokens: await readByAgent(folder, 'calls.csv', byBlock, (row, before = 0) => {
      return Number(before) + Number(row.input_tokens) + Number(row.output_tokens);
    }),
  };
  return section(
    'Transcript',
    html`<p>The first ${plural(samples.length, 'deliberation')}; see statements.csv for all.</p>\n`,
    samples.map((sample) => transcript(sample, byBlock.get(sample.block!)!, further)),
  );
}

/** Values by block and agent, such as `0/3`; empty if the run has no table with them. */
type ByAgent = Map<string, string | number>;

/** @param toValue gets the row of an agent, and the value of the rows before it. */
async function readByAgent(
  folder: string,
  name: string,
  blocks: ReadonlyMap<string, unknown>,
  toValue: (row: TableRow, before?: string | number) => string | number,
): Promise<ByAgent> {
  const values: ByAgent = new Map();
  if (!hasFile(folder, name)) return values;
  for await (const row of tableRows(folder, name)) {
    const key = `${row.block}/${row.agent}`;
    if (blocks.has(row.block!)) values.set(key, toValue(row, values.get(key)));
  }
  return values;
}

function transcript(
  sample: TableRow,
  statements: readonly TableRow[],
  further: Readonly<Record<string, ByAgent>>,
): Html {
  const { block, question, truth, outcome, referee } = sample;
  const rounds = [...new Set(statements.map(({ round }) => Number(round)))].sort((a, b) => a - b);
  const shown = rounds.slice(0, ROUNDS);
  const agents = [...new Set(statements.map(({ agent }) => agent!))];
  const others = Object.entries(further).filter(([, values]) => values.size > 0);
  const heads = [
    'agent',
    ...shown.map((round) => `round ${round}`),
    ...others.map(([name]) => name),
  ];
  const rows = agents.map((agent) => {
    const own = statements.filter((one) => one.agent === agent);
    const { group, role } = own[0]!;
    return [
      html`${agent} ${group!}${role === 'honest' ? null : html` (${role!})`}`,
      ...shown.map((round) => own.filter((one) => Number(one.round) === round).map(statement)),
      ...others.map(([, values]) => values.get(`${block}/${agent}`) ?? '–'),
    ];
  });
  const more = rounds.length > ROUNDS ? `, the first ${ROUNDS} of ${rounds.length} rounds` : '';
  const right = truth === '' ? '' : `, right: ${truth}`;
  const caption = `Block ${block}: ${question === '' ? 'deliberation' : question}${right}${more}`;
  return html`<h3>${caption}</h3>
<p>Outcome: ${code(outcome!)}. Referee: ${code(referee!)}.</p>
${table(caption, heads, rows, { most: AGENTS, rest: 'statements.csv' })}`;
}

/** Shows a statement: the value, the reason, the private note, and what the agent had seen. */
function statement({ value, reason, note, stop, seen }: TableRow): Html {
  const saw = seen === '' ? 'saw no statement' : `saw ${seen}`;
  return html`<p title="${saw}">${code(value!)}${stop === '1' ? ' stop' : null}${
    reason === '' ? null : html`<br>${reason!}`
  }${note === '' ? null : html`<br><em>private: ${note!}</em>`}<br><small>${saw}</small></p>`;
}
