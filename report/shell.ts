/** Builds command lines for pasting, quoted for a POSIX shell. */

const plain = /^[\w./:=@%+-]+$/;

const quoted = (word: string): string =>
  plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

export const shellLine = (words: readonly string[]): string => words.map(quoted).join(' ');

/** Builds a folkmoot command line. The page footer says where `npx folkmoot` works. */
export const commandLine = (...words: readonly string[]): string =>
  shellLine(['npx', 'folkmoot', ...words]);
