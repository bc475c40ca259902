/** A picture with its caption, and the same as a table for who reads that better. */
import type { ComponentChildren } from 'preact';
import { useAmong } from '../../route/choice.js';
import { Scroll } from './scroll.js';

interface FigureProps {
  title: string;
  /** What is seen, and how to read it. */
  caption: ComponentChildren;
  picture: () => ComponentChildren;
  table: () => ComponentChildren;
  /** Controls of the picture. */
  children?: ComponentChildren;
}

export function Figure({ title, caption, picture, table, children }: FigureProps) {
  const [asTable, turn] = useAmong('table', title.toLowerCase().replace(/[^a-z]+/g, '-'));
  return (
    <figure class="panel figure" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {children}
        <button
          type="button"
          class="button twin"
          aria-pressed={asTable}
          aria-label={`${title} as a table`}
          onClick={() => turn(!asTable)}
        >
          Table
        </button>
      </header>
      {asTable ? <Scroll name={`${title}, as a table`}>{table()}</Scroll> : picture()}
      <figcaption class="faint">{caption}</figcaption>
    </figure>
  );
}

interface RowsProps {
  caption: string;
  head: readonly string[];
  /** Which columns are numbers. */
  numeric?: readonly number[];
  rows: readonly (readonly ComponentChildren[])[];
}

/** Rows under names; the first cell of each says what the row is about. */
export function Rows({ caption, head, rows, numeric = [] }: RowsProps) {
  const kind = (column: number) => (numeric.includes(column) ? 'number' : '');
  return (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {head.map((name, column) => (
            <th key={name} scope="col" class={kind(column)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, column) =>
              column === 0 ? (
                <th key={column} scope="row" class={kind(column)}>
                  {cell}
                </th>
              ) : (
                <td key={column} class={kind(column)}>
                  {cell}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
