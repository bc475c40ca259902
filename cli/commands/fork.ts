/** `folkmoot fork`: a kept run made again with something otherwise, once or over many seeds. */

import { Command } from 'commander';
import type { Forked } from '../../sim/fork/fork.js';
import type { KeptRun } from '../../sim/fork/kept-run.js';
import type { Scenario } from '../../sim/index.js';
import { integer } from '../options/options.js';
import { mostCallsOption, readDeciderFlags } from '../options/scenario.js';
import { exitCodes, interruption, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdoutAsync } from '../output/output.js';
import { build, commitHash, packageVersion } from '../output/provenance.js';

interface Flags {
  intervention: string[];
  out?: string;
  folder?: string;
  replicates?: number;
  jobs?: number;
  resume?: boolean;
  record?: boolean;
  mostCalls?: number;
  json?: boolean;
}

export function forkCommand(): Command {
  return new Command('fork')
    .description('make a kept run again with something otherwise, and prove all before the same')
    .argument('<run>', 'a folder that sim --out or fork kept')
    .option(
      '--intervention <yaml>',
      'what is otherwise, as a scenario has it; again for more',
      (text: string, before: string[]) => [...before, text],
      [],
    )
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
An intervention is one of the list "interventions" of a scenario file: its kind, whom or what it is
about, and when it acts (at_ms, at_entry, at_height or at_condition). Blocks, memes and alliances
count from 0. docs/scenarios.md lists every kind and key.

Where programs or models decide for agents (docs/deciders.md), a fork needs --record: it takes their
answers from the run's cassette, and asks for those that it does not have; with --replicates each
run has a cassette of its own. --folder says where programs are started.

The fork has the run's scenario and seed. Up to the last entry before anything is otherwise, the
digests of both logs are compared: if they differ, something that took part is not deterministic; it
is named, and the exit code is 12. docs/what-if.md says what each does, and how it acts in time.

Examples:
  $ folkmoot fork runs/7 --intervention '{ kind: mute, meme: 17, at_ms: 0 }' --out runs/7-without-17
  $ folkmoot fork runs/7 --intervention \\
      '{ kind: vote, agent: lawful-3, block: 5, decision: reject, at_height: 4 }'
  $ folkmoot fork runs/7 --replicates 40 --intervention \\
      '{ kind: silence, whom: [{ group: town, share: 0.2 }], at_ms: 60000 }'

Exit codes: 0 done, whatever its verdict; 11 the network broke a rule of its own, 12 not the same
before, 2 usage, 16 an answer of an external decider is not there.`;

async function run(folder: string, flags: Flags): Promise<void> {
  const { replicates, jobs, resume } = flags;
  if (replicates === undefined && (jobs !== undefined || resume)) {
    throw new UsageError(`--${resume ? 'resume' : 'jobs'} is for --replicates`);
  }
  const asking = readDeciderFlags(flags);
  const { checkInRun, forkScenario, readInterventions } = await import(
    '../../sim/fork/scenario.js'
  );
  const { expectFolder, expectRecord } = await import('../../sim/fork/fork.js');
  const { readKept } = await import('../../sim/fork/kept-run.js');
  const option = '--intervention';
  const added = readInterventions(flags.intervention, option);
  const kept = readKept(folder, flags.folder);
  const labels = added.map((_, index) => `${option} ${index + 1}`);
  const scenario = forkScenario(kept, added, labels);
  await checkInRun(kept, scenario, labels);
  expectRecord(scenario, flags.record ?? false);
  expectFolder(scenario, flags.folder);
  const out = flags.out ?? `${folder.replace(/[/\\]+$/, '')}-fork`;
  if (replicates !== undefined) {
    const { forkOverSeeds } = await import('./fork-replicates.js');
    const options = { ...flags, out, replicates, added: added.length, asking };
    return forkOverSeeds(kept, scenario, options);
  }
  await once(kept, scenario, out, { ...flags, asking });
}

interface Once extends Flags {
  asking: ReturnType<typeof readDeciderFlags>;
}

async function once(kept: KeptRun, scenario: Scenario, out: string, flags: Once): Promise<void> {
  const { runFork } = await import('../../sim/fork/fork.js');
  const { Interrupted } = await import('../../sim/run/simulate.js');
  const { showProgress } = await import('../output/progress.js');
  writeStderr(`folkmoot fork of ${kept.folder}: ${scenario.title} (seed=${scenario.seed})`);
  const made = build();
  const interrupt = interruption();
  const progress = showProgress();
  try {
    const hooks = {
      onProgress: progress.update,
      signal: interrupt.signal,
      onNote: (note: string) => writeStderr(`folkmoot: note: ${note}`),
      made,
      ...flags.asking,
    };
    const forked = await runFork(kept, scenario, out, hooks);
    progress.stop();
    await told(kept, forked, out, flags);
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    writeStderr(`interrupted: entries 0 to ${error.seq} are durable; kept in ${out}/network`);
    interrupt.end();
  }
}

async function told(kept: KeptRun, forked: Forked, out: string, { json }: Flags): Promise<void> {
  const { compareKept } = await import('../../sim/compare/runs.js');
  const { writeRunReport } = await import('../../sim/report/index.js');
  await writeRunReport(out);
  const compared = await compareKept(kept.folder, out);
  const { added, prefix, result } = forked;
  if (json) printJson({ out, verdict: result.verdict, interventions: added, prefix, ...compared });
  else {
    const { comparisonLines, forkLines } = await import('./comparison-text.js');
    await writeStdoutAsync(...forkLines(forked), ...comparisonLines(compared, [kept.folder, out]));
  }
  writeStderr(`kept in ${out}; to look at: ${out}/report.html`);
  if (!prefix.same) {
    tellWhy(kept, forked);
    setExitCode(exitCodes.differs);
  } else if (result.verdict === 'safety') setExitCode(exitCodes.safety);
}

/** Another build may draw otherwise; a script of the same build may not. */
function tellWhy({ folder, result: before }: KeptRun, { prefix }: Forked): void {
  const { version, commit } = before;
  const builds = [`${version} ${commit}`, `${packageVersion()} ${commitHash()}`];
  if (prefix.impure === null && builds[0] !== builds[1]) {
    writeStderr(`folkmoot: ${folder} was made by ${builds[0]}, this is ${builds[1]}`);
  }
  writeStderr(`to look closer: folkmoot sim ${folder}/scenario.json --check-determinism`);
}
