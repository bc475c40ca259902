/** All agents, a cell each or a row each: who they are, and what they say to the block. */
import { useEffect, useMemo } from 'preact/hooks';
import { counted } from '../../../report/shared/numbers.js';
import { agents, focused } from '../../data/store.js';
import { type Banding, bandings } from '../../parts/grid/bands.js';
import { Grid } from '../../parts/grid/grid.js';
import { useGroups } from '../../parts/grid/groups.js';
import { Legend } from '../../parts/grid/legend.js';
import { type Coloring, colorings } from '../../parts/grid/paint.js';
import { useNarrow } from '../../parts/narrow.js';
import { go, href, place, setQuery } from '../../route/router.js';
import { NoAgents } from '../no-agents.js';
import { Card } from './card.js';
import { Find } from './find.js';
import { AgentTable } from './table.js';

export function View() {
  const { query } = place.value;
  const grouped = useGroups() !== null;
  const may = (one: string) => grouped || one !== 'group';
  const coloring = oneOf(colorings.filter(may), query.get('color'));
  const banding = oneOf(bandings.filter(may), query.get('band'));
  const asTable = query.get('as') === 'table';
  const count = agents.count.value;
  const id = query.get('sel');
  const chosen = useMemo(() => (id === null ? null : agents.numberOf(id)), [id, count]);
  const choose = (number: number | null) =>
    setQuery({ sel: number === null ? null : agents.rows[number]!.id });
  const close = () => {
    choose(null);
    // The button goes: whoever pressed it by a key stands in the view, not in front of the page.
    document.getElementById('view')?.focus();
  };
  const block = focused();
  useEffect(() => {
    if (id !== null && chosen === null && count > 0) setQuery({ sel: null });
  }, [id, chosen]);
  return (
    <section class="agents" aria-labelledby="agents">
      <header class="view-head">
        <h1 id="agents">
          {counted(count, 'agent')}
          <span class="faint">
            {block && coloring === 'decision' ? `, and what they say to block ${block.height}` : ''}
          </span>
        </h1>
        <Find onFind={choose} />
        <Choice
          name="Colour by"
          all={colorings.filter(may)}
          here={coloring}
          onChoose={(one: Coloring) => setQuery({ color: one === 'decision' ? null : one })}
        />
        <Choice
          name="Bands by"
          all={bandings.filter(may)}
          here={banding}
          onChoose={(one: Banding) => setQuery({ band: one === 'personality' ? null : one })}
        />
        <button
          type="button"
          class="button"
          aria-pressed={asTable}
          onClick={() => setQuery({ as: asTable ? null : 'table' })}
        >
          Table
        </button>
      </header>
      {count === 0 && <Empty />}
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
            room={roomFor(innerHeight)}
            chosen={chosen}
            onChoose={choose}
            onOpen={(number) => go(href('agent', agents.rows[number]!.id))}
          />
        </div>
      )}
    </section>
  );
}

/** What the shell leaves of a window, and no less than a picture needs. */
const roomFor = (height: number) => Math.max(320, height - 330);

const oneOf = <T extends string>(all: readonly T[], wanted: string | null): T =>
  all.find((one) => one === wanted) ?? all[0]!;

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
  return (
    <fieldset class="segments">
      <legend class="faint">{name}</legend>
      {all.map((one) => (
        <button
          key={one}
          type="button"
          class="button"
          aria-pressed={one === here}
          onClick={() => onChoose(one)}
        >
          {one}
        </button>
      ))}
    </fieldset>
  );
}

function Empty() {
  return (
    <div class="empty">
      <h2>No agents yet</h2>
      <NoAgents />
    </div>
  );
}
