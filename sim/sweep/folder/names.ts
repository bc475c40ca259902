/** What a sweep's files are called, from its folder on: one a run, which may have a cassette. */

export interface RunName {
  /** Of its cell. */
  key: string;
  replicate: number;
}

/** Cassettes of the runs, in their folder and in the one that answers are taken from. */
export const CASSETTES = 'cassettes';

const stem = ({ key, replicate }: RunName): string => `${key}-${replicate}`;

export const runFile = (run: RunName): string => `${stem(run)}.json`;
export const runPath = (run: RunName): string => `runs/${runFile(run)}`;
export const cassettePath = (run: RunName): string => `${CASSETTES}/${stem(run)}.cassette`;

/** Null for the name of anything else. */
export function runNamed(file: string): RunName | null {
  const [, key, replicate] = /^([0-9a-f]{16})-([1-9]\d{0,5})\.json$/.exec(file) ?? [];
  return key === undefined ? null : { key, replicate: Number(replicate) };
}
