/** Times by percentile, of all that was measured. */
import type { LoadTimes } from '../../../api/view/load.js';
import { shown, time } from '../../../report/shared/numbers.js';
import { Rows } from '../../parts/lists/figure.js';
import { Scroll } from '../../parts/lists/scroll.js';
import { plain } from '../../parts/text.js';

const what: Record<LoadTimes['time'], string> = {
  response: 'response',
  service: 'service',
  finality: 'finality of transactions',
  delivery: 'delivery to subscribers',
  lag: 'lag of the generator',
};

export function Times({ times }: { times: readonly LoadTimes[] }) {
  return (
    <section class="panel" aria-labelledby="load-times">
      <header>
        <h2 id="load-times">Times by percentile</h2>
        <p>
          Response runs from when a request was meant to be sent, service from when it was sent:
          what lies between is waiting that a user has too.
        </p>
      </header>
      {times.length === 0 ? (
        <p class="faint">Nothing has been answered yet.</p>
      ) : (
        <Scroll name="Times, operation by operation">
          <Rows
            caption="Of all that was answered so far"
            head={['time', 'samples', 'median', 'p95', 'p99', 'longest']}
            numeric={[1, 2, 3, 4, 5]}
            rows={times.map((one) => [
              one.operation === null
                ? what[one.time]
                : `${plain(one.operation, 40)}, ${what[one.time]}`,
              shown(one.count),
              ...[one.p50, one.p95, one.p99, one.max].map(time),
            ])}
          />
        </Scroll>
      )}
    </section>
  );
}
