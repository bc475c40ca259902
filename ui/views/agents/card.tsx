/** The agent that was chosen, at a glance. */
import { shown } from '../../../report/shared/numbers.js';
import { agents } from '../../data/store.js';
import { groupOf, groups } from '../../parts/grid/groups.js';
import { decisionOf, nameOf, reputationOf, statusOf } from '../../parts/grid/words.js';
import { plain } from '../../parts/text.js';
import { href } from '../../route/router.js';

export function Card({ number, onClose }: { number: number; onClose: () => void }) {
  agents.version.value;
  const row = agents.rows[number];
  if (!row) return null;
  const can = [row.validator && 'votes', row.producer && 'proposes blocks'].filter(Boolean);
  const facts: [string, string][] = [
    ['personality', plain(row.personality, 32)],
    ...(groups.value ? [['group', plain(groupOf(number), 32)] as [string, string]] : []),
    ['status', statusOf(number)],
    ['this block', decisionOf(number)],
    ['reputation', `${shown(reputationOf(number))} of 100`],
    ['votes', shown(agents.votes[number]!)],
    ['memes', shown(agents.memes[number]!)],
    ['blocks produced', shown(agents.produced[number]!)],
    ['may', can.length === 0 ? 'look on' : can.join(', ')],
  ];
  return (
    <aside class="panel card" aria-label="The agent that was chosen">
      <header>
        <h2>
          <bdi>{nameOf(number)}</bdi>
        </h2>
        <code class="faint">{row.id.slice(0, 22)}…</code>
        <a class="button" href={href('agent', row.id)}>
          All about it
        </a>
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </header>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}
