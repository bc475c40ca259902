import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { TieBreak } from '../../sim/elections/rule-ballots.js';
import type { ChosenRule, GivenParameters } from '../../sim/rules/chosen-rule.js';
import type { RecordedPoll, Undecided } from '../../sim/rules/recorded-polls.js';
import type { DescribedRecount, RecountOptions } from '../../sim/rules/recount.js';
import { CliCommand, integer } from '../options/options.js';
import { expectRule, parseParameters } from '../options/rule.js';
import { interruption, UsageError } from '../output/exit.js';
import { flushStdout, printJson, writeStderr, writeStdoutAsync } from '../output/output.js';
import { showCount } from '../output/progress.js';
import type { FileRecount } from './recount-text.js';

/** A rule as given, with the parameters that follow it. */
interface AskedRule {
  named: string;
  parameters: GivenParameters;
}

interface Flags {
  rule?: AskedRule[];
  parameter?: AskedRule[];
  options?: number;
  skipInvalid?: boolean;
  ties: TieBreak;
  most?: number;
  rawCells?: boolean;
  out?: string;
  json?: boolean;
}

/** Most votes to count in the search for a block's pivotal voters. Enough for 1,000 voters. */
const MOST_VOTES = 2_000_000;

export function recountCommand(): CliCommand {
  const asked: AskedRule[] = [];
  return new CliCommand('recount')
    .description('count recorded ballots under other decision rules')
    .argument('<dir|file...>', 'saved run, data folder, or files of election data')
    .option('--rule <rule>', 'rule name or file, may be repeated', (named: string) => {
      asked.push({ named, parameters: {} });
      return asked;
    })
    .option('--parameter <name=n>', 'parameter of the preceding --rule', (text: string) => {
      const last = asked.at(-1);
      if (!last) {
        const required = 'a --rule before it';
        throw new UsageError('OPTION_REQUIRES', { option: '--parameter', required });
      }
      last.parameters = { ...last.parameters, ...parseParameters(text) };
      return asked;
    })
    .option('--options <n>', 'keep the leading options of election data', integer(2, 16))
    .option('--skip-invalid', 'skip invalid lines of election data, and count them')
    .choice(
      '--ties <how>',
      'treatment of ties under rules without ties',
      ['refuse', 'list', 'drop'],
      'refuse',
    )
    .option(
      '--most <n>',
      `maximum votes per search for pivotal voters (default: ${MOST_VOTES}; several files: 0)`,
      integer(0, 1_000_000_000_000),
    )
    .option('--out <file>', 'HTML file to write, with charts, or CSV file')
    .option('--raw-cells', 'CSV file: leave formulas in text as they are')
    .option('--json', 'print one JSON object')
    .notes(`
Counts each block again with the recorded votes. Prints the blocks with a
different status or choice, and the pivotal voters: those whose absence or
opposite decision would change the outcome. Agents do not vote again.

A ballot of another form is converted: a ranking gives plurality and approval
its first choice. Rules that need a strict order or one option take no ties:
--ties list puts tied options in the order of the options, and --ties drop
leaves out the ballot. The result of a rule names the ballots that it left out.
An elector that had not voted counts as absent. See docs/rules.md.

Election data has the type soc, soi, toc or toi (PrefLib) or pb (Pabulib).
Several files give one table of choices. The command runs no module of the
network, only modules in --rule.`)
    .examples(
      'recount runs/7 --rule majority --rule veto --out recount.html',
      'recount folkmoot-data --rule threshold --parameter for_bps=6000',
      'recount runs/7 --rule sixty.js --json | jq .rules',
      'recount 00004-00000001.soc --rule schulze --rule instant_runoff',
      'recount polls/*.toc --rule schulze --skip-invalid --out choices.csv',
    )
    .action(run);
}

async function run(sources: string[], flags: Flags): Promise<void> {
  if (flags.rule === undefined) {
    throw new UsageError('MISSING_OPTION', { option: '--rule', example: '--rule majority' });
  }
  expectNewFile(flags.out, sources.length);
  const rules: ChosenRule[] = [];
  for (const { named, parameters } of flags.rule) {
    rules.push(await expectRule('--rule', named, parameters));
  }
  const { isElectionFile } = await import('../../sim/rules/election-polls.js');
  const other = sources.find((source) => !isElectionFile(source));
  if (other === undefined) {
    const [source] = sources;
    return sources.length === 1
      ? countFile(source!, rules, flags)
      : countFiles(sources, rules, flags);
  }
  if (sources.length > 1) {
    const problem = 'not election data; name one run or folder, or files of election data';
    throw new UsageError('INVALID_ARGUMENT', { option: 'argument', value: other, problem });
  }
  for (const [option, value] of Object.entries({
    '--options': flags.options,
    '--skip-invalid': flags.skipInvalid,
  })) {
    if (value === undefined) continue;
    throw new UsageError('OPTION_REQUIRES', { option, required: 'election data' });
  }
  await countFolder(other, rules, flags);
}

/** @throws {UsageError} */
function expectNewFile(out: string | undefined, sources: number): void {
  if (out === undefined) return;
  const expected = sources > 1 ? 'a .csv file' : 'an .html or .csv file';
  if (!(sources > 1 ? /\.csv$/i : /\.(?:html?|csv)$/i).test(out)) {
    throw new UsageError('INVALID_VALUE', { option: '--out', value: out, expected });
  }
  if (existsSync(out)) throw new UsageError('FILE_EXISTS', { path: out });
}

