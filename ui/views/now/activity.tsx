/** How much happens, and how it went so far. */
import { shown } from '../../../report/shared/numbers.js';
import { agents, passing, totals } from '../../data/store.js';

export function Activity() {
  const { events, votes } = passing.value;
  const all = totals.value!;
  const rows: [string, string, string?][] = [
    ['agents', shown(agents.count.value)],
    ['events a second', perSecond(events)],
    ['votes a second', perSecond(votes)],
    ['final transactions', shown(all.transactions)],
    ['blocks finalized', shown(all.finalized), 'finalized'],
    ['rejected', shown(all.rejected), 'rejected'],
    ['expired', shown(all.expired), 'expired'],
    ['orphaned', shown(all.orphaned), 'orphaned'],
  ];
  return (
    <section class="panel activity" aria-labelledby="activity">
      <header>
        <h2 id="activity">So far</h2>
      </header>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const perSecond = (value: number | null) =>
  shown(value === null ? null : value >= 10 ? Math.round(value) : Math.round(value * 10) / 10);
