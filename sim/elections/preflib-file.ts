/** Writes ballots as a PrefLib file of the most restrictive type that fits all orders. */
import type { ElectionData, OrderType, Preference } from './election-data.js';

export interface PrefLibFile {
  type: OrderType;
  text: string;
}

interface Described extends Pick<ElectionData, 'title' | 'alternatives'> {
  ballots: readonly { count: number; ballot: Preference }[];
  /** File name without its extension. */
  name: string;
  description?: string;
  /** Origin of the data. */
  modification?: 'original' | 'imbued' | 'induced' | 'synthetic';
  /** Date of the data, as YYYY-MM-DD; empty if unknown. */
  date?: string;
}

/**
 * Writes a PrefLib file. Equal orders become one line, and frequent orders come first. An order
 * without tiers has no preference: all its alternatives are tied. Points are not part of the
 * format; they count only as an order.
 */
export function writePrefLib(data: Described): PrefLibFile {
  const { alternatives } = data;
  const orders = countOrders(data);
  const isStrict = orders.every(({ tiers }) => tiers.every(({ length }) => length === 1));
  const isComplete = orders.every(
    ({ tiers }) => tiers.reduce((sum, { length }) => sum + length, 0) === alternatives.length,
  );
  const type = `${isStrict ? 's' : 't'}o${isComplete ? 'c' : 'i'}` as OrderType;
  const voters = orders.reduce((sum, { count }) => sum + count, 0);
  const { name, title, description = '', modification = 'original', date = '' } = data;
  const header: [key: string, value: string | number][] = [
    ['FILE NAME', `${name}.${type}`],
    ['TITLE', title],
    ['DESCRIPTION', description],
    ['DATA TYPE', type],
    ['MODIFICATION TYPE', modification],
    ['RELATES TO', ''],
    ['RELATED FILES', ''],
    ['PUBLICATION DATE', date],
    ['MODIFICATION DATE', date],
    ['NUMBER ALTERNATIVES', alternatives.length],
    ['NUMBER VOTERS', voters],
    ['NUMBER UNIQUE ORDERS', orders.length],
    ...alternatives.map((one, at): [string, string] => [`ALTERNATIVE NAME ${at + 1}`, one]),
  ];
  const lines = [
    ...header.map(([key, value]) => `# ${key}: ${plainText(value)}`.trimEnd()),
    ...orders.map(({ count, order }) => `${count}: ${order}`),
  ];
  return { type, text: `${lines.join('\n')}\n` };
}

/** Replaces control characters, because a line feed would begin a new line of the file. */
const plainText = (value: string | number): string =>
  String(value)
    .replace(/\p{Cc}+/gu, ' ')
    .trim();

interface CountedOrder {
  count: number;
  order: string;
  tiers: readonly (readonly number[])[];
}

function countOrders({ alternatives, ballots }: Described): CountedOrder[] {
  const all = alternatives.map((_, position) => position);
  const orders = new Map<string, CountedOrder>();
  for (const { count, ballot } of ballots) {
    const tiers = ballot.tiers.length === 0 ? [all] : ballot.tiers;
    const order = formatOrder(tiers);
    const known = orders.get(order);
    if (known) known.count += count;
    else orders.set(order, { count, order, tiers });
  }
  return [...orders.values()].sort(
    (one, other) => other.count - one.count || (one.order < other.order ? -1 : 1),
  );
}

function formatOrder(tiers: readonly (readonly number[])[]): string {
  const formatted = tiers.map((tier) => {
    const numbers = tier.map((position) => position + 1).sort((one, other) => one - other);
    return numbers.length === 1 ? String(numbers[0]) : `{${numbers.join(',')}}`;
  });
  return formatted.join(',');
}
