/** By the policy of vetoes: which personalities are about to stop the block together. */
import { rejects } from '../../data/messages.js';
import { agents } from '../../data/store.js';
import { plain } from '../../parts/text.js';

/** A group of fewer has no veto. */
const LEAST = 3;
const SHOWN = 4;

export function Vetoes() {
  agents.version.value;
  const groups = nearest();
  if (groups.length === 0) return null;
  return (
    <p class="vetoes">
      A personality of three or more that rejects as one stops it. Nearest:{' '}
      {groups.map(({ name, all, against }, index) => (
        <span key={name}>
          {index > 0 ? ', ' : ''}
          <b>{plain(name, 32)}</b> {against} of {all}
        </span>
      ))}
      .
    </p>
  );
}

function nearest() {
  const groups = new Map<string, { name: string; all: number; against: number }>();
  for (let number = 0; number < agents.count.value; number += 1) {
    const { personality: name = '', validator } = agents.rows[number] ?? {};
    if (!validator || agents.status[number] !== 0) continue;
    const group = groups.get(name) ?? { name, all: 0, against: 0 };
    group.all += 1;
    if (agents.decision[number] === rejects) group.against += 1;
    groups.set(name, group);
  }
  return [...groups.values()]
    .filter(({ all, against }) => all >= LEAST && against > 0)
    .sort((one, other) => other.against / other.all - one.against / one.all)
    .slice(0, SHOWN);
}
