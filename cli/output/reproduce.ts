/** Command lines for a user to paste: quoted for a POSIX shell, values as `--set` reads them. */
const plain = /^[\w./:=@%+-]+$/;

const quoted = (word: string): string =>
  plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** `--set` reads JSON, and what is none as a text. */
function valueText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

/** How to run one run of a sweep by itself. */
export function simCommandLine(
  file: string,
  seed: string,
  values: readonly (readonly [path: string, value: unknown])[] = [],
): string {
  const sets = values.flatMap(([path, value]) => ['--set', `${path}=${valueText(value)}`]);
  return ['npx', 'folkmoot', 'sim', file, '--seed', seed, ...sets].map(quoted).join(' ');
}
