/** Facts and tables of a load run; the failures as bars, and the search as marks. */
import type { LoadFacts, LoadTable } from '../../api/contract/load.js';
import { format, formatValue } from '../../report/shared/format.js';
import { countScale, DotKey, Dots } from '../components/chart.js';
import { cleanText } from '../components/labels.js';
import { Fact, Figure, Panel, Rows, Scroll } from '../components/lists.js';

const MOST_TEXT = 200;

export const FactPanel = ({ facts: { title, rows } }: { facts: LoadFacts }) => (
  <Panel title={title}>
    <dl class="facts">
      {rows.map(({ name, value, unit, note }) => (
        <Fact key={name} name={name}>
          <bdi>{cleanText(formatValue(value, unit), MOST_TEXT)}</bdi>
          {note !== '' && <span class="faint"> ({cleanText(note, MOST_TEXT)})</span>}
        </Fact>
      ))}
    </dl>
  </Panel>
);

export const TablePanel = ({ table }: { table: LoadTable }) => (
  <Panel title={table.title}>
    <Scroll name={`${table.title}, as a table`}>
      <Cells table={table} />
    </Scroll>
  </Panel>
);

function Cells({ table: { title, note, columns, rows } }: { table: LoadTable }) {
  return (
    <>
      <Rows
        caption={title}
        head={columns.map(({ name }) => name)}
        numeric={columns.flatMap(({ unit }, index) => (unit === 'text' ? [] : index))}
        rows={rows.map((cells) =>
          cells.map((cell, index) => (
            <bdi key={index}>{cleanText(formatValue(cell, columns[index]!.unit), MOST_TEXT)}</bdi>
          )),
        )}
      />
      {note !== '' && <p>{note}</p>}
    </>
  );
}

const BARS = 8;

export function Failures({ table }: { table: LoadTable }) {
  const bars = table.rows.slice(0, BARS).map(([operation, ...cells]) => {
    const why = cells.slice(0, 4).filter((cell) => cell !== null && cell !== 'refused');
    return { text: `${operation}: ${why.join(' ')}`, count: Number(cells[4]) };
  });
  const most = bars[0]!.count;
  return (
    <Figure
      title={table.title}
      caption="Requests that were not accepted, by status, code and reason, or by how they ended."
      chart={() => (
        <ul class="load-bars">
          {bars.map(({ text, count }, index) => (
            <li key={index}>
              <span>
                <bdi>{cleanText(text, MOST_TEXT)}</bdi>
              </span>
              <b>{format(count)}</b>
              <i style={{ width: `${(100 * count) / most}%` }} />
            </li>
          ))}
        </ul>
      )}
      table={() => <Cells table={table} />}
    />
  );
}

interface SearchProps {
  /** Absent before the first probe ended. */
  table: LoadTable | undefined;
  /** Rate under test; null between two probes. */
  rate: number | null;
}

export function Search({ table, rate }: SearchProps) {
  const dots = (table?.rows ?? []).map(([bracket, asked, had, , holds]) => ({
    ...{ asked: Number(asked), had: Number(had), full: holds === 'yes' },
    series: Number(bracket) - 1,
  }));
  const most = dots.reduce((top, one) => Math.max(top, one.asked, one.had), rate ?? 0);
  const brackets = [...new Set(dots.map(({ series }) => series))];
  return (
    <Figure
      title="Search for the sustained rate"
      caption={
        'Accepted and scheduled rate of each probe: filled if the rate held, hollow if not. ' +
        'On the dashed line all arrivals were accepted.'
      }
      chart={() => (
        <>
          <ul class="load-brackets">
            {rate !== null && <li>Testing {formatValue(rate, 'per_s')}.</li>}
            {brackets.map((series) => (
              <li key={series}>
                <DotKey series={series} /> bracket {series + 1}
              </li>
            ))}
          </ul>
          {dots.length === 0 ? (
            <p class="faint">No finished probes yet.</p>
          ) : (
            <Dots
              label="Accepted and scheduled rates. The same data is in the table."
              dots={dots}
              scale={countScale('accepted per second', most)}
              most={most}
              across="scheduled per second"
            />
          )}
        </>
      )}
      table={() => (table ? <Cells table={table} /> : <p class="faint">No finished probes yet.</p>)}
    />
  );
}
