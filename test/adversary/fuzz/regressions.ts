/** Exchanges that once failed, retained as regression cases. */
export const kept: readonly string[] = [
  // A form without a response, and cursors that were not keys.
  '1786536909/refused/253',
  '874580259/any/4884',
  '874580259/any/6303',
];
