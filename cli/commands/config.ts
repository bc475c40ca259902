import { Argument, type Command } from 'commander';
import {
  readConfig,
  readSettings,
  type SectionName,
  type Setting,
  Settings,
  sectionNames,
  shownValue,
} from '../options/config.js';
import { CliCommand } from '../options/options.js';
import { printJson, writeStdout } from '../output/output.js';

const makers: Readonly<Record<SectionName, () => Promise<Command>>> = {
  serve: async () => (await import('./serve/serve.js')).serveCommand(),
  load: async () => (await import('./load/load.js')).loadCommand(),
};

export function configCommand(): CliCommand {
  return new CliCommand('config')
    .description('check a configuration file, and show effective values')
    .enablePositionalOptions()
    .notes(`
A value comes from the first of these sources that has it: a flag, an
environment variable, the YAML file of --config or FOLKMOOT_CONFIG, the default.
The file has one section per command: serve and load. See
docs/configuration.md.`)
    .examples(
      'config check folkmoot.yaml',
      'config show serve --config folkmoot.yaml --port 9000',
      'config show --json load',
    )
    .addCommand(checkCommand())
    .addCommand(showCommand());
}

function checkCommand(): CliCommand {
  return new CliCommand('check')
    .description('check a configuration file without starting anything')
    .argument('<file>', 'YAML file')
    .notes(`
Checks the file alone, without environment variables and flags. An unknown key,
an invalid value or a conflict is an error that names the file and the line.`)
    .examples(
      'config check folkmoot.yaml',
      'config check folkmoot.yaml && systemctl reload folkmoot',
      'config check folkmoot.yaml || exit',
    )
    .action(check);
}

async function check(path: string): Promise<void> {
  const file = await readConfig(path);
  const counts: string[] = [];
  for (const name of file.names) {
    const settings = new Settings(await makers[name](), name, file);
    await settings.check();
    const { length } = settings.all.filter(({ source }) => source === 'file');
    counts.push(`${name}: ${length} ${length === 1 ? 'value' : 'values'}`);
  }
  writeStdout(`${path}: valid (${counts.join(', ') || 'no values'})`);
}

function showCommand(): CliCommand {
  return new CliCommand('show')
    .description('print the effective option values of a command, with sources')
    .addArgument(new Argument('<command>', 'command to show').choices(sectionNames))
    .argument('[options...]', 'options of the command')
    .option('--json', 'print one JSON object')
    .passThroughOptions()
    .allowUnknownOption()
    .notes(`
Prints a section of a configuration file, with the source of each value as a
comment. Secrets and passwords are shown as ***. Write --json before the
command.`)
    .examples(
      'config show serve',
      'config show serve --config folkmoot.yaml --port 9000',
      'config show --json load --rate 500',
    )
    .action(show);
}

async function show(
  name: SectionName,
  options: string[],
  { json }: { json?: boolean },
  self: Command,
): Promise<void> {
  const command = await makers[name]();
  command.copyInheritedSettings(self);
  // Parses the line as the command does, and does not run the command.
  await command.action(() => {}).parseAsync(options, { from: 'user' });
  const settings = await readSettings(command, name);
  const unused = unusedVariables(command);
  if (json) {
    const values = settings.all.map((setting) => ({
      key: setting.key,
      value: shownValue(setting),
      source: setting.source,
      place: setting.place,
    }));
    return printJson({ command: name, values, unused_variables: unused });
  }
  writeStdout(`${name}:`, ...aligned(settings.all));
  if (unused.length > 0) writeStdout(`# not used by ${name}: ${unused.join(', ')}`);
}

/** Formats YAML lines. A value without a default is a comment. */
function aligned(all: readonly Setting[]): string[] {
  const lines = all.map((setting) => {
    const { value, key, place } = setting;
    const shown = shownValue(setting);
    const text = `${key}: ${value === undefined ? '' : JSON.stringify(shown)}`;
    return { text: `${value === undefined ? '# ' : '  '}${text}`, place: place ?? 'default' };
  });
  const width = Math.min(40, Math.max(...lines.map(({ text }) => text.length)));
  return lines.map(({ text, place }) => `${text.padEnd(width)}  # ${place}`);
}

/** Returns variables with the prefix that this command does not read, such as misspelled ones. */
function unusedVariables(command: Command): string[] {
  const used = new Set(
    command.options.flatMap((option) => [
      option.envVar,
      'variable' in option ? option.variable : undefined,
    ]),
  );
  used.add('FOLKMOOT_STDERR');
  const names = Object.keys(process.env).filter((name) => name.startsWith('FOLKMOOT_'));
  return names.filter((name) => !used.has(name)).sort();
}

/** Returns the commands that have a section, for the schema and the reference. */
export async function configCommands(): Promise<Record<SectionName, Command>> {
  return { serve: await makers.serve(), load: await makers.load() };
}
