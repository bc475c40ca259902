/** The command line: lists the commands; each is loaded when it is named. */
import { Command, CommanderError, Help, type Option } from 'commander';
import { exitCodes, report } from './output/exit.js';
import { type Io, runWith, setExitCode } from './output/io.js';
import { escapeControls, printHelp, sayUsage } from './output/output.js';
import { packageVersion } from './output/provenance.js';

/**
 * Runs one command line.
 *
 * @param around its arguments, beginning with the name of the command, and its streams.
 * @returns the exit code. An error is reported on standard error, never thrown.
 */
export function run(around: Io): Promise<number> {
  return runWith(around, async () => {
    try {
      await start(around.argv);
    } catch (error) {
      if (error instanceof CommanderError) {
        return setExitCode(error.exitCode === 0 ? exitCodes.done : exitCodes.usage);
      }
      const code = report(error);
      around.end?.(code);
      setExitCode(code);
    }
  });
}

const newProgram = () =>
  new Command('folkmoot')
    .description('A deterministic simulation engine for networks of agents that reach consensus')
    .version(packageVersion())
    // What stands behind a command is its own, as --json behind `load compare`.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: printHelp,
      writeErr: sayUsage,
      outputError: (text, write) => write(usageError(text)),
    })
    .configureHelp({ optionDescription: describeOption })
    .showHelpAfterError('(--help shows the options)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  $ folkmoot sim                            1,000 agents, 100 blocks, a digest to reproduce
  $ folkmoot sim --seed 7 --out runs/7      keep log, state and tables
  $ folkmoot replay runs/7 --signatures     recompute everything from the log alone

Exit codes: 0 done, 1 a server refused, is gone or cannot listen, 2 usage (an option, or a file or
folder that is not there or none of its kind), 10 no progress, 11 broken rule, 12 replay or a
second run differs, or a certificate is refused, 13 crash, or data that is damaged, in use or
cannot be written, 14 a load run whose figures cannot be trusted, 15 a condition of --fail-on is
met, 16 an external decider's answer is missing, 17 a condition is about what is not measured.`,
    );

/** In the order of the help; each is loaded when it is named, or when all are to be listed. */
const commands: Record<string, () => Promise<Command>> = {
  serve: () => import('./commands/serve/serve.js').then((of) => of.serveCommand()),
  agent: () => import('./commands/agent.js').then((of) => of.agentCommand()),
  cluster: () => import('./commands/cluster.js').then((of) => of.clusterCommand()),
  network: () => import('./commands/network.js').then((of) => of.networkCommand()),
  mcp: () => import('./commands/mcp/mcp.js').then((of) => of.mcpCommand()),
  sim: () => import('./commands/sim.js').then((of) => of.simCommand()),
  scenario: () => import('./commands/scenario.js').then((of) => of.scenarioCommand()),
  fork: () => import('./commands/fork.js').then((of) => of.forkCommand()),
  compare: () => import('./commands/compare.js').then((of) => of.compareCommand()),
  sweep: () => import('./commands/sweep.js').then((of) => of.sweepCommand()),
  merge: () => import('./commands/sweep.js').then((of) => of.mergeCommand()),
  worker: () => import('./commands/worker.js').then((of) => of.workerCommand()),
  swarm: () => import('./commands/swarm.js').then((of) => of.swarmCommand()),
  replay: () => import('./commands/replay.js').then((of) => of.replayCommand()),
  explore: () => import('./commands/explore.js').then((of) => of.exploreCommand()),
  conformance: () => import('./commands/conformance.js').then((of) => of.conformanceCommand()),
  load: () => import('./commands/load/load.js').then((of) => of.loadCommand()),
  why: () => import('./commands/why.js').then((of) => of.whyCommand()),
  log: () => import('./commands/log.js').then((of) => of.logCommand()),
  events: () => import('./commands/events/events.js').then((of) => of.eventsCommand()),
  archive: () => import('./commands/archive.js').then((of) => of.archiveCommand()),
  check: () => import('./commands/check.js').then((of) => of.checkCommand()),
  certify: () => import('./commands/certificate.js').then((of) => of.certifyCommand()),
  'check-certificate': () =>
    import('./commands/certificate.js').then((of) => of.checkCertificateCommand()),
  verify: () => import('./commands/verify.js').then((of) => of.verifyCommand()),
  keygen: () => import('./commands/keygen.js').then((of) => of.keygenCommand()),
};

async function start(argv: readonly string[]): Promise<void> {
  const program = newProgram();
  const [named = ''] = argv;
  const known = Object.hasOwn(commands, named) ? [commands[named]!] : Object.values(commands);
  for (const load of known) program.addCommand(inherit(await load(), program));
  await program.parseAsync(argv, { from: 'user' });
}

/** Arguments are repeated in it; only a suggestion stands on a line of its own. */
function usageError(text: string): string {
  const [, error = '', suggestion = ''] =
    /^([\s\S]*?)(\n\(Did you mean .*\))?\n*$/.exec(text) ?? [];
  return `${escapeControls(error)}${suggestion}\n`;
}

/** Prints the default of a list as the user types it. An empty list is left out of the help. */
function describeOption(this: Help, option: Option): string {
  const { defaultValue, defaultValueDescription } = option;
  const describe = (one: Option) => Help.prototype.optionDescription.call(this, one);
  if (!Array.isArray(defaultValue) || defaultValueDescription) return describe(option);
  const shown: Option = Object.assign(Object.create(option), {
    defaultValue: defaultValue.length === 0 ? undefined : defaultValue,
    defaultValueDescription: defaultValue.join(','),
  });
  return describe(shown);
}

/** What the program set holds at every depth: a mistake there is usage too. */
function inherit(command: Command, from: Command): Command {
  command.copyInheritedSettings(from);
  for (const inner of command.commands) inherit(inner, command);
  return command;
}
