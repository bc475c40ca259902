#!/usr/bin/env -S node --max-semi-space-size=128
/**
 * The command line: lists the commands; the work of each is loaded when it is used. The flag gives
 * young objects more room: entries live from apply to commit, and with V8's default of 16 MiB they
 * are copied on their way, which costs an eighth of a vote. It can be set at the start only.
 */
import { Command } from 'commander';
import { agentCommand } from './commands/agent.js';
import { archiveCommand } from './commands/archive.js';
import { certifyCommand } from './commands/certificate/certify.js';
import { checkCertificateCommand } from './commands/certificate/check.js';
import { checkCommand } from './commands/check.js';
import { conformanceCommand } from './commands/conformance.js';
import { eventsCommand } from './commands/events/events.js';
import { exploreCommand } from './commands/explore/explore.js';
import { compareCommand } from './commands/fork/compare.js';
import { forkCommand } from './commands/fork/fork.js';
import { keygenCommand } from './commands/keygen.js';
import { loadCommand } from './commands/load/load.js';
import { logCommand } from './commands/log.js';
import { mcpCommand } from './commands/mcp/mcp.js';
import { networkCommand } from './commands/network.js';
import { replayCommand } from './commands/replay/replay.js';
import { scenarioCommand } from './commands/scenario.js';
import { serveCommand } from './commands/serve/serve.js';
import { simCommand } from './commands/sim/sim.js';
import { swarmCommand } from './commands/swarm.js';
import { mergeCommand } from './commands/sweep/merge.js';
import { sweepCommand } from './commands/sweep/sweep.js';
import { verifyCommand } from './commands/verify.js';
import { whyCommand } from './commands/why/why.js';
import { exitCodes, fail, OutputError } from './output/exit.js';
import { escaped } from './output/output.js';
import { packageVersion } from './output/version.js';

const program = new Command('folkmoot')
  .description('A deterministic simulation engine for networks of agents that reach consensus')
  .version(packageVersion())
  // What stands behind a command is its own, as --json behind `load compare`.
  .enablePositionalOptions()
  .configureOutput({ outputError: (text, write) => write(usageError(text)) })
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
cannot be written, 14 a load run whose figures cannot be trusted, 15 what --fail-on names.`,
  );

for (const command of [
  serveCommand,
  agentCommand,
  networkCommand,
  mcpCommand,
  simCommand,
  scenarioCommand,
  forkCommand,
  compareCommand,
  sweepCommand,
  mergeCommand,
  swarmCommand,
  replayCommand,
  exploreCommand,
  conformanceCommand,
  loadCommand,
  whyCommand,
  logCommand,
  eventsCommand,
  archiveCommand,
  checkCommand,
  certifyCommand,
  checkCertificateCommand,
  verifyCommand,
  keygenCommand,
]) {
  program.addCommand(inherit(command(), program));
}

/** Arguments are repeated in it; only a suggestion stands on a line of its own. */
function usageError(text: string): string {
  const [, error = '', suggestion = ''] =
    /^([\s\S]*?)(\n\(Did you mean .*\))?\n*$/.exec(text) ?? [];
  return `${escaped(error)}${suggestion}\n`;
}

/** What the program set holds at every depth: a mistake there is usage too. */
function inherit(command: Command, from: Command): Command {
  command.copyInheritedSettings(from);
  for (const inner of command.commands) inherit(inner, command);
  return command;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader went away (as `| head` does): there is nobody left to tell.
  if (error.code === 'EPIPE') process.exit(exitCodes.done);
  fail(new OutputError(`standard output cannot be written: ${error.message}`));
});

program.parseAsync().catch(fail);
