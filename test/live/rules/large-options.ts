/** Options that fill a proposal of the largest size. */
export interface LargeOption {
  name: string;
  state_diff?: { additions: Record<string, unknown> };
}

const OPTIONS = 16;
const KEYS = 1_000;
/** Largest proposal, and the space for its other members. */
const PROPOSAL_BYTES = 2 * 1024 * 1024;
const REST_BYTES = 2_048;

/** Returns 16 options with 1,000 keys each. */
export function largeOptions(): LargeOption[] {
  const options = Array.from({ length: OPTIONS }, (_, at): LargeOption => {
    const name = `option-${at}`;
    const keys = Array.from({ length: KEYS - 2 }, (_, key) => [`${name}/${key}`, '']);
    const own = { last: name, [`only-${name}`]: true };
    return { name, state_diff: { additions: { ...own, ...Object.fromEntries(keys) } } };
  });
  const left = PROPOSAL_BYTES - REST_BYTES - Buffer.byteLength(JSON.stringify(options));
  // Texts of equal length fill the rest.
  const length = Math.floor(left / (OPTIONS * (KEYS - 2)));
  for (const { name, state_diff } of options) {
    for (const key of Object.keys(state_diff!.additions)) {
      if (key.startsWith(`${name}/`)) state_diff!.additions[key] = 'x'.repeat(length);
    }
  }
  return options;
}

export const namesOf = (options: readonly LargeOption[]): string[] =>
  options.map(({ name }) => name);
