/**
 * Shell completion. A short script for each shell passes the words of the line to the program,
 * which answers from its own command tree. An answer has one candidate per line, with its
 * description after a tab, and ends in `:files`, `:folders` or `:none` for the paths that the shell
 * adds. Names of files are foreign text, so the scripts never evaluate an answer or a word of the
 * line.
 */
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, type Command, type Option } from 'commander';
import type { Parser } from '../options/options.js';
import { CliCommand } from '../options/options.js';
import { escapeControls, printHelp, writeStdout } from '../output/output.js';

const shells = ['bash', 'zsh', 'fish'];

/** Folder with a script for each shell. The scripts call the hidden command `__complete`. */
const scripts = new URL('../../../deploy/completion/', import.meta.url);

export function completionCommand(): CliCommand {
  return new CliCommand('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(shells))
    .notes(`
Completes commands, options, option values, scenario names and folders with
runs. The script calls folkmoot, which must be on the path or an alias.`)
    .examples(
      'completion bash > ~/.folkmoot.bash && source ~/.folkmoot.bash',
      'completion zsh > ~/.zfunc/_folkmoot',
      'completion fish > ~/.config/fish/completions/folkmoot.fish',
    )
    .action((shell: string) => {
      const script = readFileSync(new URL(`folkmoot.${shell}`, scripts), 'utf8');
      writeStdout(...script.trimEnd().split('\n'));
    });
}

interface Completion {
  /** A value, then its description, if it has one, after a tab. */
  candidates: string[];
  paths: 'files' | 'folders' | 'none';
}

const only = (candidates: string[]): Completion => ({ candidates, paths: 'none' });
const candidate = (value: string, text: string) =>
  `${escapeControls(value)}\t${escapeControls(text)}`;

/** Limits an answer. A terminal shows a few hundred candidates at most. */
const MOST_CANDIDATES = 1_000;

/**
 * Answers a script.
 * @param argv name of the shell, then the words up to the cursor.
 * @param program loads only the command that the words name, if they name one.
 */
export async function complete([shell, ...given]: readonly string[], program: Command) {
  const words = shell === 'bash' ? joinWords(given) : given;
  const current = words.at(-1) ?? '';
  // Bash completes only the part after the sign of a word that it split.
  const cut = current === given.at(-1) ? 0 : current.indexOf('=') + 1;
  const { candidates, paths } = await completionOf(program, words.slice(0, -1), current);
  const lines = candidates
    .filter((one) => one.startsWith(escapeControls(current)))
    .slice(0, MOST_CANDIDATES)
    .map((one) => one.slice(cut));
  // The values are escaped. The tab before a description must not be.
  printHelp(`${[...lines, `:${paths}`].join('\n')}\n`);
}

/** Joins the words that bash splits at `=`, as in `--limits = spec`. */
function joinWords(given: readonly string[]): string[] {
  const words: string[] = [];
  for (const [index, word] of given.entries()) {
    const last = words.at(-1) ?? '';
    const isSign = word === '=' && last.startsWith('--');
    const isValue = given[index - 1] === '=' && last.endsWith('=');
    if (isSign || isValue) words[words.length - 1] = last + word;
    else words.push(word);
  }
  return words;
}

const commandsIn = (command: Command): string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => candidate(one.name(), one.description()));

async function completionOf(
  program: Command,
  before: readonly string[],
  current: string,
): Promise<Completion> {
  if (before.length === 1 && before[0] === 'help') {
    return only([...commandsIn(program), candidate('exit-codes', 'all exit codes')]);
  }
  let command = program;
  let position = 0;
  let waiting: Option | null = null;
  let onlyArguments = false;
  for (const word of before) {
    const option: Option | undefined = onlyArguments ? undefined : findOption(command, word);
    if (waiting) waiting = null;
    else if (word === '--') onlyArguments = true;
    else if (option) waiting = option.required && !word.includes('=') ? option : null;
    else if (!word.startsWith('-') || onlyArguments) {
      const inner = command.commands.find((one) => one.name() === word);
      if (inner && position === 0) command = inner;
      else position += 1;
    }
  }
  if (waiting) return valuesOf(waiting, current);
  if (!onlyArguments && current.startsWith('-')) return optionsOf(command, current);
  const { candidates, paths } = await argumentsOf(command, position, current);
  return { candidates: [...(position === 0 ? commandsIn(command) : []), ...candidates], paths };
}

