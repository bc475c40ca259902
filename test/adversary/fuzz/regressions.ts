/** Names of exchanges that a server once failed: they stay as cases. */
export const kept: readonly string[] = [
  // A form that was never answered, and cursors that were no keys.
  '1786536909/refused/253',
  '874580259/any/4884',
  '874580259/any/6303',
];
