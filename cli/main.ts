#!/usr/bin/env -S node --max-semi-space-size=128
/**
 * The command line: lists the commands; each is loaded when it is named, its work when it is used.
 * The flag gives young objects more room: entries live from apply to commit, and with V8's default
 * of 16 MiB they are copied on their way, which costs an eighth of a vote. It can be set at the
 * start only.
 */
import { Command, Help, type Option } from 'commander';
import { exitCodes, exitProcess, fail, OutputError } from './output/exit.js';
import { escaped } from './output/output.js';
import { packageVersion } from './output/version.js';

const program = new Command('folkmoot')
  .description('A deterministic simulation engine for networks of agents that reach consensus')
  .version(packageVersion())
  // What stands behind a command is its own, as --json behind `load compare`.
  .enablePositionalOptions()
  .configureOutput({ outputError: (text, write) => write(usageError(text)) })
  .configureHelp({ optionDescription: describeOption })
  .showHelpAfterError('(--help shows the options)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCodes.done : exitCodes.usage))
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
  sim: () => import('./commands/sim/sim.js').then((of) => of.simCommand()),
  scenario: () => import('./commands/scenario.js').then((of) => of.scenarioCommand()),
  fork: () => import('./commands/fork/fork.js').then((of) => of.forkCommand()),
  compare: () => import('./commands/fork/compare.js').then((of) => of.compareCommand()),
  sweep: () => import('./commands/sweep/sweep.js').then((of) => of.sweepCommand()),
  merge: () => import('./commands/sweep/merge.js').then((of) => of.mergeCommand()),
  worker: () => import('./commands/sweep/worker.js').then((of) => of.workerCommand()),
  swarm: () => import('./commands/swarm.js').then((of) => of.swarmCommand()),
  replay: () => import('./commands/replay/replay.js').then((of) => of.replayCommand()),
  explore: () => import('./commands/explore/explore.js').then((of) => of.exploreCommand()),
  conformance: () => import('./commands/conformance.js').then((of) => of.conformanceCommand()),
  load: () => import('./commands/load/load.js').then((of) => of.loadCommand()),
  why: () => import('./commands/why/why.js').then((of) => of.whyCommand()),
  log: () => import('./commands/log.js').then((of) => of.logCommand()),
  events: () => import('./commands/events/events.js').then((of) => of.eventsCommand()),
  archive: () => import('./commands/archive.js').then((of) => of.archiveCommand()),
  check: () => import('./commands/check.js').then((of) => of.checkCommand()),
  certify: () => import('./commands/certificate/certify.js').then((of) => of.certifyCommand()),
  'check-certificate': () =>
    import('./commands/certificate/check.js').then((of) => of.checkCertificateCommand()),
  verify: () => import('./commands/verify.js').then((of) => of.verifyCommand()),
  keygen: () => import('./commands/keygen.js').then((of) => of.keygenCommand()),
};

/** Arguments are repeated in it; only a suggestion stands on a line of its own. */
function usageError(text: string): string {
  const [, error = '', suggestion = ''] =
    /^([\s\S]*?)(\n\(Did you mean .*\))?\n*$/.exec(text) ?? [];
  return `${escaped(error)}${suggestion}\n`;
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

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader went away (as `| head` does): there is nobody left to tell.
  if (error.code === 'EPIPE') exitProcess(exitCodes.done);
  else fail(new OutputError(`standard output cannot be written: ${error.message}`));
});

// Whoever read of progress and troubles went away: what is done goes on.
process.stderr.on('error', () => {});

process.on('uncaughtException', fail);
start().catch(fail);

async function start(): Promise<void> {
  const [named = ''] = process.argv.slice(2);
  const known = Object.hasOwn(commands, named) ? [commands[named]!] : Object.values(commands);
  for (const load of known) program.addCommand(inherit(await load(), program));
  await program.parseAsync();
}
