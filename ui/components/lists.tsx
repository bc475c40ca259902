/**
 * Shared panels, figures, tables and lists: a chart with its data as a table, named facts, buttons,
 * pages of rows, and long lists of links with a roving tab index.
 */
import type { ComponentChildren, ComponentProps } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { formatMs } from '../../report/shared/format.js';
import { home, type Requirement } from '../home.js';
import { useAmong, usePage } from '../route.js';
import type { Verdict } from '../verify/messages.js';
import { cleanText, toSentence, useNow } from './labels.js';

export const Button = (props: ComponentProps<'button'>) => (
  <button type="button" class="button" {...props} />
);

interface SegmentsProps<T extends string> {
  name: string;
  all: readonly T[];
  here: T;
  onChoose(one: T): void;
  /** True to hide the name and to move the buttons to the end of the line. */
  push?: boolean;
}

/** Buttons that choose one of several values. */
export function Segments<T extends string>(props: SegmentsProps<T>) {
  const { name, all, here, onChoose, push = false } = props;
  return (
    <fieldset class={push ? 'segments push' : 'segments'}>
      <legend class={push ? 'unseen' : 'faint'}>{name}</legend>
      {all.map((one) => (
        <Button key={one} aria-pressed={one === here} onClick={() => onChoose(one)}>
          {one}
        </Button>
      ))}
    </fieldset>
  );
}

interface PanelProps {
  title: string;
  /** Short text beside the title. */
  note?: ComponentChildren;
  class?: string;
  children?: ComponentChildren;
}

