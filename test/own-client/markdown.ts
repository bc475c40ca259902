/** Extracts code from documents, so that tests run the documented code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/paths.js';

export const document = (path: string) => readFileSync(join(root, path), 'utf8');

/** Returns the fenced blocks of a language, in order. */
export function fenced(text: string, language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...text.matchAll(pattern)].map(([, code]) => code!);
}

/** Returns the section of a second-level heading. */
export function section(text: string, heading: string): string {
  const [, after] = text.split(`\n## ${heading}\n`);
  if (after === undefined) throw new Error(`no section is named ${heading}`);
  return after.split(/\n## /, 1)[0]!;
}
