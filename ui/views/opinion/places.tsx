/** The map as a table: who stands where, the farthest from the middle first. */
import { agents } from '../../data/store.js';
import { Rows } from '../../parts/lists/figure.js';
import { Pages, pageOf } from '../../parts/lists/pages.js';
import { plain } from '../../parts/text.js';
import { Who } from '../../parts/who.js';
import type { Opinion } from '../../player/answers/opinion.js';
import { usePage } from '../../route/choice.js';

export function Places({ opinion, names }: { opinion: Opinion; names: [string, string] }) {
  const [page, turn] = usePage();
  const { agents: numbers, x, y } = opinion;
  const order = [...numbers.keys()].sort(
    (one, other) => Math.hypot(x[other]!, y[other]!) - Math.hypot(x[one]!, y[one]!),
  );
  return (
    <>
      <Rows
        caption="Agents by their place, the farthest from the middle first"
        head={['agent', 'personality', names[0], names[1]]}
        numeric={[2, 3]}
        rows={pageOf(order, page).map((place) => [
          <Who number={numbers[place]!} />,
          plain(agents.rows[numbers[place]!]?.personality ?? '', 32),
          x[place]!.toFixed(2),
          y[place]!.toFixed(2),
        ])}
      />
      <Pages of={order.length} page={page} onTurn={turn} />
    </>
  );
}
