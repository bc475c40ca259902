/** The grid once more, as a table: fifty rows at a time, in the order that a reader wants. */
import { shown } from '../../../report/shared/numbers.js';
import { agents } from '../../data/store.js';
import { groupOf, groups } from '../../parts/grid/groups.js';
import { decisionOf, nameOf, reputationOf, statusOf } from '../../parts/grid/words.js';
import { plain } from '../../parts/text.js';
import { useChoice, usePage } from '../../route/choice.js';

const ROWS = 50;

interface Column {
  name: string;
  numeric: boolean;
  value(number: number): string | number;
  show(number: number): string;
}

const words = (name: string, value: (number: number) => string): Column => ({
  name,
  numeric: false,
  value,
  show: value,
});
const count = (name: string, value: (number: number) => number): Column => ({
  name,
  numeric: true,
  value,
  show: (number) => shown(value(number)),
});

const group = words('group', (number) => plain(groupOf(number), 32));
const everywhere: readonly Column[] = [
  words('name', nameOf),
  words('personality', (number) => plain(agents.rows[number]!.personality, 32)),
  words('this block', decisionOf),
  words('status', statusOf),
  count('reputation', reputationOf),
  count('votes', (number) => agents.votes[number]!),
  count('memes', (number) => agents.memes[number]!),
  count('blocks', (number) => agents.produced[number]!),
];

interface TableProps {
  chosen: number | null;
  onChoose(number: number): void;
}

export function AgentTable({ chosen, onChoose }: TableProps) {
  agents.version.value;
  const columns = groups.value ? [...everywhere, group] : everywhere;
  const [sorted, sort] = useChoice('sort');
  const sorting = sortingOf(sorted, columns);
  const [page, turn] = usePage();
  const total = agents.count.value;
  const order = ordered(total, sorting && columns[sorting.column], sorting?.down ?? false);
  const pages = Math.max(1, Math.ceil(total / ROWS));
  const here = Math.min(page, pages - 1);
  const first = here * ROWS;
  return (
    <div class="panel">
      <div class="scroll">
        <table>
          <caption>
            Agents {shown(first + 1)} to {shown(Math.min(first + ROWS, total))} of {shown(total)}
          </caption>
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th
                  key={column.name}
                  scope="col"
                  class={column.numeric ? 'number' : ''}
                  aria-sort={sortOf(sorting, index)}
                >
                  <button
                    type="button"
                    class="sort"
                    onClick={() =>
                      sort(sortText(nextSorting(sorting, index, column.numeric), columns))
                    }
                  >
                    {column.name}
                    <span aria-hidden="true">
                      {sorting?.column === index ? (sorting.down ? ' ↓' : ' ↑') : ''}
                    </span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {order.slice(first, first + ROWS).map((number) => (
              <tr key={number} class={number === chosen ? 'chosen' : ''}>
                {columns.map((column, index) =>
                  index === 0 ? (
                    <th key={column.name} scope="row">
                      <button type="button" class="plain" onClick={() => onChoose(number)}>
                        <bdi>{column.show(number)}</bdi>
                      </button>
                    </th>
                  ) : (
                    <td key={column.name} class={column.numeric ? 'number' : ''}>
                      {column.show(number)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <p class="pages">
          <button
            type="button"
            class="button"
            disabled={first === 0}
            onClick={() => turn(here - 1)}
          >
            Before
          </button>{' '}
          page {here + 1} of {pages}{' '}
          <button
            type="button"
            class="button"
            disabled={here >= pages - 1}
            onClick={() => turn(here + 1)}
          >
            Next
          </button>
        </p>
      )}
    </div>
  );
}

type Sorting = { column: number; down: boolean } | null;

/** As an address says it: the name of a column, with `-` before it from the end. */
function sortingOf(text: string | null, columns: readonly Column[]): Sorting {
  const down = text?.startsWith('-') ?? false;
  const column = columns.findIndex(({ name }) => name === text?.slice(down ? 1 : 0));
  return column < 0 ? null : { column, down };
}

const sortText = (sorting: Sorting, columns: readonly Column[]): string | null =>
  sorting && `${sorting.down ? '-' : ''}${columns[sorting.column]!.name}`;

/** Numbers from the largest, words from the first; the third time, in order of registration. */
function nextSorting(sorting: Sorting, column: number, numeric: boolean): Sorting {
  if (sorting?.column !== column) return { column, down: numeric };
  return sorting.down === numeric ? { column, down: !numeric } : null;
}

const sortOf = (sorting: Sorting, column: number) =>
  sorting?.column !== column ? 'none' : sorting.down ? 'descending' : 'ascending';

function ordered(total: number, column: Column | null | undefined, down: boolean): number[] {
  const all = Array.from({ length: total }, (_, number) => number);
  if (!column) return all;
  const values = all.map(column.value);
  const sign = down ? -1 : 1;
  return all.sort((one, other) => {
    const [a, b] = [values[one]!, values[other]!];
    return a === b ? one - other : a < b ? -sign : sign;
  });
}