export function Panel({ title, note, class: look = '', children }: PanelProps) {
  return (
    <section class={`panel ${look}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note && <p>{note}</p>}
      </header>
      {children}
    </section>
  );
}

interface FigureProps {
  title: string;
  /** States the plotted quantity, its unit and n. */
  caption: ComponentChildren;
  chart: () => ComponentChildren;
  table: () => ComponentChildren;
  /** Controls in the header. */
  children?: ComponentChildren;
}

export function Figure({ title, caption, chart, table, children }: FigureProps) {
  const [asTable, turn] = useAmong('table', title.toLowerCase().replace(/[^a-z]+/g, '-'));
  return (
    <figure class="panel figure" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {children}
        <Button
          class="button twin"
          aria-pressed={asTable}
          aria-label={`${title} as a table`}
          onClick={() => turn(!asTable)}
        >
          Table
        </Button>
      </header>
      {asTable ? <Scroll name={`${title}, as a table`}>{table()}</Scroll> : chart()}
      <figcaption class="faint">{caption}</figcaption>
    </figure>
  );
}

interface RowsProps {
  caption: ComponentChildren;
  /** True to show the caption to screen readers only. */
  isNamed?: boolean;
  head: readonly ComponentChildren[];
  /** Indices of numeric columns, and of columns with long texts. */
  numeric?: readonly number[];
  wide?: readonly number[];
  rows: readonly (readonly ComponentChildren[])[];
  /** Order of each column, for a table that the reader sorts. */
  sorted?: readonly ('none' | 'ascending' | 'descending')[];
  class?: string;
  rowClass?(row: number): string;
}

/** Table with row headers in the first column. */
export function Rows(props: RowsProps) {
  const { caption, isNamed, head, rows, numeric = [], wide = [], sorted, rowClass } = props;
  const kind = (column: number) =>
    numeric.includes(column) ? 'number' : wide.includes(column) ? 'wide' : '';
  return (
    <table class={props.class}>
      <caption class={isNamed ? 'unseen' : ''}>{caption}</caption>
      <thead>
        <tr>
          {head.map((name, column) => (
            <th key={column} scope="col" class={kind(column)} aria-sort={sorted?.[column]}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...cells], row) => (
          <tr key={row} class={rowClass?.(row)}>
            <th scope="row" class={kind(0)}>
              {first}
            </th>
            {cells.map((cell, column) => (
              <td key={column} class={kind(column + 1)}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface FactProps {
  name: string;
  /** True for a long value, such as a hash, which takes the full width. */
  whole?: boolean;
  children: ComponentChildren;
}

export function Fact({ name, whole = false, children }: FactProps) {
  return (
    <div class={whole ? 'whole' : ''}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const MOST_LINES = 400;

export function Lines({ text, most = 4_000 }: { text: string; most?: number }) {
  const cut = text.slice(0, most);
  const lines = cut.split('\n').slice(0, MOST_LINES);
  const whole = cut.length === text.length && lines.length === cut.split('\n').length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must scroll it too
    <pre tabIndex={0}>
      {lines.map((line) => cleanText(line, most)).join('\n')}
      {whole ? '' : '\n…'}
    </pre>
  );
}

const PAGE_ROWS = 50;

/** Returns the rows on a page, or on the last page if `page` is past the end. */
export function slicePage<T>(rows: readonly T[], page: number): readonly T[] {
  const first = pageStart(rows.length, page);
  return rows.slice(first, first + PAGE_ROWS);
}

/** Returns the index of the first row on a page, or on the last page. */
export const pageStart = (rows: number, page: number): number =>
  Math.min(page, lastPage(rows)) * PAGE_ROWS;

const lastPage = (rows: number) => Math.max(0, Math.ceil(rows / PAGE_ROWS) - 1);

interface PagedProps<T> extends Omit<RowsProps, 'rows'> {
  all: readonly T[];
  row(one: T): readonly ComponentChildren[];
}

/** The rows of a long list, a page at a time, with the page number in the address. */
export function PagedRows<T>({ all, row, ...rows }: PagedProps<T>) {
  const [page, turn] = usePage();
  return (
    <>
      <Rows {...rows} rows={slicePage(all, page).map(row)} />
      <Pages of={all.length} page={page} onTurn={turn} />
    </>
  );
}

interface PagesProps {
  /** Total number of rows. */
  of: number;
  page: number;
  onTurn(page: number): void;
}

export function Pages({ of, page, onTurn }: PagesProps) {
  const last = lastPage(of);
  if (last === 0) return null;
  const here = Math.min(page, last);
  return (
    <p class="pages">
      <Button disabled={here === 0} onClick={() => onTurn(here - 1)}>
        Previous
      </Button>{' '}
      page {here + 1} of {last + 1}{' '}
      <Button disabled={here === last} onClick={() => onTurn(here + 1)}>
        Next
      </Button>
    </p>
  );
}

const linksIn = (part: Element): HTMLElement[] => [...part.querySelectorAll<HTMLElement>('a')];

/**
 * Makes a long list of links a single tab stop. Arrow keys move between rows and along a row. The
 * stop is the focused link, or else the first link in the current row (`aria-current`), or else in
 * the newest row. Rows are the list's children. Runs after every render.
 */
export function useRovingTabIndex(
  list: { current: HTMLElement | null },
  newest: 'first' | 'last',
): void {
  useLayoutEffect(() => {
    const box = list.current;
    if (!box) return;
    const links = linksIn(box);
    const here =
      box.querySelector<HTMLElement>('[aria-current] a') ?? links.at(newest === 'first' ? 0 : -1);
    const stop = links.find((link) => link === document.activeElement) ?? here;
    for (const link of links) link.tabIndex = link === stop ? 0 : -1;
  });
}

/** For the list's `onKeyDown`. */
export function moveTabStop(event: KeyboardEvent): void {
  const box = event.currentTarget as HTMLElement;
  const from = (event.target as Element).closest('a');
  if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
  const to = linkAt(box, from, event.key);
  if (!to) return;
  event.preventDefault();
  from.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

function linkAt(box: HTMLElement, from: HTMLElement, key: string): HTMLElement | undefined {
  const rows = [...box.children].filter((row) => linksIn(row).length > 0);
  const row = rows.findIndex((one) => one.contains(from));
  const along = linksIn(rows[row]!);
  const place = along.indexOf(from);
  switch (key) {
    case 'ArrowDown':
      return firstOf(rows[row + 1]);
    case 'ArrowUp':
      return firstOf(rows[row - 1]);
    case 'ArrowRight':
      return along[place + 1];
    case 'ArrowLeft':
      return along[place - 1];
    case 'Home':
      return firstOf(rows[0]);
    case 'End':
      return firstOf(rows.at(-1));
    default:
      return undefined;
  }
}

const firstOf = (row: Element | undefined) => (row ? linksIn(row)[0] : undefined);

export function Scroll({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must scroll it too
    <section class="scroll" aria-label={name} tabIndex={0}>
      {children}
    </section>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="faint" role="status">
      Loading {what} …
    </p>
  );
}

export function Failed({ why, onAgain }: { why: string; onAgain: () => void }) {
  return (
    <div class="failed" role="alert">
      <p>{toSentence(why)}</p>
      <Button onClick={onAgain}>Retry</Button>
    </div>
  );
}

/** The badge of the header: whether the page is live, behind or disconnected. */
export const Pill = ({ text, tone }: { text: string; tone: string }) => (
  <span class={`pill ${tone}`} data-testid="connection">
    {text}
  </span>
);

interface LostProps {
  since: number;
  againAt: number;
  children: ComponentChildren;
}

/** The band of a lost connection; the children explain it. */
export function Lost({ since, againAt, children }: LostProps) {
  const now = useNow(1_000);
  const silent = Math.max(0, Math.round((now - since) / 1_000)) * 1_000;
  const wait = Math.max(0, Math.ceil((againAt - now) / 1_000));
  return (
    <div class="band bad" role="alert" data-testid="lost">
      <p>
        <b>No connection for {formatMs(silent)}.</b> {children}{' '}
        {wait > 0 ? `Next attempt in ${wait} s.` : 'Reconnecting …'}
      </p>
    </div>
  );
}

/** Tells a reader without the control token where it comes from. */
export const Locked = ({ to }: { to: string }) => (
  <span class="faint">
    To {to}, open the address printed by the command. The address ends with <code>#token=…</code>
  </span>
);

/** An empty view, with a hint about the next step. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty" data-testid="empty">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

/** Stands for a view that the page does not have. */
export const Nowhere = ({ view, children }: { view: string; children: ComponentChildren }) => (
  <div class="empty">
    <h1>Unknown view: “{view.slice(0, 64)}”</h1>
    <p>{children}</p>
  </div>
);

/** Shows its children, or a text if the page lacks the required part. */
export function Unavailable({
  what,
  children,
}: {
  what: Requirement;
  children: ComponentChildren;
}) {
  const words = home.lacks[what];
  return words === undefined ? children : <p class="faint">{words}</p>;
}

const verdictWords: Record<Verdict, string> = {
  holds: 'valid',
  failed: 'invalid',
  unchecked: 'unchecked',
};
const [check, cross] = ['M2.5 8.5 6.3 12 13.5 4', 'M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5'];
const glyphPaths: Readonly<Record<string, string>> = {
  ...{ finalized: check, rejected: cross, holds: check, failed: cross, unchecked: 'M3.5 8H12.5' },
  expired: 'M8 2.2A5.8 5.8 0 1 0 8 13.8 5.8 5.8 0 1 0 8 2.2M8 5V8.3L10.6 9.8',
  orphaned: 'M3 13 7 9M9 7 13 3M4.5 7.5 3 9 3 13 7 13 8.5 11.5M11.5 8.5 13 7 13 3 9 3 7.5 4.5',
  voting: 'M3.2 8H3.3M8 8H8.1M12.7 8H12.8',
};

/** The mark of a block's status or of a check, whose shape is readable without colour. */
export function Glyph({ status }: { status: string }) {
  return (
    <svg class={`glyph ${status}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={glyphPaths[status] ?? ''} />
    </svg>
  );
}

export function Mark({ of, word = false }: { of: Verdict; word?: boolean }) {
  return (
    <span class={`verdict ${of}`}>
      <Glyph status={of} />
      <span class={word ? '' : 'unseen'}>{verdictWords[of]}</span>{' '}
    </span>
  );
}
