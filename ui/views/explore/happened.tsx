/** What happened around the entry that is shown: a row an event, each the way to its moment. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { counted, shown } from '../../../report/shared/numbers.js';
import { ask } from '../../data/connect.js';
import { clock } from '../../data/store.js';
import { rove, useRoving } from '../../parts/lists/roving.js';
import { moment } from '../../parts/moment.js';
import { Coming, Failed } from '../../parts/server/states.js';
import type { Happening, Happenings } from '../../player/answers/happenings.js';
import { href } from '../../route/router.js';
import { Words } from './words.js';

/** Entries before and after it. */
const BEFORE = 60;
const AFTER = 30;
/** A network that runs is listed anew so often. */
const LEAST_MS = 500;

export function Happened({ entry }: { entry: number }) {
  const [state, set] = useState<Happenings | string | null>(null);
  const [turn, again] = useState(0);
  const asked = useRef(0);
  useEffect(() => {
    let wanted = true;
    const wait = Math.max(0, asked.current + LEAST_MS - performance.now());
    const timer = setTimeout(() => {
      asked.current = performance.now();
      const to = Math.min(entry + AFTER, Math.max(entry, clock.peek().head.entry));
      ask<Happenings>('around', { from: Math.max(0, entry - BEFORE), to }).then(
        (found) => wanted && set(found),
        (error: Error) => wanted && set(error.message),
      );
    }, wait);
    return () => {
      clearTimeout(timer);
      wanted = false;
    };
  }, [entry, turn]);
  return (
    <section class="panel" aria-labelledby="happened">
      <header>
        <h2 id="happened">What happened</h2>
        {typeof state === 'object' && state && (
          <p>
            entries {shown(state.from)} to {shown(state.to)}
          </p>
        )}
      </header>
      {state === null && <Coming what="what happened" />}
      {typeof state === 'string' && <Failed why={state} onAgain={() => again(turn + 1)} />}
      {typeof state === 'object' && state && <List found={state} entry={entry} />}
    </section>
  );
}

/** Each row with its place in its entry: a link that was followed keeps the focus. */
function keysOf(rows: readonly Happening[]): string[] {
  let place = 0;
  return rows.map(({ entry }, index) => {
    place = rows[index - 1]?.entry === entry ? place + 1 : 0;
    return `${entry} ${place}`;
  });
}

function List({ found, entry }: { found: Happenings; entry: number }) {
  const { omitted, rows } = found;
  const keys = useMemo(() => keysOf(rows), [rows]);
  const list = useRef<HTMLOListElement>(null);
  useRoving(list, 'last');
  const here = rows.findLastIndex((row) => row.entry <= entry);
  useEffect(() => {
    const box = list.current;
    const row = box?.children[here] as HTMLElement | undefined;
    if (box && row) box.scrollTop = row.offsetTop - box.offsetTop - box.clientHeight / 2;
  }, [here, found.from]);
  if (rows.length === 0) return <p class="faint">Nothing: these entries led to no event.</p>;
  return (
    <>
      {omitted > 0 && (
        <p class="faint">{counted(omitted, 'earlier row is', 'earlier rows are')} omitted.</p>
      )}
      <p class="unseen" id="happened-keys">
        Arrow keys go from row to row, and along a row.
      </p>
      <ol
        class="happened"
        ref={list}
        aria-label="What happened, in order"
        aria-describedby="happened-keys"
        onKeyDown={rove}
      >
        {rows.map((row, place) => (
          <li
            key={keys[place]}
            class={row.entry === entry ? 'here' : row.entry > entry ? 'later' : ''}
            aria-current={row.entry === entry ? 'true' : undefined}
          >
            <a href={href('explore', undefined, { at: String(row.entry) })}>
              {row.entry}
              <span class="unseen">: go to this entry</span>
            </a>
            <span class="faint">{moment(row.at)}</span>
            <span>
              <Words row={row} blocks={found.blocks} />
              {row.others > 0 && <span class="faint">, and {counted(row.others, 'other')}</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
