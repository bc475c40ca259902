/** Command lines to paste, quoted for a POSIX shell. */

const plain = /^[\w./:=@%+-]+$/;

const quoted = (word: string): string =>
  plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

export const commandLine = (...words: readonly string[]): string =>
  ['npx', 'folkmoot', ...words].map(quoted).join(' ');
