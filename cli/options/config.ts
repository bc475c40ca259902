/**
 * Configuration of a command. A value comes from the first of these sources that has it: a flag, an
 * environment variable, a YAML file, the default. The options of the command are the only schema:
 * all sources pass through the parser of the option, and the JSON Schema and the reference derive
 * from it. Values are merged without changing the command, so that a running server can merge
 * again.
 */
import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { maskCredentials } from '../../engine/protocol/messages.js';
import type { YamlFile } from '../../sim/scenario/yaml.js';
import { UsageError } from '../output/exit.js';
import type { CliCommand, Parser, ValueSchema } from './options.js';

/** Sections of a configuration file, one per command. */
export const sectionNames = ['serve', 'load'] as const;
export type SectionName = (typeof sectionNames)[number];

type Source = 'default' | 'file' | 'variable' | 'flag';

export interface Setting {
  /** Key in the section of the command. */
  key: string;
  option: Option;
  value: unknown;
  source: Source;
  /** File and line, variable or flag; null for a default. */
  place: string | null;
}

/**
 * An option for the path of a file with a secret. The secret itself is never an argument, because
 * other users can see the arguments of a process. The environment variable `variable` contains the
 * secret, or the variable with the suffix `_FILE` contains the path.
 */
export class SecretOption extends Option {
  readonly variable: string;

  constructor(flags: string, text: string) {
    super(flags, text);
    const file = variableOf(this);
    this.env(file);
    this.variable = file.replace(/_FILE$/, '');
  }
}

/** A secret in a file, or in an environment variable. */
export type SecretSource = string | { variable: string };

