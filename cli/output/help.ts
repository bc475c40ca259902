/**
 * Help texts. Every line is at most 80 columns wide. Every command shows three to five examples and
 * refers to the single table of exit codes, which `folkmoot help exit-codes` prints.
 */
import { exitCodes, exitCodeTexts } from './exit.js';

export interface HelpText {
  /** Paragraphs between the options and the examples. */
  notes?: string;
  /** Command lines without the program name. A long command line continues on an indented line. */
  examples: readonly string[];
}

/** Formats the text that follows a command's options. */
export function helpText({ notes, examples }: HelpText): string {
  const lines = examples.map((example) => `  $ folkmoot ${example}`).join('\n');
  const paragraphs = notes === undefined ? '' : `\n${notes.trim()}\n`;
  return `${paragraphs}\nExamples:\n${lines}\n\nExit codes: folkmoot help exit-codes`;
}

/** Width of the column before a code's meaning. */
const INDENT = 6;
const COLUMNS = 80;

/** Formats the table of exit codes. */
export function exitCodesHelp(): string {
  const rows = Object.entries(exitCodes).map(([name, code]) => {
    const text = exitCodeTexts[name as keyof typeof exitCodes];
    return `  ${String(code).padEnd(INDENT - 2)}${wrapped(text).join(`\n${' '.repeat(INDENT)}`)}`;
  });
  return `Exit codes of all commands:\n\n${rows.join('\n')}\n`;
}

function wrapped(text: string): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line === '') lines[lines.length - 1] = word;
    else if (INDENT + line.length + 1 + word.length > COLUMNS) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