const findOption = (command: Command, word: string): Option | undefined => {
  const [name] = word.split('=');
  return command.options.find(({ long, short }) => long === name || short === name);
};

/** Completes the name of an option, or the value in `--name=value`. */
async function optionsOf(command: Command, current: string): Promise<Completion> {
  const option = current.includes('=') ? findOption(command, current) : undefined;
  if (option) {
    const head = `${option.long}=`;
    const { candidates } = await valuesOf(option, current.slice(head.length));
    return only(candidates.map((value) => head + value));
  }
  const options = command.createHelp().visibleOptions(command);
  return only(options.map(({ long, description }) => candidate(long!, description)));
}

/** Options and arguments for scenarios, by their texts. */
const isScenario = (text: string) => /scenario/.test(text) && !/seed|value|override/.test(text);
const isRun = (text: string) => /\brun\b|data folder|shards|--out/.test(text);

async function valuesOf(option: Option, current: string): Promise<Completion> {
  const { argChoices, parseArg, flags, description } = option;
  const schema = (parseArg as Partial<Parser<unknown>> | undefined)?.schema as
    | { const?: string; anyOf?: { const?: string }[] }
    | undefined;
  const constants = [schema?.const, ...(schema?.anyOf ?? []).map((one) => one.const)];
  const fixed = argChoices ?? constants.filter((one) => one !== undefined);
  if (fixed.length > 0) return only(fixed);
  const placeholder = /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? '';
  return pathsOf(placeholder, description, current);
}

async function argumentsOf(
  command: Command,
  position: number,
  current: string,
): Promise<Completion> {
  const all = command.registeredArguments;
  const last = all.at(-1);
  const argument = all[position] ?? (last?.variadic ? last : undefined);
  if (!argument) return only([]);
  const { argChoices, description } = argument;
  if (argChoices) return only(argChoices);
  return pathsOf(argument.name(), description, current);
}

/** Completes a file or a folder, by the placeholder and the text of an option or argument. */
async function pathsOf(name: string, text: string, current: string): Promise<Completion> {
  if (isScenario(text) && name === 'file') {
    const { shippedScenarios } = await import('../../sim/scenario/load.js');
    return { candidates: shippedScenarios().map(({ name: one }) => one), paths: 'files' };
  }
  if (isRun(text)) {
    const files = /file/.test(name) || /result\.json/.test(text);
    return { candidates: runFolders(current), paths: files ? 'files' : 'folders' };
  }
  if (name === 'dir') return { candidates: [], paths: 'folders' };
  return { candidates: [], paths: name === 'file' ? 'files' : 'none' };
}

/** Files that mark the folder of a run, of a load run, of a sweep or of a network. */
const marks = ['summary.json', 'result.json', 'sweep.json', 'data.mdb'];
/** Limit on the folders that a completion looks into. */
const MOST_LOOKED = 500;

/** Finds run folders in the folder of the current word, and one level below. */
function runFolders(current: string): string[] {
  const base = current.slice(0, current.lastIndexOf('/') + 1);
  const found: string[] = [];
  let left = MOST_LOOKED;
  const look = (path: string, levels: number) => {
    for (const name of foldersIn(path)) {
      left -= 1;
      if (left < 0) return;
      const folder = `${path}${name}`;
      const mark = marks.find((one) => existsSync(join(folder, one)));
      if (mark) found.push(candidate(folder, mark));
      else if (levels > 0) look(`${folder}/`, levels - 1);
    }
  };
  look(base, 1);
  return found;
}

function foldersIn(path: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(path === '' ? '.' : path, { withFileTypes: true });
  } catch {
    return [];
  }
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  return folders.map(({ name }) => name).filter((name) => name !== 'node_modules');
}
