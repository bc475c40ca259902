/**
 * The Agents view: all agents as a grid or a table, a card for the selected agent, and a search.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { format, plural } from '../../report/shared/format.js';
import { type Banding, bandings, getGroup, getMainSorting } from '../components/bands.js';
import { type Coloring, colorings, Grid, Legend } from '../components/grid.js';
import {
  cleanText,
  getAgentName,
  getDecision,
  getReputation,
  getStatus,
  useNarrow,
} from '../components/labels.js';
import {
  Button,
  Empty,
  Fact,
  Pages,
  pageStart,
  Rows,
  Segments,
  slicePage,
} from '../components/lists.js';
import { groups, useScenario } from '../components/requests.js';
import { agents, getFocusedBlock } from '../data/store.js';
import { go, href, place, setQuery, useChoice, useOneOf, usePage } from '../route.js';
import { finding } from '../time-bar.js';
import { NoAgents } from '../world-clock.js';

export function View() {
  const { query } = place.value;
  const grouped = useScenario() !== null;
  const may = (one: string) => grouped || one !== 'group';
  const [coloring, color] = useOneOf('color', colorings.filter(may));
  const [banding, band] = useOneOf<Banding>('band', [getMainSorting(), ...bandings].filter(may));
  const asTable = query.get('as') === 'table';
  const count = agents.count.value;
  const id = query.get('sel');
  const chosen = useMemo(() => (id === null ? null : agents.numberOf(id)), [id, count]);
  const choose = (number: number | null) =>
    setQuery({ sel: number === null ? null : agents.rows[number]!.id });
  const close = () => {
    choose(null);
    // The focused button disappears, so keep the focus in the view.
    document.getElementById('view')?.focus();
  };
  const block = getFocusedBlock();
  useEffect(() => {
    if (id !== null && chosen === null && count > 0) setQuery({ sel: null });
  }, [id, chosen]);
  return (
    <section class="agents" aria-labelledby="agents">
      <header class="view-head">
        <h1 id="agents">
          {plural(count, 'agent')}
          <span class="faint">
            {block && coloring === 'decision' ? `, votes on block ${block.height}` : ''}
          </span>
        </h1>
        <Find onFind={choose} />
        <Choice name="Colour by" all={colorings.filter(may)} here={coloring} onChoose={color} />
        <Choice name="Bands by" all={bandings.filter(may)} here={banding} onChoose={band} />
        <Button aria-pressed={asTable} onClick={() => setQuery({ as: asTable ? null : 'table' })}>
          Table
        </Button>
      </header>
      {count === 0 && (
        <Empty title="No agents yet">
          <NoAgents />
        </Empty>
      )}
      {chosen !== null && <Card number={chosen} onClose={close} />}
      {count > 0 && asTable && <AgentTable onChoose={choose} chosen={chosen} />}
      {count > 0 && !asTable && (
        <div class="panel">
          <header>
            <Legend coloring={coloring} />
          </header>
          <Grid
            coloring={coloring}
            banding={banding}
            // The height that the shell leaves.
            room={Math.max(320, innerHeight - 330)}
            chosen={chosen}
            onChoose={choose}
            onOpen={(number) => go(href('agent', agents.rows[number]!.id))}
          />
          <p class="faint chart-caption">
            One cell per agent, showing {coloringTexts[coloring]}. n = {plural(count, 'agent')}.
          </p>
        </div>
      )}
    </section>
  );
}

/** Value that each colouring plots. */
const coloringTexts: Readonly<Record<Coloring, string>> = {
  decision: 'the vote on the focused block',
  personality: 'the personality',
  group: 'the group of the scenario',
  reputation: 'the reputation from 0 to 100',
  status: 'the status',
};

interface ChoiceProps<T extends string> {
  name: string;
  all: readonly T[];
  here: T;
  onChoose(one: T): void;
}

function Choice<T extends string>({ name, all, here, onChoose }: ChoiceProps<T>) {
  if (useNarrow()) {
    return (
      <label class="choice">
        <span class="faint">{name}</span>
        <select value={here} onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}>
          {all.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
    );
  }
  return <Segments {...{ name, all, here, onChoose }} />;
}

/** A name, and the value of an agent: a text or a number. */
type Column = readonly [name: string, value: (number: number) => string | number];

const groupColumn: Column = ['group', (number) => cleanText(getGroup(number), 32)];
const commonColumns: readonly Column[] = [
  ['name', getAgentName],
  ['personality', (number) => cleanText(agents.rows[number]!.personality, 32)],
  ['this block', getDecision],
  ['status', getStatus],
  ['reputation', getReputation],
  ['votes', (number) => agents.votes[number]!],
  ['memes', (number) => agents.memes[number]!],
  ['blocks', (number) => agents.produced[number]!],
];
const knownColumns = () => (groups.value ? [...commonColumns, groupColumn] : commonColumns);

/** Columns of numbers, which the first click sorts in descending order. */
const counted = new Set(['reputation', 'votes', 'memes', 'blocks']);

interface TableProps {
  chosen: number | null;
  onChoose(number: number): void;
}

