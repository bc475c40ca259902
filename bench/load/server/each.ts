/** Works through many, some at a time. */

/** The first failure ends it. */
export async function eachOf<T>(
  all: readonly T[],
  atATime: number,
  work: (one: T, index: number) => Promise<unknown>,
): Promise<void> {
  const waiting = all.entries();
  const lane = async () => {
    for (const [index, one] of waiting) await work(one, index);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
}
