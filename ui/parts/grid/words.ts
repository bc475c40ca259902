/** What a cell says, in words: for its tip, for who listens, and for the table. */
import { approves, DORMANT, rejects } from '../../data/messages.js';
import { agents } from '../../data/store.js';
import { plain } from '../text.js';

export const nameOf = (number: number): string => plain(agents.rows[number]?.name ?? '', 48);

export function decisionOf(number: number): string {
  const said = agents.decision[number];
  if (said === approves) return 'approves';
  if (said === rejects) return 'rejects';
  if (!agents.rows[number]?.validator) return 'does not vote';
  return agents.status[number] === 0 ? 'has not voted' : 'is away';
}

export function statusOf(number: number): string {
  const code = agents.status[number]!;
  if (code & DORMANT) return 'dormant';
  return ['active', 'inactive', 'maintenance'][code] ?? '';
}

export const reputationOf = (number: number): number =>
  Math.round(agents.reputation[number]! / 1_000) / 10;

export function sentenceOf(number: number): string {
  const row = agents.rows[number];
  if (!row) return '';
  const kind = plain(row.personality, 32);
  const standing = `reputation ${reputationOf(number)}, ${statusOf(number)}`;
  return `${nameOf(number)}, ${kind}, ${decisionOf(number)}, ${standing}`;
}
