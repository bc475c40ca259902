import { type Argument, Command, CommanderError, Help, type Option } from 'commander';
import { maskCredentials } from '../engine/protocol/messages.js';
import { CliCommand } from './options/options.js';
import { exitCodes, exitCodesHelp, report, UsageError } from './output/exit.js';
import { type Io, io, runWith, setExitCode } from './output/io.js';
import { escapeControls, printHelp, sayUsage, writeStdout } from './output/output.js';
import { packageVersion } from './output/provenance.js';

/**
 * Runs one command line.
 *
 * @param around arguments, beginning with the command name, and streams.
 * @returns the exit code. An error is printed to standard error, never thrown.
 */
export function run(around: Io): Promise<number> {
  return runWith(around, async () => {
    try {
      await runProgram(around.argv);
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

const start = `Start here:
  folkmoot sim --out runs/1   simulate 1,000 agents and 100 blocks
  folkmoot explore runs/1     browse the run on a local page
  folkmoot replay runs/1      verify the run from its log
  folkmoot serve              serve a live network over HTTP`;

const newProgram = () =>
  new CliCommand('folkmoot')
    .description(`simulate, serve and audit networks of voting agents\n\n${start}`)
    .usage('<command> [options]')
    .version(packageVersion(), '-V, --version', 'print the version')
    // An option after a subcommand belongs to that subcommand, such as --json after `load compare`.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: printHelp,
      writeErr: sayUsage,
      outputError: (text, write) => write(usageError(text, [])),
    })
    .configureHelp({
      helpWidth: 80,
      optionDescription: describeOption,
      subcommandTerm: (command) => command.name(),
    })
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError('(see --help for the options)')
    .exitOverride()
    .examples(
      'sim --seed 7 --out runs/7',
      'sim healthy-town --set agents.town.count=300',
      'help sweep',
    );

/** Added after the commands, which copy the program's settings and would copy this command too. */
const helpCommand = () =>
  new Command('help')
    .helpOption(false)
    .argument('[topic]')
    .description('show help for a command, or for exit-codes')
    .helpGroup('Help:');

/** Groups and commands, in the order of the help. Each command is loaded on demand. */
const groups: Readonly<Record<string, Readonly<Record<string, () => Promise<Command>>>>> = {
  'Simulate:': {
    sim: () => import('./commands/sim.js').then((of) => of.simCommand()),
    gallery: () => import('./commands/gallery.js').then((of) => of.galleryCommand()),
    scenario: () => import('./commands/scenario.js').then((of) => of.scenarioCommand()),
    rule: () => import('./commands/rule.js').then((of) => of.ruleCommand()),
    fork: () => import('./commands/fork.js').then((of) => of.forkCommand()),
    sweep: () => import('./commands/sweep.js').then((of) => of.sweepCommand()),
    study: () => import('./commands/study.js').then((of) => of.studyCommand()),
    merge: () => import('./commands/sweep.js').then((of) => of.mergeCommand()),
    worker: () => import('./commands/sweep.js').then((of) => of.workerCommand()),
    swarm: () => import('./commands/swarm.js').then((of) => of.swarmCommand()),
  },
  'Analyse:': {
    explore: () => import('./commands/explore.js').then((of) => of.exploreCommand()),
    compare: () => import('./commands/compare.js').then((of) => of.compareCommand()),
    why: () => import('./commands/why.js').then((of) => of.whyCommand()),
    recount: () => import('./commands/recount.js').then((of) => of.recountCommand()),
    replay: () => import('./commands/replay.js').then((of) => of.replayCommand()),
    log: () => import('./commands/replay.js').then((of) => of.logCommand()),
    events: () => import('./commands/events/events.js').then((of) => of.eventsCommand()),
    certify: () => import('./commands/certificate.js').then((of) => of.certifyCommand()),
    'check-certificate': () =>
      import('./commands/certificate.js').then((of) => of.checkCertificateCommand()),
    conformance: () => import('./commands/conformance.js').then((of) => of.conformanceCommand()),
  },
  'Serve:': {
    serve: () => import('./commands/serve/serve.js').then((of) => of.serveCommand()),
    agent: () => import('./commands/agent.js').then((of) => of.agentCommand()),
    network: () => import('./commands/agent.js').then((of) => of.networkCommand()),
    mcp: () => import('./commands/mcp/mcp.js').then((of) => of.mcpCommand()),
    keygen: () => import('./commands/agent.js').then((of) => of.keygenCommand()),
  },
  'Load-test:': { load: () => import('./commands/load/load.js').then((of) => of.loadCommand()) },
  'Operate:': {
    completion: () => import('./commands/completion.js').then((of) => of.completionCommand()),
    config: () => import('./commands/config.js').then((of) => of.configCommand()),
    cluster: () => import('./commands/cluster.js').then((of) => of.clusterCommand()),
    archive: () => import('./commands/archive.js').then((of) => of.archiveCommand()),
    check: () => import('./commands/replay.js').then((of) => of.checkCommand()),
  },
};

async function runProgram(argv: readonly string[]): Promise<void> {
  if (argv.length === 0 && io().stdout.isTTY) {
    await (await loadProgram('gallery')).parseAsync(['gallery'], { from: 'user' });
    return writeStdout('', start);
  }
  const [named = '', topic] = argv;
  if (named === 'help' && topic === 'exit-codes') return printHelp(exitCodesHelp());
  const all = Object.assign({}, ...Object.values(groups)) as (typeof groups)[string];
  const names = Object.keys(all);
  if (named === 'help' && topic !== undefined && !['help', ...names].includes(topic)) {
    throw new UsageError('UNKNOWN_TOPIC', { topic, names: names.join(', ') });
  }
  if (named === '__complete') {
    const { complete } = await import('./commands/completion.js');
    // The last word may be the beginning of several names.
    return complete(argv.slice(1), await loadProgram(argv.length > 3 ? argv[2]! : ''));
  }
  await (await loadProgram(named)).parseAsync(argv, { from: 'user' });
}

/** Loads only the named command, or all commands if the name is not that of a command. */
async function loadProgram(named: string): Promise<Command> {
  const program = newProgram();
  const single = Object.values(groups).some((commands) => Object.hasOwn(commands, named));
  for (const [group, commands] of Object.entries(groups)) {
    for (const [name, load] of Object.entries(commands)) {
      if (single && name !== named) continue;
      program.addCommand(inherit((await load()).helpGroup(group), program));
    }
  }
  return program.addHelpCommand(helpCommand());
}

/** Commander's errors for an invalid value in an option, in a variable, and in an argument. */
const wrongOption = /^error: option '(?:-\w, )?(--[a-z-]+)[^']*' argument '(.*?)' is invalid\. /s;
const wrongVariable = /^error: option '[^']*' value '(.*?)' from env '(\w+)' is invalid\. /s;
const wrongArgument = /^error: command-argument value '(.*?)' is invalid for argument '(.+?)'\. /s;
/** Commander's error for a missing argument. */
const missingArgument = /^error: missing required argument '(.+?)'$/;
/** Commander's error for a missing key. */
const missingKey = /^(error: required option '--key <file>' not specified)$/;
const expectedValue = /: (?:expected|Allowed choices are) ([^\n]*?)\.?$/;