/** Name of the option in a configuration file. */
export function keyOf(option: Option): string {
  const key = option.attributeName().replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`);
  return option instanceof SecretOption ? `${key}_file` : key;
}

/** Names the environment variable of an option. */
export const variableOf = (option: Option, section: SectionName = 'serve'): string => {
  const key = option.negate ? `no_${keyOf(option)}` : keyOf(option);
  return `FOLKMOOT_${section === 'serve' ? '' : `${section}_`}${key}`.toUpperCase();
};

const isFlag = (option: Option): boolean => !option.required && !option.optional;

const parserOf = ({ parseArg }: Option): Parser<unknown> | null =>
  typeof parseArg === 'function' && 'schema' in parseArg ? (parseArg as Parser<unknown>) : null;

function schemaOf(option: Option): ValueSchema {
  if (isFlag(option)) return { type: 'boolean' };
  const schema = option.argChoices
    ? { enum: option.argChoices }
    : (parserOf(option)?.schema ?? { type: 'string', minLength: 1 });
  return option.optional ? { anyOf: [{ type: 'boolean' }, schema] } : schema;
}

/** Options that a configuration file can set. */
export const configOptions = (command: Command): Option[] =>
  command.options.filter((option) => option.attributeName() !== 'config');

/** Describes the key of an option. For an option such as --no-ui, `false` has the effect. */
function meaningOf({ description, negate }: Option): string {
  const text = description.replace(' (see below)', '');
  return negate ? `false: ${text}` : text;
}

interface Section<Flags> {
  name: SectionName;
  /** Checks flags that contradict each other. Opens nothing. */
  check(flags: Flags): Promise<void>;
  /** Runs the command. Calls `settings.check` first. */
  run(flags: Flags, settings: Settings): Promise<void>;
}

const checks = new WeakMap<Command, (flags: object) => Promise<void>>();

/** Adds --config, and runs the command with the merged values. */
export function configurable<Flags extends object>(
  command: CliCommand,
  { name, check, run }: Section<Flags>,
): CliCommand {
  for (const option of command.options) {
    if (option.envVar === undefined) option.env(variableOf(option, name));
  }
  checks.set(command, check as (flags: object) => Promise<void>);
  return command
    .addOption(
      new Option('--config <file>', 'YAML file with values for these options').env(
        'FOLKMOOT_CONFIG',
      ),
    )
    .action(async () => {
      const settings = await readSettings(command, name);
      try {
        await run(settings.flags as Flags, settings);
      } catch (error) {
        throw settings.locate(error);
      }
    });
}

/** Merges the parsed command line with variables and the file. @throws {UsageError} */
export async function readSettings(command: Command, name: SectionName): Promise<Settings> {
  const path = command.getOptionValue('config') as string | undefined;
  const file = path === undefined ? null : await readConfig(path);
  return new Settings(command, name, file);
}

export class Settings {
  readonly all: readonly Setting[];
  /** Null without --config. */
  readonly file: ConfigFile | null;
  readonly #command: Command;
  readonly #name: SectionName;

  /** @throws {UsageError} for an invalid value, or for mutually exclusive values. */
  constructor(command: Command, name: SectionName, file: ConfigFile | null) {
    this.#command = command;
    this.#name = name;
    this.file = file;
    const options = configOptions(command);
    const inFile = file?.section(name, options) ?? new Map<Option, Setting>();
    this.all = options.map(
      (option) =>
        flagSetting(command, option) ??
        variableSetting(option) ??
        inFile.get(option) ?? {
          ...{ key: keyOf(option), option, source: 'default', place: null },
          // Commander's value may come from a variable.
          value: option.negate ? true : option.defaultValue,
        },
    );
    this.#assertCompatible();
  }

  /** Merged values, by the names that Commander gives them. */
  get flags(): object {
    const known = this.all.filter(({ value }) => value !== undefined);
    return Object.fromEntries(known.map(({ option, value }) => [option.attributeName(), value]));
  }

  /** Checks that the values fit together. @throws {UsageError} */
  async check(): Promise<void> {
    try {
      await checks.get(this.#command)!(this.flags);
    } catch (error) {
      throw this.locate(error);
    }
  }

  /** Reads and checks the file again. @throws {UsageError} */
  async again(): Promise<Settings> {
    const settings = await readSettings(this.#command, this.#name);
    await settings.check();
    return settings;
  }

  /** Adds the place of a value to an error that names its option. */
  locate(error: unknown): unknown {
    if (!(error instanceof UsageError)) return error;
    const [flag] = String(error.values.option ?? '').split(' ');
    const setting = this.all.find(({ option }) => option.long === flag);
    if (setting?.source !== 'file' && setting?.source !== 'variable') return error;
    const values = { place: setting.place!, problem: error.message };
    return new UsageError('CONFIG_AT', values, { cause: error });
  }

  #assertCompatible(): void {
    const given = this.all.filter(({ source }) => source !== 'default');
    for (const { option, key, place } of given) {
      const { conflictsWith } = option as Option & { conflictsWith: string[] };
      const other = given.find((one) => conflictsWith.includes(one.option.attributeName()));
      if (!other) continue;
      const named = `${other.key} (${other.place})`;
      throw new UsageError('CONFIG_CONFLICT', { place: place!, key, other: named });
    }
  }
}

function flagSetting(command: Command, option: Option): Setting | null {
  const name = option.attributeName();
  if (command.getOptionValueSource(name) !== 'cli') return null;
  const value = command.getOptionValue(name);
  return { key: keyOf(option), option, value, source: 'flag', place: option.long! };
}

/** Values of a variable for an option without an argument. Commander takes any value as true. */
const switches: Readonly<Record<string, boolean>> = {
  ...{ true: true, 1: true, yes: true },
  ...{ false: false, 0: false, no: false },
};

function variableSetting(option: Option): Setting | null {
  const common = { key: keyOf(option), option, source: 'variable' as const };
  if (option instanceof SecretOption) {
    const { variable } = option;
    const text = process.env[variable];
    if (text !== undefined && text !== '') {
      if (process.env[`${variable}_FILE`]) throw new UsageError('SECRET_TWICE', { variable });
      // An older version expected a path here. The text of a path is a weak secret.
      if (existsSync(text)) throw new UsageError('SECRET_IS_PATH', { variable });
      return { ...common, value: { variable }, place: variable };
    }
  }
  const place = option.envVar!;
  const text = process.env[place];
  if (text === undefined) return null;
  const fail = (expected: string): never => {
    throw new UsageError('INVALID_VALUE', { option: place, value: text, expected });
  };
  if (!isFlag(option)) {
    return { ...common, value: parseText(option, text, fail, { isText: true }), place };
  }
  if (text === '') return null;
  const isSet = Object.hasOwn(switches, text) ? switches[text] : fail('true or false');
  return { ...common, value: isSet !== option.negate, place };
}

export class ConfigFile {
  readonly path: string;
  readonly #yaml: YamlFile;
  readonly #sections: Readonly<Record<string, unknown>>;

  /** @throws {UsageError} for an unknown section. */
  constructor(path: string, yaml: YamlFile) {
    this.path = path;
    this.#yaml = yaml;
    const { value } = yaml;
    this.#sections = this.#members([], value ?? {});
    const names: readonly string[] = sectionNames;
    const unknown = Object.keys(this.#sections).find((name) => !names.includes(name));
    if (unknown !== undefined) throw this.#unknownKey([unknown], names);
  }

  get names(): SectionName[] {
    return sectionNames.filter((name) => Object.hasOwn(this.#sections, name));
  }

  /** Returns the settings of a section. @throws {UsageError} */
  section(name: SectionName, options: readonly Option[]): Map<Option, Setting> {
    const members = this.#members([name], this.#sections[name] ?? {});
    const byKey = new Map(options.map((option) => [keyOf(option), option]));
    const settings = Object.entries(members).map(([key, value]): [Option, Setting] => {
      const option = byKey.get(key);
      if (!option) throw this.#unknown([name, key], byKey);
      return [option, this.#setting([name, key], option, value)];
    });
    return new Map(settings);
  }

  #setting(path: readonly string[], option: Option, given: unknown): Setting {
    const place = this.#place(path);
    const fail = (expected: string): never => {
      const value = maskCredentials(JSON.stringify(given)).slice(0, 100);
      throw new UsageError('CONFIG_INVALID', { place, key: path.join('.'), value, expected });
    };
    const value = parseValue(option, given, fail);
    return { key: keyOf(option), option, value, source: 'file', place };
  }

  #members(path: readonly string[], value: unknown): Record<string, unknown> {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
    throw new UsageError('CONFIG_INVALID', {
      place: this.#place(path),
      key: path.join('.') || 'file',
      value: maskCredentials(JSON.stringify(value)).slice(0, 100),
      expected: 'keys and values',
    });
  }

  #unknown(path: readonly string[], byKey: ReadonlyMap<string, Option>): UsageError {
    const key = path.at(-1)!;
    const secret = byKey.get(`${key}_file`);
    if (secret instanceof SecretOption) {
      const { variable } = secret;
      return new UsageError('CONFIG_SECRET', { place: this.#place(path), key, variable });
    }
    return this.#unknownKey(path, [...byKey.keys()].sort());
  }

  #unknownKey(path: readonly string[], expected: readonly string[]): UsageError {
    const key = path.join('.').slice(0, 100);
    const names = expected.join(', ');
    return new UsageError('CONFIG_UNKNOWN_KEY', { place: this.#place(path), key, names });
  }

  #place(path: readonly string[]): string {
    return `${this.path}:${this.#yaml.lineOf(path)}`;
  }
}

