/** A ranking as it is in a ballot. */
export type RankingItems = readonly (string | readonly string[])[];

/** Returns the ranking that joins each option to the tier above it where `joins` says so. */
export function joinTiers(order: readonly string[], joins: readonly boolean[]): RankingItems {
  const tiers: string[][] = [];
  for (const [at, name] of order.entries()) {
    if (at > 0 && joins[at]) tiers.at(-1)!.push(name);
    else tiers.push([name]);
  }
  return tiers.map((tier) => (tier.length === 1 ? tier[0]! : tier));
}
