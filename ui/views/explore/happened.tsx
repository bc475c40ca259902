/** What happened around the entry that is shown: a row an event, each the way to its moment. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { shown } from '../../../report/shared/numbers.js';
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

/** Scores follow each block by the hundred: of each entry two are shown, the others counted. */
const SCORES = 2;

/** `key`: the same wherever the list begins, so that a link that was followed keeps the focus. */
type Line = { row: Happening; others: number; key: string };

function linesOf(rows: readonly Happening[]): Line[] {
  const lines: Line[] = [];
  let scores = 0;
  let place = 0;
  for (const row of rows) {
    const before = lines.at(-1)?.row;
    place = before?.entry === row.entry ? place + 1 : 0;
    const isScore = row.kind === 'reputation_update';
    scores = isScore && before?.entry === row.entry && before.kind === row.kind ? scores + 1 : 0;
    if (scores < SCORES) lines.push({ row, others: 0, key: `${row.entry} ${place}` });
    else lines.at(-1)!.others += 1;
  }
  return lines;
}

function List({ found, entry }: { found: Happenings; entry: number }) {
  const { omitted } = found;
  const rows = useMemo(() => linesOf(found.rows), [found]);
  const list = useRef<HTMLOListElement>(null);
  useRoving(list, 'last');
  const here = rows.findLastIndex(({ row }) => row.entry <= entry);
  useEffect(() => {
    const box = list.current;
    const row = box?.children[here] as HTMLElement | undefined;
    if (box && row) box.scrollTop = row.offsetTop - box.offsetTop - box.clientHeight / 2;
  }, [here, found.from]);
  if (rows.length === 0) return <p class="faint">Nothing: these entries led to no event.</p>;
  return (
    <>
      {omitted > 0 && <p class="faint">{shown(omitted)} earlier rows are omitted.</p>}
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
        {rows.map(({ row, others, key }) => (
          <li
            key={key}
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
              {others > 0 && <span class="faint">, and {shown(others)} others</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