/** @throws {UsageError} */
export async function readConfig(path: string): Promise<ConfigFile> {
  const { readYaml } = await import('../../sim/scenario/yaml.js');
  const yaml = readYaml(path, {
    unreadable: (reason) => new UsageError('FILE_NOT_READABLE', { path, reason }),
    invalid: (at) => new UsageError('CONFIG_SYNTAX', { file: path, ...at }),
  });
  return new ConfigFile(path, yaml);
}

type Fail = (expected: string) => never;

/** Converts a value in a file to the value that the same text gives on the command line. */
function parseValue(option: Option, given: unknown, fail: Fail): unknown {
  if (isFlag(option) || (option.optional && typeof given === 'boolean')) {
    return typeof given === 'boolean' ? given : fail('true or false');
  }
  if (schemaOf(option).type === 'array') {
    if (!Array.isArray(given)) return fail('a list of strings');
    const add = (before: unknown, one: unknown) => parseText(option, one, fail, { before });
    return given.reduce<unknown>(add, []);
  }
  const { const: only } = parserOf(option)?.schema ?? {};
  const failed = only === undefined ? fail : () => fail(`true, false or ${only}`);
  return parseText(option, given, failed);
}

/**
 * @param options.before previous values of a list.
 * @param options.isText true for the value of a variable, which is always a string.
 */
function parseText(
  option: Option,
  given: unknown,
  fail: Fail,
  { before, isText = false }: { before?: unknown; isText?: boolean } = {},
): unknown {
  const parse = option.parseArg as ((text: string, before: unknown) => unknown) | undefined;
  const attempt = (text: string, mistyped: boolean): unknown => {
    try {
      const value = parse ? parse(text, before) : text;
      return mistyped ? fail(describe(option)) : value;
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      return fail(expectedIn(error.message));
    }
  };
  if (!isText && !isTyped(schemaOf(option), given)) return attempt('', true);
  if (!parse && given === '') return fail('a string that is not empty');
  return attempt(String(given), false);
}

/** Extracts the expected value from an error of Commander or of a parser. */
const expectedIn = (message: string): string =>
  message.replace(/^expected /, '').replace(/^Allowed choices are (.*)\.$/, 'one of $1');

const describe = (option: Option): string =>
  schemaOf(option).type === 'array' ? 'a list of strings' : 'a string';

function isTyped(schema: ValueSchema, given: unknown): boolean {
  const { type, anyOf } = schema as { type?: string; anyOf?: ValueSchema[] };
  if (anyOf) return anyOf.some((one) => isTyped(one, given));
  if (type === 'integer' || type === 'number') return typeof given === 'number';
  return typeof given === 'string';
}

/** Formats a value as in a configuration file. Hides secrets and passwords. */
export function shownValue({ option, value }: Setting): unknown {
  if (value === undefined) return null;
  if (option instanceof SecretOption && typeof value === 'object') return '***';
  const shown = typeof value === 'boolean' ? value : (parserOf(option)?.format(value) ?? value);
  return maskValue(shown);
}

/** Masks credentials in a text, or in each text of a list. */
function maskValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValue);
  return typeof value === 'string' ? maskCredentials(value) : value;
}

export function configJsonSchema(commands: Readonly<Record<SectionName, Command>>): object {
  const sections = Object.entries(commands).map(([name, command]) => {
    const rows = configOptions(command).map((option) => {
      const { defaultValue, negate } = option;
      const known = negate ? true : defaultValue;
      const plain = known === undefined ? {} : { default: known };
      return [keyOf(option), { description: meaningOf(option), ...schemaOf(option), ...plain }];
    });
    const properties = Object.fromEntries(rows);
    const description = `options of folkmoot ${name}`;
    return [name, { type: 'object', description, additionalProperties: false, properties }];
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:folkmoot:config',
    title: 'Configuration of folkmoot',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(sections),
  };
}