function AgentTable({ chosen, onChoose }: TableProps) {
  agents.version.value;
  const columns = knownColumns();
  const [sorted, sort] = useChoice('sort');
  const sorting = sortingOf(sorted, columns);
  const [page, turn] = usePage();
  const total = agents.count.value;
  const order = ordered(total, sorting && columns[sorting.column], sorting?.down ?? false);
  const shown = slicePage(order, page);
  const first = pageStart(total, page);
  const last = first + shown.length;
  const head = columns.map(([name], index) => (
    <button
      type="button"
      key={name}
      class="sort"
      onClick={() => sort(sortText(nextSorting(sorting, index, counted.has(name)), columns))}
    >
      {name}
      <span aria-hidden="true">
        {sorting?.column === index ? (sorting.down ? ' ↓' : ' ↑') : ''}
      </span>
    </button>
  ));
  return (
    <div class="panel">
      <div class="scroll">
        <Rows
          caption={`Agents ${format(first + 1)} to ${format(last)} of ${format(total)}`}
          head={head}
          numeric={columns.flatMap(([name], index) => (counted.has(name) ? index : []))}
          sorted={columns.map((_, index) => sortOf(sorting, index))}
          rowClass={(row) => (shown[row] === chosen ? 'chosen' : '')}
          rows={shown.map((number) =>
            columns.map(([name, value], index) =>
              index > 0 ? (
                shownValue(value(number))
              ) : (
                <button type="button" key={name} class="plain" onClick={() => onChoose(number)}>
                  <bdi>{value(number)}</bdi>
                </button>
              ),
            ),
          )}
        />
      </div>
      <Pages of={total} page={page} onTurn={turn} />
    </div>
  );
}

const shownValue = (value: string | number) => (typeof value === 'number' ? format(value) : value);

type Sorting = { column: number; down: boolean } | null;

/** Parses a column name. The prefix `-` means descending order. */
function sortingOf(text: string | null, columns: readonly Column[]): Sorting {
  const down = text?.startsWith('-') ?? false;
  const column = columns.findIndex(([name]) => name === text?.slice(down ? 1 : 0));
  return column < 0 ? null : { column, down };
}

const sortText = (sorting: Sorting, columns: readonly Column[]): string | null =>
  sorting && `${sorting.down ? '-' : ''}${columns[sorting.column]![0]}`;

/**
 * First click: numbers descending, text ascending. Second click: reversed. Third click: unsorted.
 */
function nextSorting(sorting: Sorting, column: number, numeric: boolean): Sorting {
  if (sorting?.column !== column) return { column, down: numeric };
  return sorting.down === numeric ? { column, down: !numeric } : null;
}

const sortOf = (sorting: Sorting, column: number) =>
  sorting?.column !== column ? 'none' : sorting.down ? 'descending' : 'ascending';

function ordered(total: number, column: Column | null | undefined, down: boolean): number[] {
  const all = Array.from({ length: total }, (_, number) => number);
  if (!column) return all;
  const values = all.map(column[1]);
  const sign = down ? -1 : 1;
  return all.sort((one, other) => {
    const [a, b] = [values[one]!, values[other]!];
    return a === b ? one - other : a < b ? -sign : sign;
  });
}

function Card({ number, onClose }: { number: number; onClose: () => void }) {
  agents.version.value;
  const row = agents.rows[number];
  if (!row) return null;
  const can = [row.validator && 'vote', row.producer && 'propose blocks'].filter(Boolean);
  const facts = [
    ...knownColumns()
      .slice(1)
      .map(([name, value]) => [name, shownValue(value(number))] as const),
    ['capabilities', can.length === 0 ? 'none' : can.join(', ')] as const,
  ];
  return (
    <aside class="panel card" aria-label="Selected agent">
      <header>
        <h2>
          <bdi>{getAgentName(number)}</bdi>
        </h2>
        <code class="faint">{row.id.slice(0, 22)}…</code>
        <a class="button" href={href('agent', row.id)}>
          Open agent
        </a>
        <Button onClick={onClose}>Close</Button>
      </header>
      <dl>
        {facts.map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
    </aside>
  );
}

const MOST_MATCHES = 8;

function Find({ onFind }: { onFind: (number: number) => void }) {
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const wanted = finding.value;
  useEffect(() => {
    if (!wanted) return;
    // Runs after the shell, which focuses a new view.
    const timer = setTimeout(() => {
      field.current!.focus();
      finding.value = false;
    });
    return () => clearTimeout(timer);
  }, [wanted]);
  const found = text.trim() === '' ? [] : matches(text.trim().toLowerCase());
  const take = (number: number) => {
    setText('');
    field.current!.focus();
    onFind(number);
  };
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        if (found[0] !== undefined) take(found[0]);
      }}
    >
      <label>
        <span class="unseen">Find an agent by name or id</span>
        <input
          ref={field}
          type="search"
          placeholder="Find an agent"
          maxLength={128}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {text.trim() !== '' && (
        <ul class="found">
          {found.length === 0 && <li class="faint">No matching agents.</li>}
          {found.map((number) => (
            <li key={number}>
              <button type="button" onClick={() => take(number)}>
                <bdi>{getAgentName(number)}</bdi>{' '}
                <span class="faint">{agents.rows[number]!.personality}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}

function matches(text: string): number[] {
  const found: number[] = [];
  for (let number = 0; number < agents.count.value && found.length < MOST_MATCHES; number += 1) {
    const { name, id } = agents.rows[number]!;
    if (name.toLowerCase().includes(text) || id.startsWith(text)) found.push(number);
  }
  return found;
}
