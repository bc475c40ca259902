/**
 * Options of the commands that ask a live server: its address, the key that signs, and how such
 * commands end. Files with a secret are written for their owner alone, and read with a warning.
 */

import { closeSync, fstatSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AgentKeys } from '../../api/client/index.js';
import { exitCodes, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr } from '../output/output.js';

export interface UrlFlags {
  url: string;
}

/** Servers of one network, each as good as the others. */
export interface UrlsFlags {
  url: readonly string[];
}

export interface KeyFlags extends UrlsFlags {
  key: string;
}

const home = 'http://127.0.0.1:8080';

/** Adds --url to a command. */
export function withUrl(command: Command): Command {
  return command.addOption(
    new Option('--url <url>', 'the server, http or https')
      .env('FOLKMOOT_URL')
      .default(home)
      .argParser(httpUrl),
  );
}

/** Adds --url to a command that goes on with another server of the network where one fails. */
export function withUrls(command: Command): Command {
  return command.addOption(
    new Option('--url <urls>', 'the server, http or https; or several of one network: url,url,...')
      .env('FOLKMOOT_URL')
      .default([home], home)
      .argParser(httpUrls),
  );
}

/** Adds --url and --key to a command. */
export function withKey(command: Command): Command {
  return withUrls(command).addOption(
    new Option('--key <file>', 'the key that signs, as keygen --out writes it')
      .env('FOLKMOOT_KEY')
      .makeOptionMandatory(),
  );
}

export function httpUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('expected http://host:port or https://host');
}

function httpUrls(text: string): string[] {
  const urls = list(text).map(httpUrl);
  if (urls.length > 0) return urls;
  throw new InvalidArgumentError('expected http://host:port, or several with commas between');
}

/** Texts between commas. */
export const list = (text: string) => text.split(',').filter((one) => one !== '');

/** Collects an option that may stand more than once. */
export const collect = (text: string, before: string[] = []) => [...before, text];

/** Members that are there: what is absent must not be sent as such. */
export function omitAbsent<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The keys of a file; what is wrong with it is said without what is in it. */
export async function readKeys(file: string, option = '--key'): Promise<AgentKeys> {
  const { loadKeys } = await import('../../api/client/index.js');
  const text = readSecret(file, option);
  try {
    return loadKeys(text);
  } catch (error) {
    throw new UsageError(`${option} ${file}: ${(error as Error).message}`);
  }
}

/** A file's bytes. */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** For a key that the server does not know. */
export const howToRegister = 'to register it: folkmoot agent register --name NAME';

/** Warns on standard error of names in a request that the server does not know. */
export function warnUnknown(names: readonly string[]): void {
  for (const name of names) {
    const ignored = `unknown name in the request: ${name}; the server ignored it`;
    const kept = 'the personality is not a built-in one; the server took it as it is';
    writeStderr(`folkmoot: ${name === '/personality' ? kept : ignored}`);
  }
}

/** Prints what a call answers, as one line of JSON; one line on standard error if it is refused. */
export async function answer(call: Promise<unknown>): Promise<void> {
  const client = await import('../../api/client/index.js');
  try {
    print(await call);
  } catch (error) {
    if (error instanceof client.ApiError || error instanceof client.StreamError) {
      const hint = error.reason === 'UNKNOWN_KEY' ? `; ${howToRegister}` : '';
      const named = [error.code, error.reason].filter(Boolean).join(' ');
      return refused(named, `${error.message}${hint}`);
    }
    if (error instanceof client.UnreachableError) return refused('unreachable', error.message);
    if (error instanceof client.ResponseSignatureError) return refused('unproven', error.message);
    throw error;
  }
}

/** Nothing is printed for what answers nothing. */
function print(value: unknown): void {
  if (value !== undefined) printJson(value);
}

function refused(what: string, why: string): void {
  writeStderr(`folkmoot: ${what}: ${why}`);
  setExitCode(exitCodes.refused);
}

/** Nobody but the owner, whatever the umask says. */
const OWNER_MODE = 0o600;
const OTHERS_MODE = 0o077;

/** Writes a new file. @throws {UsageError} where something is, or nothing can be written. */
export function writeSecret(file: string, text: string): void {
  let fd: number;
  try {
    // A link that stands there is not followed.
    fd = openSync(file, 'wx', OWNER_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const taken = `${file} exists already, and a key is not overwritten; expected another name`;
    throw new UsageError(code === 'EEXIST' ? taken : `${file} cannot be written: ${code}`);
  }
  try {
    writeFileSync(fd, text);
  } catch (error) {
    unlinkSync(file);
    throw new UsageError(`${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  } finally {
    closeSync(fd);
  }
}

/** A key file is some hundred bytes; what is larger is something else. */
const LARGEST_KEY_FILE = 65_536;

/**
 * The text of a key file. Whoever else can read it is the agent too: that is warned of.
 * @throws {UsageError} when it cannot be read.
 */
export function readSecret(file: string, option: string): string {
  try {
    const fd = openSync(file, 'r');
    try {
      const { mode, size } = fstatSync(fd);
      if (size > LARGEST_KEY_FILE)
        throw new UsageError(`${option} ${file}: ${size} bytes are no key`);
      // Windows keeps other permissions, which the mode does not show.
      if (process.platform !== 'win32' && (mode & OTHERS_MODE) !== 0) {
        writeStderr(
          `folkmoot: warning: others can read the key in ${file}; expected: chmod 600 ${file}`,
        );
      }
      return readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`${option} ${file} cannot be read: ${code}`);
  }
}