/**
 * Formats commander's error for an invalid value like other usage errors. Escapes the arguments
 * that commander repeats, and keeps commander's suggestion on a separate line. Describes a missing
 * argument as the help does, because a name such as `b` says little.
 */
function usageError(text: string, known: readonly Argument[]): string {
  const [, error = '', suggestion = ''] =
    /^([\s\S]*?)(\n\(Did you mean .*\))?\n*$/.exec(text) ?? [];
  const plain = error
    .replace(wrongOption, 'error: invalid $1: $2: ')
    .replace(wrongVariable, 'error: invalid $2: $1: ')
    .replace(wrongArgument, 'error: invalid $2: $1: ')
    .replace(missingKey, '$1; create a key with folkmoot keygen --out ada.key.json')
    .replace(missingArgument, (_, name: string) => {
      const { description = '' } = known.find((argument) => argument.name() === name) ?? {};
      return `error: missing argument: <${name}>${description && ` (${description})`}`;
    });
  const shown = plain === error ? error : plain.replace(expectedValue, ' (expected $1)');
  return `${maskCredentials(escapeControls(shown))}${suggestion}\n`;
}

/**
 * Formats a list default as the user types it, and omits the default if the list is empty. Combines
 * a default in the text with the environment variable.
 */
function describeOption(this: Help, option: Option): string {
  const { defaultValue, defaultValueDescription } = option;
  const describe = (one: Option) =>
    Help.prototype.optionDescription
      .call(this, one)
      .replace(/( \(default: [^()]*)\) \(env: /, '$1, env: ');
  if (!Array.isArray(defaultValue) || defaultValueDescription) return describe(option);
  const shown: Option = Object.assign(Object.create(option), {
    defaultValue: defaultValue.length === 0 ? undefined : defaultValue,
    defaultValueDescription: defaultValue.join(','),
  });
  return describe(shown);
}

/** Copies the program's settings to a command and its subcommands. */
function inherit(command: Command, from: Command): Command {
  command.copyInheritedSettings(from);
  command.configureOutput({
    outputError: (text, write) => write(usageError(text, command.registeredArguments)),
  });
  for (const inner of command.commands) inherit(inner, command);
  return command;
}
