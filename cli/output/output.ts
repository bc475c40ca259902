/**
 * All command line output. Every function writes whole lines and escapes control characters,
 * because the text may come from a server, a file or an argument and must not control the terminal.
 */
import { once } from 'node:events';
import type { Divergence } from '../../engine/replay/recompute.js';
import { io } from './io.js';

/** C0, DEL and C1 controls, bidirectional controls, and Unicode line separators. */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const short: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

/** Escapes control characters as JSON does, so that a line of JSON keeps its meaning. */
export const escapeControls = (line: string): string =>
  line.replace(
    steering,
    (one) => short[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const textOf = (lines: readonly string[]): string =>
  lines.map((line) => `${escapeControls(line)}\n`).join('');

export function writeStdout(...lines: readonly string[]): void {
  io().stdout.write(textOf(lines));
}

/** Writes lines to standard output, and resolves when the stream accepts more. */
export async function writeStdoutAsync(...lines: readonly string[]): Promise<void> {
  const { stdout } = io();
  if (lines.length === 0 || stdout.write(textOf(lines))) return;
  await once(stdout, 'drain');
}

/** Resolves once all output has been flushed to standard output. */
export async function flushStdout(): Promise<void> {
  await new Promise<void>((resolve) => io().stdout.write('', () => resolve()));
}

/** Writes help to standard output, without escaping. Help contains no foreign text. */
export const printHelp = (text: string): void => void io().stdout.write(text);

/** Writes help or a usage error to standard error. The caller has escaped the arguments. */
export function sayUsage(text: string): void {
  if (!isStructured()) io().stderr.write(text);
  else if (text.startsWith('error: ')) {
    writeMessage({ type: 'error', code: 'USAGE', exit_code: 2, message: text.slice(7).trimEnd() });
  }
}

/** Returns true if each line of standard error is a JSON object: see docs/cli.md. */
export const isStructured = (): boolean => process.env.FOLKMOOT_STDERR === 'ndjson';

/** Writes a message for programs. Its `type` is note, progress or error. */
export function writeMessage(message: { type: string; [member: string]: unknown }): void {
  io().stderr.write(textOf([JSON.stringify(message)]));
}

/** Writes a value to standard output as one line of JSON. */
export const printJson = (value: unknown): void => writeStdout(JSON.stringify(value));

export function writeStderr(...lines: readonly string[]): void {
  if (!isStructured()) io().stderr.write(textOf(lines));
  else for (const text of lines) writeMessage({ type: 'note', text });
}

/** Breaks a text into lines of at most `columns` characters. */
export function wrapWords(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

/** Minimum terminal width, because a redrawn line must not wrap. */
const NARROWEST = 80;

/** Returns true if standard error is a terminal that can redraw a line. */
export function canRedraw(): boolean {
  const { isTTY, columns = 0 } = io().stderr;
  return Boolean(isTTY) && process.env.TERM !== 'dumb' && columns >= NARROWEST;
}

/** Replaces the current line of standard error. An empty line clears it. */
export function redraw(line: string): void {
  io().stderr.write(`\r\u001b[K${escapeControls(line)}`);
}

export function damageText(folder: string, { seq, what, which }: Divergence): string {
  const where = `${what}${which === undefined ? '' : ` (${which})`} of entry ${seq}`;
  const advice = 'see folkmoot replay, or restore the folder from a copy';
  return `${folder}: damaged: ${where} does not match the log; ${advice}`;
}
