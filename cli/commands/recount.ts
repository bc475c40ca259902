import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { ChosenRule, GivenParameters } from '../../sim/rules/chosen-rule.js';
import type { RecordedPoll, Undecided } from '../../sim/rules/recorded-polls.js';
import type { DescribedRecount } from '../../sim/rules/recount.js';
import { integer } from '../options/options.js';
import { expectRule, parseParameters } from '../options/rule.js';
import { interruption, UsageError } from '../output/exit.js';
import { helpText } from '../output/help.js';
import { flushStdout, printJson, writeStderr, writeStdoutAsync } from '../output/output.js';
import { showCount } from '../output/progress.js';

/** A rule as given, with the parameters that follow it. */
interface AskedRule {
  named: string;
  parameters: GivenParameters;
}

interface Flags {
  rule?: AskedRule[];
  parameter?: AskedRule[];
  options?: number;
  most: number;
  out?: string;
  json?: boolean;
}

/** Most votes to count in the search for a block's pivotal voters. Enough for 1,000 voters. */
const MOST_VOTES = 2_000_000;

export function recountCommand(): Command {
  const asked: AskedRule[] = [];
  return new Command('recount')
    .description('count recorded ballots under other decision rules')
    .argument('<dir|file>', 'saved run, data folder, or election data')
    .addOption(
      new Option('--rule <rule>', 'rule name or file, may be repeated').argParser(
        (named: string) => {
          asked.push({ named, parameters: {} });
          return asked;
        },
      ),
    )
    .addOption(
      new Option('--parameter <name=n>', 'parameter of the preceding --rule').argParser(
        (text: string) => {
          const last = asked.at(-1);
          if (!last) {
            const required = 'a --rule before it';
            throw new UsageError('OPTION_REQUIRES', { option: '--parameter', required });
          }
          last.parameters = { ...last.parameters, ...parseParameters(text) };
          return asked;
        },
      ),
    )
    .option(
      '--options <n>',
      'keep the leading options of election data',
      integer({ least: 2, most: 16 }),
    )
    .option(
      '--most <n>',
      'maximum votes to count per search for pivotal voters',
      integer({ least: 0, most: 1_000_000_000_000 }),
      MOST_VOTES,
    )
    .option('--out <file>', 'HTML file to write, with charts')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      helpText({
        notes: `
Counts each block again with the recorded votes. Prints the blocks with a
different status or choice, and the pivotal voters: those whose absence or
opposite decision would change the outcome. Agents do not vote again.

A ballot of another form is converted: a ranking gives plurality and approval
its first choice. A ballot without a valid conversion counts as a vote without a
ballot. An elector that had not voted counts as absent. See docs/rules.md.

Election data has the type soc, soi, toc or toi (PrefLib) or pb (Pabulib). The
command runs no module of the network, only modules in --rule.`,
        examples: [
          'recount runs/7 --rule majority --rule veto --out recount.html',
          'recount folkmoot-data --rule threshold --parameter for_bps=6000',
          'recount runs/7 --rule sixty.js --json | jq .rules',
          'recount 00004-00000001.soc --rule schulze --rule instant_runoff',
        ],
      }),
    )
    .action(run);
}

async function run(source: string, flags: Flags): Promise<void> {
  if (flags.rule === undefined) {
    throw new UsageError('MISSING_OPTION', { option: '--rule', example: '--rule majority' });
  }
  expectNewPage(flags.out);
  const rules: ChosenRule[] = [];
  for (const { named, parameters } of flags.rule) {
    rules.push(await expectRule('--rule', named, parameters));
  }
  const { isElectionFile } = await import('../../sim/rules/election-polls.js');
  if (isElectionFile(source)) return countFile(source, rules, flags);
  if (flags.options !== undefined) {
    throw new UsageError('OPTION_REQUIRES', { option: '--options', required: 'election data' });
  }
  const { readGenesis } = await import('../../engine/node/open-store.js');
  const { readPolls } = await import('../../sim/rules/recorded-polls.js');
  const { openForReading } = await import('../options/folder.js');
  const store = openForReading(source);
  try {
    const { policy } = readGenesis(store);
    const { count, undecided, polls } = readPolls(store);
    await countPolls({ source, policy, undecided, polls: polls(), count }, rules, flags);
  } finally {
    await store.close();
  }
}

/** @throws {UsageError} */
function expectNewPage(out: string | undefined): void {
  if (out === undefined) return;
  if (!/\.html?$/i.test(out)) {
    const expected = 'an .html file';
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
}

async function countFile(source: string, rules: readonly ChosenRule[], flags: Flags) {
  const { readElectionPoll } = await import('../../sim/rules/election-polls.js');
  const poll = readElectionPoll(source, flags.options);
  if ('problem' in poll) {
    const { problem } = poll;
    throw new UsageError('INVALID_ARGUMENT', { option: 'election data', value: source, problem });
  }
  const undecided = { voting: 0, orphaned: 0 };
  await countPolls({ source, policy: null, undecided, polls: [poll], count: 1 }, rules, flags);
}

async function countPolls(
  { source, policy, undecided, polls, count }: Counted,
  rules: readonly ChosenRule[],
  { most: mostVotes, out, json }: Flags,
): Promise<void> {
  const { recount } = await import('../../sim/rules/recount.js');
  const { signal, end } = interruption();
  const progress = count > 1 ? showCount(count, 'blocks') : null;
  const onProgress = (done: number) => progress?.update(done);
  const found = await recount(polls, rules, { mostVotes, signal, onProgress });
  progress?.stop();
  const described = { source, policy, undecided, ...found };
  if (json) printJson(described);
  else {
    const { recountLines } = await import('./recount-text.js');
    await writeStdoutAsync(...recountLines(described));
  }
  if (found.complete) return out === undefined ? undefined : writePage(out, described);
  const done = `${found.blocks.length} of ${count} blocks`;
  writeStderr(`folkmoot: interrupted after ${done}; the result contains these blocks only`);
  await flushStdout();
  end();
}

async function writePage(file: string, described: DescribedRecount): Promise<void> {
  const { writeRecount } = await import('../../sim/report/index.js');
  await writeRecount(file, described);
  writeStderr(`report: ${file}`);
}