/** Polls to count, and their origin. */
interface Counted {
  source: string;
  policy: string | null;
  undecided: Undecided;
  polls: Iterable<RecordedPoll>;
  count: number;
  skipped?: DescribedRecount['skipped'];
}

async function countFolder(source: string, rules: readonly ChosenRule[], flags: Flags) {
  const { readGenesis } = await import('../../engine/node/open-store.js');
  const { readPolls } = await import('../../sim/rules/recorded-polls.js');
  const { openForReading, readOptionLabels } = await import('../options/folder.js');
  const labels = readOptionLabels(source);
  const store = openForReading(source);
  try {
    const { policy } = readGenesis(store);
    const { count, undecided, polls } = readPolls(store, labels);
    await countPolls({ source, policy, undecided, polls: polls(), count }, rules, flags);
  } finally {
    await store.close();
  }
}

/** Reads election data as something to count. @throws {UsageError} */
async function readFile(source: string, { options: most, skipInvalid }: Flags): Promise<Counted> {
  const { readElectionPoll } = await import('../../sim/rules/election-polls.js');
  const found = readElectionPoll(source, { most, skipInvalid });
  if ('problem' in found) {
    const { problem } = found;
    throw new UsageError('INVALID_ARGUMENT', { option: 'election data', value: source, problem });
  }
  const undecided = { voting: 0, orphaned: 0 };
  const { poll, skipped } = found;
  const own = skipped ? { skipped } : {};
  return { source, policy: null, undecided, polls: [poll], count: 1, ...own };
}

async function countFile(source: string, rules: readonly ChosenRule[], flags: Flags) {
  await countPolls(await readFile(source, flags), rules, flags);
}

/** Counts several files. A file that cannot be counted is a row with its problem. */
async function countFiles(sources: string[], rules: readonly ChosenRule[], flags: Flags) {
  const { ties, most: mostVotes = 0, out, json } = flags;
  const { signal, end } = interruption();
  const progress = showCount(sources.length, 'files');
  const files: FileRecount[] = [];
  for (const source of sources) {
    try {
      const found = await describeRecount(await readFile(source, flags), rules, {
        ...{ ties, mostVotes, signal },
      });
      if (!found.complete) break;
      files.push(found);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      files.push({ source, problem: `${error.values.problem ?? error.message}` });
    }
    progress.update(files.length);
  }
  progress.stop();
  const complete = files.length === sources.length;
  if (json) printJson({ complete, files });
  else {
    const { fileLines } = await import('./recount-text.js');
    await writeStdoutAsync(...fileLines(files, rules));
  }
  if (out !== undefined) await writeTable(out, files, flags);
  if (!complete) {
    writeStderr(`folkmoot: interrupted after ${files.length} of ${sources.length} files`);
    await flushStdout();
    return end();
  }
  const failed = files.filter((file) => 'problem' in file);
  if (failed.length === 0) return;
  const problem = 'not counted; their rows name the problems';
  const value = `${failed.length} of ${files.length} files`;
  throw new UsageError('INVALID_ARGUMENT', { option: 'election data', value, problem });
}

/** @throws {UsageError} for a tie that a rule does not take. */
async function describeRecount(
  { source, policy, undecided, polls, skipped }: Counted,
  rules: readonly ChosenRule[],
  options: RecountOptions,
): Promise<DescribedRecount> {
  const { recount, TieError } = await import('../../sim/rules/recount.js');
  try {
    const found = await recount(polls, rules, options);
    return { source, policy, undecided, ...(skipped ? { skipped } : {}), ...found };
  } catch (error) {
    if (!(error instanceof TieError)) throw error;
    const { poll, voter, message } = error;
    const where = policy === null ? voter : `block ${poll.number}, ballot of ${voter}`;
    const problem = `${where}: ${message}; use --ties list or --ties drop`;
    const option = policy === null ? 'election data' : 'network';
    throw new UsageError('INVALID_ARGUMENT', { option, value: source, problem });
  }
}

async function countPolls(
  counted: Counted,
  rules: readonly ChosenRule[],
  flags: Flags,
): Promise<void> {
  const { most: mostVotes = MOST_VOTES, ties, out, json } = flags;
  const { count } = counted;
  const { signal, end } = interruption();
  const progress = count > 1 ? showCount(count, 'blocks') : null;
  const onProgress = (done: number) => progress?.update(done);
  const described = await describeRecount(counted, rules, { mostVotes, ties, signal, onProgress });
  progress?.stop();
  if (json) printJson(described);
  else {
    const { recountLines } = await import('./recount-text.js');
    await writeStdoutAsync(...recountLines(described));
  }
  if (described.complete) return out === undefined ? undefined : writePage(out, described, flags);
  const done = `${described.blocks.length} of ${count} blocks`;
  writeStderr(`folkmoot: interrupted after ${done}; the result contains these blocks only`);
  await flushStdout();
  end();
}

async function writePage(file: string, described: DescribedRecount, flags: Flags): Promise<void> {
  if (/\.csv$/i.test(file)) return writeTable(file, [described], flags);
  const { writeRecount } = await import('../../sim/report/index.js');
  await writeRecount(file, described);
  writeStderr(`report: ${file}`);
}

async function writeTable(
  file: string,
  files: readonly FileRecount[],
  { rawCells = false }: Flags,
): Promise<void> {
  const { CsvFile } = await import('../../report/tables.js');
  const { tableColumns, toTableRows } = await import('./recount-text.js');
  const table = new CsvFile(dirname(file), basename(file), tableColumns, rawCells);
  table.finishWith(toTableRows(files));
  writeStderr(`table: ${file}`);
}
