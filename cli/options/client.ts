/**
 * Options and results for commands that call a live server. Key files are created with mode 0600.
 * Reading a key file that other users can read prints a warning.
 */
import { closeSync, fstatSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AgentKeys, ApiError } from '../../api/client/index.js';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { exitCodes, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr } from '../output/output.js';
import type { SecretSource } from './config.js';
import { typed } from './options.js';

export interface UrlFlags {
  url: string;
}

/** Servers in one network. The client can use any of them. */
export interface UrlsFlags {
  url: readonly string[];
}

export interface KeyFlags extends UrlsFlags {
  key: string;
}

export const home = 'http://127.0.0.1:8080';

/** Adds --url with one server. */
export function withUrl<C extends Command>(command: C): C {
  return command.addOption(
    new Option('--url <url>', 'server address')
      .env('FOLKMOOT_URL')
      .default(home)
      .argParser(httpUrl),
  );
}

/** Adds --url with several servers. The client fails over to the next server. */
export function withUrls<C extends Command>(command: C): C {
  return command.addOption(
    new Option('--url <urls>', 'comma-separated list of servers of one network')
      .env('FOLKMOOT_URL')
      .default([home], home)
      .argParser(httpUrls),
  );
}

/** Adds --url and --key. */
export function withKey<C extends Command>(command: C): C {
  return withUrls(command).addOption(
    new Option('--key <file>', 'signing key, written by keygen --out')
      .env('FOLKMOOT_KEY')
      .makeOptionMandatory(),
  );
}

const urlPattern = /^https?:\/\//;

export const httpUrl = typed({ type: 'string', pattern: urlPattern.source }, (text): string => {
  if (urlPattern.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('expected http://host:port or https://host');
});

export function httpUrls(text: string): string[] {
  const urls = list(text).map((url) => httpUrl(url));
  if (urls.length > 0) return urls;
  throw new InvalidArgumentError('expected http://host:port, or a comma-separated list');
}

export const list = (text: string) => text.split(',').filter((one) => one !== '');

export function omitAbsent<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Reads a key. Errors never repeat its contents. @throws {UsageError} */
export async function readKeys(source: SecretSource, option = '--key'): Promise<AgentKeys> {
  const { loadKeys } = await import('../../api/client/index.js');
  return parseSecret(source, option, loadKeys);
}

/** Reads and parses a secret. @throws {UsageError} that never repeats the secret. */
export function parseSecret<T>(
  source: SecretSource,
  option: string,
  parse: (text: string) => T,
): T {
  const isFile = typeof source === 'string';
  const text = isFile ? readSecret(source, option) : (process.env[source.variable] ?? '');
  try {
    return parse(text);
  } catch (error) {
    const value = isFile ? source : source.variable;
    throw new UsageError('INVALID_ARGUMENT', { option, value, problem: (error as Error).message });
  }
}

/** @throws {UsageError} */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError('FILE_NOT_READABLE', { path: file, reason: describeSystemError(error) });
  }
}

/** Advice for an unknown key. */
const howToRegister = 'register it with folkmoot agent register --name NAME';

/** Warns about request members that the server does not know. */
export function warnUnknown(names: readonly string[]): void {
  for (const name of names) {
    const unknown = `the server does not know this member of the request: ${name}`;
    const own = 'the personality is not built in';
    writeStderr(`folkmoot: ${name === '/personality' ? own : unknown}`);
  }
}

/** Returns advice for a refusal, in place of the server's, or null. */
export type Advise = (error: ApiError) => Promise<string | null>;

/** Prints the response as one line of JSON, or the refusal as one line on standard error. */
export async function answer(call: Promise<unknown>, advise?: Advise): Promise<void> {
  const client = await import('../../api/client/index.js');
  try {
    print(await call);
  } catch (error) {
    if (error instanceof client.ApiError || error instanceof client.StreamError) {
      const named = [error.code, error.reason].filter(Boolean).join(' ');
      // The advice of the server is for clients in other languages.
      const [problem] = error.message.split('; ');
      const advice =
        error.reason === 'UNKNOWN_KEY'
          ? howToRegister
          : error instanceof client.ApiError && (await advise?.(error).catch(() => null));
      return refused(named, advice ? `${problem}; ${advice}` : error.message);
    }
    if (error instanceof client.UnreachableError) {
      return refused(
        'unreachable',
        `${error.message}; start a server with folkmoot serve, or set --url`,
      );
    }
    if (error instanceof client.ResponseSignatureError) return refused('unproven', error.message);
    throw error;
  }
}

function print(value: unknown): void {
  if (value !== undefined) printJson(value);
}

function refused(what: string, why: string): void {
  writeStderr(`folkmoot: ${what}: ${why}`);
  setExitCode(exitCodes.refused);
}

/** Read and write permission for the owner only. */
const OWNER_MODE = 0o600;
const OTHERS_MODE = 0o077;

/** Writes a new file. @throws {UsageError} if the file exists or cannot be written. */
export function writeSecret(file: string, text: string): void {
  let fd: number;
  try {
    // The flag `x` refuses an existing link instead of following the link.
    fd = openSync(file, 'wx', OWNER_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new UsageError('FILE_EXISTS', { path: file });
    const reason = describeSystemError(error);
    throw new UsageError('FILE_NOT_WRITABLE', { path: file, reason });
  }
  try {
    writeFileSync(fd, text);
  } catch (error) {
    unlinkSync(file);
    throw new UsageError('FILE_NOT_WRITABLE', { path: file, reason: describeSystemError(error) });
  } finally {
    closeSync(fd);
  }
}

/** Limit in bytes. A key file contains a few hundred bytes. */
const LARGEST_KEY_FILE = 65_536;

/**
 * Reads a key file. Warns if other users can read the file, because those users could act as the
 * agent.
 * @throws {UsageError}
 */
function readSecret(file: string, option: string): string {
  try {
    const fd = openSync(file, 'r');
    try {
      const found = fstatSync(fd);
      const { mode, size } = found;
      if (size > LARGEST_KEY_FILE) {
        throw new UsageError('KEY_FILE_TOO_LARGE', { option, file, bytes: size });
      }
      // On Windows, the mode does not reflect the permissions.
      if (process.platform !== 'win32' && found.isFile() && (mode & OTHERS_MODE) !== 0) {
        writeStderr(
          `folkmoot: warning: other users can read the key in ${file}; run chmod 600 ${file}`,
        );
      }
      return readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError('FILE_NOT_READABLE', {
      path: `${option} ${file}`,
      reason: describeSystemError(error),
    });
  }
}
