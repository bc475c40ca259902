/** `folkmoot fork`: a kept run made again with something otherwise, once or over many seeds. */
import { Command } from 'commander';
import type { Forked, KeptRun } from '../../../sim/fork/index.js';
import type { Scenario } from '../../../sim/index.js';
import { decidersFrom, mostCallsOption } from '../../options/deciders.js';
import { integer } from '../../options/options.js';
import { exitCodes, UsageError } from '../../output/exit.js';
import { printed, printJson, say } from '../../output/output.js';
import { interruption } from '../../output/signals.js';
import { build, commitHash, packageVersion } from '../../output/version.js';

interface Flags {
  at: string[];
  do: string[];
  out?: string;
  folder?: string;
  replicates?: number;
  jobs?: number;
  resume?: boolean;
  record?: boolean;
  mostCalls?: number;
  json?: boolean;
}

const again = (text: string, before: string[]) => [...before, text];

export function forkCommand(): Command {
  return new Command('fork')
    .description('make a kept run again with something otherwise, and prove all before the same')
    .argument('<run>', 'a folder that sim --out or fork kept')
    .option('--at <when>', 'from when on; again for each --do; default: start', again, [])
    .option('--do <what>', 'what is otherwise; again for more', again, [])
    .option('--out <dir>', 'where it is kept; default: RUN-fork')
    .option('--folder <dir>', "where the run's scripts and data files are, as they were then")
    .option(
      '--replicates <k>',
      'with and without it, over K seeds, with intervals of the differences',
      integer({ least: 2, most: 100_000 }),
    )
    .option(
      '--jobs <n>',
      'with --replicates: runs at a time; default: one a core',
      integer({ least: 1, most: 256 }),
    )
    .option('--resume', 'with --replicates: go on with what is in the folder')
    .option('--record', "ask external deciders what the run's cassette has no answer for")
    .addOption(mostCallsOption())
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action(run);
}

const help = `
WHAT is one of
  mute meme N | mute memes of WHOM            neighbours do not hear of it; the log has it
  silence WHOM | remove WHOM                  they send nothing; they leave for good
  dissolve alliance N | drop alliance N       its members leave; it never forms
  drop block N                                its proposal never arrives
  set vote of AGENT on block N to approve|reject|none
  set strategy of WHOM to KIND                or to { kind: lazy, effort: 0.1 }
  set trait NAME of WHOM to VALUE
  set link AGENT and AGENT|network to loss SHARE|factor N
  set PATH to VALUE                           of producers, social, links.loss, links.duplication
AGENT is a name as in agents.csv, or an ordinal. WHOM is AGENT, group NAME, N of group NAME, N% of
group NAME, alliance N or all, joined by and. Blocks, memes and alliances count from 0.
WHEN is start, a time such as 90s, entry N, height N, or a condition: closed >= 4 for 10s.

Where programs or models decide for agents (docs/deciders.md), a fork needs --record: it takes their
answers from the run's cassette, and asks for those that it does not have; with --replicates each
run has a cassette of its own. --folder says where programs are started.

The fork has the run's scenario and seed. Up to the last entry before anything is otherwise, the
digests of both logs are compared: if they differ, something that took part is not deterministic; it
is named, and the exit code is 12. docs/what-if.md says what each does, and how it acts in time.

Examples:
  $ folkmoot fork runs/7 --do 'mute meme 17' --out runs/7-without-17
  $ folkmoot fork runs/7 --at 'height 4' --do 'set vote of lawful-3 on block 5 to reject'
  $ folkmoot fork runs/7 --at 60s --do 'silence 20% of group town' --replicates 40

Exit codes: 0 done, whatever its verdict; 11 the network broke a rule of its own, 12 not the same
before, 2 usage, 16 an answer of an external decider is not there.`;

async function run(folder: string, flags: Flags): Promise<void> {
  const { replicates, jobs, resume } = flags;
  if (replicates === undefined && (jobs !== undefined || resume)) {
    throw new UsageError(`--${resume ? 'resume' : 'jobs'} is for --replicates`);
  }
  const asking = decidersFrom(flags);
  const { checkInRun, expectFolder, expectRecord, forkScenario, interventionsOf, readKept } =
    await import('../../../sim/fork/index.js');
  const added = interventionsOf(flags);
  const kept = readKept(folder, flags.folder);
  const labels = flags.do.map((text) => `--do '${text}'`);
  const scenario = forkScenario(kept, added, labels);
  await checkInRun(kept, scenario, labels);
  expectRecord(scenario, flags.record ?? false);
  expectFolder(scenario, flags.folder);
  const out = flags.out ?? `${folder.replace(/[/\\]+$/, '')}-fork`;
  if (replicates !== undefined) {
    const { overSeeds } = await import('./over-seeds.js');
    const options = { ...flags, out, replicates, added: added.length, asking };
    return overSeeds(kept, scenario, options);
  }
  await once(kept, scenario, out, { ...flags, asking });
}

interface Once extends Flags {
  asking: ReturnType<typeof decidersFrom>;
}

async function once(kept: KeptRun, scenario: Scenario, out: string, flags: Once): Promise<void> {
  const { runFork } = await import('../../../sim/fork/index.js');
  const { Interrupted } = await import('../../../sim/run/simulate.js');
  const { showProgress } = await import('../../output/progress.js');
  say(`folkmoot fork of ${kept.folder}: ${scenario.title} (seed=${scenario.seed})`);
  const made = build();
  const interrupt = interruption();
  const progress = showProgress();
  try {
    const hooks = {
      onProgress: progress.update,
      signal: interrupt.signal,
      onNote: (note: string) => say(`folkmoot: note: ${note}`),
      made,
      ...flags.asking,
    };
    const forked = await runFork(kept, scenario, out, hooks);
    progress.stop();
    await told(kept, forked, out, flags);
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    say(`interrupted: entries 0 to ${error.seq} are durable; kept in ${out}/network`);
    interrupt.end();
  }
}

async function told(kept: KeptRun, forked: Forked, out: string, { json }: Flags): Promise<void> {
  const { compareKept } = await import('../../../sim/compare/index.js');
  const { writeRunReport } = await import('../../../sim/report/index.js');
  await writeRunReport(out);
  const compared = await compareKept(kept.folder, out);
  const { added, prefix, result } = forked;
  if (json) printJson({ out, verdict: result.verdict, interventions: added, prefix, ...compared });
  else {
    const { comparisonLines, forkLines } = await import('./lines.js');
    await printed(...forkLines(forked), ...comparisonLines(compared, [kept.folder, out]));
  }
  say(`kept in ${out}; to look at: ${out}/report.html`);
  if (!prefix.same) {
    tellWhy(kept, forked);
    process.exitCode = exitCodes.differs;
  } else if (result.verdict === 'safety') process.exitCode = exitCodes.safety;
}

/** Another build may draw otherwise; a script of the same build may not. */
function tellWhy({ folder, result: before }: KeptRun, { prefix }: Forked): void {
  const { version, commit } = before;
  const builds = [`${version} ${commit}`, `${packageVersion()} ${commitHash()}`];
  if (prefix.impure === null && builds[0] !== builds[1]) {
    say(`folkmoot: ${folder} was made by ${builds[0]}, this is ${builds[1]}`);
  }
  say(`to look closer: folkmoot sim ${folder}/scenario.json --check-determinism`);
}
