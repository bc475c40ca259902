/** What was not accepted, by what became of it. */
import type { LoadFailure, LoadFigures } from '../../../api/view/load.js';
import { shown } from '../../../report/shared/numbers.js';
import { Figure, Rows } from '../../parts/lists/figure.js';
import { plain } from '../../parts/text.js';
import { percent } from './words.js';

const ends: Record<LoadFailure['what'], string> = {
  refused: 'refused',
  lie: 'answered 2xx without the data',
  timed_out: 'timed out',
  broken: 'connection broke',
  unfinished: 'unfinished',
};

const SHOWN = 8;

export function Failures({ figures }: { figures: LoadFigures }) {
  const { failures, failures_omitted: more, operations } = figures;
  const answered = operations.reduce((sum, { accepted, failed }) => sum + accepted + failed, 0);
  if (failures.length === 0) {
    return (
      <section class="panel" aria-labelledby="load-failures">
        <header>
          <h2 id="load-failures">What was not accepted</h2>
        </header>
        <p>
          {answered === 0
            ? 'Nothing has been answered yet.'
            : `Nothing: all ${shown(answered)} requests that were answered were accepted.`}
        </p>
      </section>
    );
  }
  const kinds = failures.length + more;
  const rest = kinds > SHOWN ? ` The ${shown(kinds - SHOWN)} rarer ones are in the table.` : '';
  return (
    <Figure
      title="What was not accepted"
      caption={
        'Requests that were refused, with status, code and reason; that timed out or broke; and ' +
        `lies: answers of success without what the interface promises.${rest}`
      }
      picture={() => <Bars failures={failures.slice(0, SHOWN)} />}
      table={() => <Table failures={failures} more={more} />}
    />
  );
}

function Bars({ failures }: { failures: readonly LoadFailure[] }) {
  const most = failures[0]?.count ?? 1;
  return (
    <ul class="load-bars">
      {failures.map((one, index) => (
        <li key={index}>
          <span>
            <bdi>{nameOf(one)}</bdi>
          </span>
          <b>{shown(one.count)}</b>
          <i style={{ width: `${(100 * one.count) / most}%` }} />
        </li>
      ))}
    </ul>
  );
}

const nameOf = ({ operation, what, status, code, reason }: LoadFailure): string => {
  const why = [status, code, reason].filter((word) => word !== null && word !== '-');
  return `${plain(operation, 40)}: ${what === 'refused' ? plain(why.join(' '), 120) : ends[what]}`;
};

function Table({ failures, more }: { failures: readonly LoadFailure[]; more: number }) {
  return (
    <>
      <Rows
        caption="Requests that were not accepted, the most frequent first"
        head={['operation', 'what', 'status', 'code', 'reason', 'requests', 'of sent']}
        numeric={[2, 5, 6]}
        rows={failures.map((one) => [
          plain(one.operation, 40),
          ends[one.what],
          one.status ?? '–',
          <bdi key="code">{plain(one.code ?? '–', 80)}</bdi>,
          <bdi key="reason">{plain(one.reason ?? '–', 120)}</bdi>,
          shown(one.count),
          percent(one.share),
        ])}
      />
      {more > 0 && <p>{shown(more)} kinds more are in errors.csv of --out.</p>}
    </>
  );
}
