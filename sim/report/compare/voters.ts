/** Agents that voted otherwise in the other future. */
import { type Html, html } from '../../../report/html.js';
import { facts, section, table } from '../../../report/page.js';
import { shown } from '../../../report/shared/numbers.js';
import type { Futures } from '../../compare/index.js';

/** Seen at once; and in all. */
const FIRST = 15;
const MOST_VOTERS = 1_000;

export function votersSection({ votes, voters }: Futures): Html {
  const counts = facts([
    { name: 'the same vote in both', value: shown(votes.same) },
    { name: 'flipped', value: shown(votes.flipped) },
    { name: 'in A only', value: shown(votes.only_a) },
    { name: 'in B only', value: shown(votes.only_b) },
  ]);
  const turned = voters.filter(({ flipped }) => flipped > 0).length;
  const says = html`<p>Votes of one agent on blocks of one number, which may be other blocks:
${shown(turned)} agents approved in one run what they rejected in the other,
${shown(voters.length - turned)} more voted in one run only.</p>\n`;
  if (voters.length === 0) return section('Votes', says, counts);
  const number = (name: string) => ({ name, kind: 'number' }) as const;
  const columns = [
    { name: 'agent', kind: 'text' },
    { name: 'group', kind: 'text' },
    ...['flipped', 'in A only', 'in B only', 'the same'].map(number),
  ] as const;
  const rows = voters.slice(0, MOST_VOTERS).map((one) => {
    const { name, agent_id, group, flipped, only_a, only_b, same } = one;
    return [name || agent_id, group, ...[flipped, only_a, only_b, same].map(shown)];
  });
  const left = voters.length - rows.length;
  const all = html`<details>
<summary>${shown(rows.length - FIRST)} more</summary>
${table('More agents that voted otherwise', columns, rows.slice(FIRST))}${
  left > 0 ? html`<p>${shown(left)} more: folkmoot compare --json has all.</p>\n` : null
}</details>\n`;
  return section(
    'Votes',
    says,
    counts,
    table('Agents that voted otherwise, most flipped votes first', columns, rows.slice(0, FIRST)),
    rows.length > FIRST ? all : null,
  );
}
