/**
 * The one door through which the command line writes. What it is given are lines, and nothing in
 * them steers a terminal, whoever wrote it: a server, a file, or an argument.
 */

import { once } from 'node:events';
import type { Divergence } from '../../engine/replay/recompute.js';
import { io } from './io.js';

/**
 * C0 (a line feed inside a line too), DEL, C1, what changes the direction of text, and what some
 * take for the end of a line.
 */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const short: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

/** As JSON writes such characters in its texts: JSON stays JSON, and means the same. */
export const escapeControls = (line: string): string =>
  line.replace(
    steering,
    (one) => short[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const textOf = (lines: readonly string[]): string =>
  lines.map((line) => `${escapeControls(line)}\n`).join('');

/** Lines on standard output. */
export function writeStdout(...lines: readonly string[]): void {
  io().stdout.write(textOf(lines));
}

/** The same of much, or of many: settles when there is room for more. */
export async function writeStdoutAsync(...lines: readonly string[]): Promise<void> {
  const { stdout } = io();
  if (lines.length === 0 || stdout.write(textOf(lines))) return;
  await once(stdout, 'drain');
}

/** All that was written to standard output has left. */
export async function flushStdout(): Promise<void> {
  await new Promise<void>((resolve) => io().stdout.write('', () => resolve()));
}

/** Help on standard output, as commander lays it out; it holds no text of others. */
export const printHelp = (text: string): void => void io().stdout.write(text);

/** Help or a usage error on standard error; what the user wrote in it is escaped already. */
export const sayUsage = (text: string): void => void io().stderr.write(text);

/** A value as one line of JSON on standard output. */
export const printJson = (value: unknown): void => writeStdout(JSON.stringify(value));

/** Lines on standard error. */
export function writeStderr(...lines: readonly string[]): void {
  io().stderr.write(textOf(lines));
}

/** Columns below which lines that are drawn again would wrap. */
const NARROWEST = 80;

/** Whether standard error is a terminal on which a line can be drawn again. */
export function canRedraw(): boolean {
  const { isTTY, columns = 0 } = io().stderr;
  return Boolean(isTTY) && process.env.TERM !== 'dumb' && columns >= NARROWEST;
}

/** A line on standard error that the next one replaces; an empty one leaves nothing. */
export function redraw(line: string): void {
  io().stderr.write(`\r\u001b[K${escapeControls(line)}`);
}

export function damageText(folder: string, { seq, what, which }: Divergence): string {
  const where = `${what}${which === undefined ? '' : ` (${which})`} of entry ${seq}`;
  const advice = 'folkmoot replay shows more; restore the folder from a copy';
  return `${folder}: damaged: ${where} is not what it was; ${advice}`;
}
