/** The Explore view: one log entry, the events around it, and log verification. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/contract/route.js';
import type { shownReads } from '../../api/contract/views.js';
import { viewRows } from '../../api/view/model.js';
import { format, plural } from '../../report/shared/format.js';
import {
  AgentLink,
  BlockLink,
  cleanText,
  EntryLink,
  getAgentName,
  moment,
  Quote,
  toSentence,
} from '../components/labels.js';
import {
  Button,
  Fact,
  Failed,
  Lines,
  Loading,
  moveTabStop,
  Panel,
  Unavailable,
  useRovingTabIndex,
} from '../components/lists.js';
import { data, useAsked, useFetch } from '../components/requests.js';
import { askWorker } from '../data/connect.js';
import { clock, memes, position } from '../data/store.js';
import { home } from '../home.js';
import type { Happening, Happenings } from '../player/answers.js';
import { href, place, setQuery } from '../route.js';
import { recomputeInWorker } from '../verify/client.js';
import type { Parting, Progress, Recomputed } from '../verify/messages.js';

export function View() {
  const entry = position.value?.entry ?? 0;
  return (
    <>
      <header class="view-head">
        <h1>
          Entry {format(entry)} <span class="faint">and surrounding events</span>
        </h1>
      </header>
      <ProofBand />
      <div class="explore">
        <Happened entry={entry} />
        <Panel key={entry} title="Log entry" class="entry">
          <Unavailable what="log">
            <Stored entry={entry} />
          </Unavailable>
        </Panel>
      </div>
    </>
  );
}

/** More events of one type are folded. */
const FEW_EVENTS = 2;
const MOST_EVENTS = 500;

function Stored({ entry }: { entry: number }) {
  const [fetched, again] = useFetch(`${entry}`, () => data<EntryData>(`/api/v1/entries/${entry}`));
  if (fetched.is === 'coming') return <Loading what="the entry" />;
  if (fetched.is === 'failed') return <Failed why={fetched.why} onAgain={again} />;
  return <Found of={fetched.data} />;
}

function Found({ of }: { of: EntryData }) {
  const { kind, at, events, digest, log_digest } = of;
  return (
    <>
      <p>
        <b>{kindTexts[kind] ?? cleanText(kind, 32)}</b>{' '}
        {of.agent_id && <AgentLink id={of.agent_id} />} <span class="faint">at {moment(at)}</span>
      </p>
      {of.body !== '' && (
        <details>
          <summary>Signed request</summary>
          <Lines text={pretty(of.body)} />
        </details>
      )}
      <h3>{events.length === 0 ? 'No events' : plural(events.length, 'event')}</h3>
      <ol class="events">
        {byType(events).map(([type, alike]) => (
          <EventsOfType key={type} type={type} of={alike} />
        ))}
      </ol>
      <dl class="facts">
        <Fact name="state digest after the entry" whole>
          <code>{digest}</code>
        </Fact>
        <Fact name="log digest" whole>
          <code>{log_digest}</code>
        </Fact>
        {isAnother(of) && (
          <Fact name="different digest of the shown snapshot" whole>
            <code>{position.value!.digest}</code>
          </Fact>
        )}
      </dl>
    </>
  );
}

/** Returns true if the snapshot has a different digest. A folded snapshot has no digest. */
function isAnother({ entry, digest }: EntryData): boolean {
  const here = position.value!;
  return here.entry === entry && here.digest !== '' && here.digest !== digest;
}

type EntryEvents = EntryData['events'];

/** Groups events by type. The first event of an entry is the cause of the others. */
function byType(events: EntryEvents): [string, EntryEvents][] {
  const found = new Map<string, EntryEvents>();
  for (const event of events) found.set(event.type, [...(found.get(event.type) ?? []), event]);
  return [...found];
}

/** Events of one type: themselves if they are few, or else a fold with their number. */
function EventsOfType({ type, of }: { type: string; of: EntryEvents }) {
  if (of.length <= FEW_EVENTS) return <Events of={of} />;
  return (
    <li>
      <details>
        <summary>
          {format(of.length)} × {cleanText(type, 40)}
        </summary>
        <ol class="events">
          <Events of={of.slice(0, MOST_EVENTS)} />
        </ol>
        {of.length > MOST_EVENTS && (
          <p class="faint">{plural(of.length - MOST_EVENTS, 'event is', 'events are')} omitted.</p>
        )}
      </details>
    </li>
  );
}

const Events = ({ of }: { of: EntryEvents }) => (
  <>
    {of.map((event) => (
      <li key={event.seq}>
        <details>
          <summary>
            {event.seq} {cleanText(event.type, 40)}
          </summary>
          <Lines text={JSON.stringify(event.data, null, 1)} />
        </details>
      </li>
    ))}
  </>
);

const kindTexts: Readonly<Record<string, string>> = {
  genesis: 'Genesis',
  tick: 'Deadline passed',
  register: 'Registration of',
  status: 'Status change by',
  vote: 'Vote by',
  propose: 'Proposal by',
  meme: 'Meme by',
  discuss: 'Remark by',
  alliance_propose: 'Alliance proposal by',
  alliance_respond: 'Alliance response by',
  alliance_leave: 'Alliance exit by',
};

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body.slice(0, 200_000)), null, 1);
  } catch {
    return body;
  }
}

type EntryData = AnswerOf<(typeof shownReads)['entry']>;

/** Number of entries listed before and after the current entry. */
const BEFORE = 60;
const AFTER = 30;
function Happened({ entry }: { entry: number }) {
  const { found, why, again } = useAsked(`${entry}`, () => {
    const to = Math.min(entry + AFTER, Math.max(entry, clock.peek().head.entry));
    return askWorker<Happenings>('around', { from: Math.max(0, entry - BEFORE), to });
  });
  const chosen = useFilters();
  const key = JSON.stringify(chosen);
  const shown = useMemo(
    () => found && { ...found, rows: filtered(found.rows, chosen) },
    [found, key],
  );
  return (
    <section class="panel" aria-labelledby="happened">
      <header>
        <h2 id="happened">Events</h2>
        {found && (
          <p>
            entries {format(found.from)} to {format(found.to)}
          </p>
        )}
        {found && (
          <div class="kind-filter">
            {filters.map((of) => (
              <FilterChoice key={of.name} of={of} rows={found.rows} chosen={chosen} />
            ))}
          </div>
        )}
      </header>
      {!found && why === '' && <Loading what="events" />}
      {why !== '' && <Failed why={why} onAgain={again} />}
      {found && <List found={shown ?? found} entry={entry} />}
    </section>
  );
}

interface Filter {
  /** Name in the address. */
  name: string;
  all: string;
  /** Returns the value by which a row is filtered; null if it has none. */
  of(row: Happening): string | null;
  label(value: string): string;
}

const tells = ({ kind }: Happening, part: 'agent' | 'block') =>
  viewRows[kind].text.includes(`{${part}}`);

const filters: readonly Filter[] = [
  {
    ...{ name: 'kind', all: 'all kinds' },
    of: ({ kind }) => kind,
    label: (value) => cleanText(value, 40),
  },
  {
    ...{ name: 'agent', all: 'all agents' },
    of: (row) => (tells(row, 'agent') ? String(row.who) : null),
    label: (value) => cleanText(getAgentName(Number(value)), 40),
  },
  {
    ...{ name: 'on', all: 'all blocks' },
    of: (row) => (tells(row, 'block') ? String(row.what) : null),
    label: (value) => `block number ${value}`,
  },
];

type Chosen = Readonly<Record<string, string>>;

function useFilters(): Chosen {
  const { query } = place.value;
  const known = filters.filter(({ name }) => query.has(name));
  return Object.fromEntries(known.map(({ name }) => [name, query.get(name)!.slice(0, 64)]));
}

const filtered = (rows: readonly Happening[], chosen: Chosen, but = ''): Happening[] =>
  rows.filter((row) =>
    filters.every(
      ({ name, of }) => name === but || chosen[name] === undefined || of(row) === chosen[name],
    ),
  );

interface FilterProps {
  of: Filter;
  rows: readonly Happening[];
  chosen: Chosen;
}

/** Offers the values in the list, with the numbers of rows that the other filters leave. */
function FilterChoice({ of: { name, all, of, label }, rows, chosen }: FilterProps) {
  const here = chosen[name];
  const counts = new Map<string, number>(here === undefined ? [] : [[here, 0]]);
  for (const row of filtered(rows, chosen, name)) {
    const value = of(row);
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1 + row.others);
  }
  return (
    <select
      aria-label={`Show ${all}`}
      value={here ?? ''}
      onChange={({ currentTarget: { value } }) => setQuery({ [name]: value === '' ? null : value })}
    >
      <option value="">{all}</option>
      {[...counts].sort().map(([value, count]) => (
        <option key={value} value={value}>
          {label(value)} ({format(count)})
        </option>
      ))}
    </select>
  );
}

/**
 * Builds keys from the entry and the position within it, so that a link keeps the focus after it is
 * followed.
 */
function keysOf(rows: readonly Happening[]): string[] {
  let place = 0;
  return rows.map(({ entry }, index) => {
    place = rows[index - 1]?.entry === entry ? place + 1 : 0;
    return `${entry} ${place}`;
  });
}

function List({ found, entry }: { found: Happenings; entry: number }) {
  const { omitted, rows } = found;
  const filter = useFilters();
  const keys = useMemo(() => keysOf(rows), [rows]);
  const list = useRef<HTMLOListElement>(null);
  useRovingTabIndex(list, 'last');
  const here = rows.findLastIndex((row) => row.entry <= entry);
  useEffect(() => {
    const box = list.current;
    const row = box?.children[here] as HTMLElement | undefined;
    if (box && row) box.scrollTop = row.offsetTop - box.offsetTop - box.clientHeight / 2;
  }, [here, found.from]);
  if (rows.length === 0) return <p class="faint">No events in these entries.</p>;
  return (
    <>
      {omitted > 0 && (
        <p class="faint">{plural(omitted, 'earlier row is', 'earlier rows are')} omitted.</p>
      )}
      <p class="unseen" id="happened-keys">
        Arrow keys move between rows and along a row.
      </p>
      <ol
        class="happened"
        ref={list}
        aria-label="Events in log order"
        aria-describedby="happened-keys"
        onKeyDown={moveTabStop}
      >
        {rows.map((row, index) => (
          <li
            key={keys[index]}
            class={row.entry === entry ? 'here' : row.entry > entry ? 'later' : ''}
            aria-current={row.entry === entry ? 'true' : undefined}
          >
            <a href={href('explore', undefined, { at: String(row.entry), ...filter })}>
              {row.entry}
              <span class="unseen">: open this entry</span>
            </a>
            <span class="faint">{moment(row.at)}</span>
            <span>
              <HappeningText row={row} blocks={found.blocks} />
              {row.others > 0 && <span class="faint">, {format(row.others)} more</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

function HappeningText({ row, blocks }: { row: Happening; blocks: Happenings['blocks'] }) {
  const { kind, who, what, value } = row;
  const hash = blocks.find(({ number }) => number === what)?.hash;
  const shown: Record<string, ComponentChildren> = {
    agent: <AgentLink number={who} />,
    block: <BlockLink number={what} {...(hash === undefined ? {} : { hash })} />,
    caption: <Caption number={what} />,
    value,
    strong: <b>{value}</b>,
    faint: <span class="faint">{value}</span>,
  };
  const parts = viewRows[kind].text.split(/\{(\w+)\}/);
  return <>{parts.map((part, index) => (index % 2 === 0 ? part : shown[part]))}</>;
}

function Caption({ number }: { number: number }) {
  const meme = memes.value.find((one) => one.number === number);
  return meme && meme.caption !== '' ? <Quote text={meme.caption} most={80} /> : null;
}

export function ProofBand() {
  return (
    <Panel
      title="Log verification"
      class="proof-band"
      note={
        !home.lacks.proof &&
        'Replays the log entry by entry and compares the digests with the stored data.'
      }
    >
      <Unavailable what="proof">{!IN_FILE && <HereBand />}</Unavailable>
    </Panel>
  );
}

type HereState =
  | { is: 'idle' }
  | { is: 'running'; progress: Progress | null }
  | { is: 'done'; result: Recomputed }
  | { is: 'failed'; why: string };

function HereBand() {
  const [state, set] = useState<HereState>({ is: 'idle' });
  const [signatures, check] = useState(false);
  const stop = useRef(() => {});
  const cancel = () => {
    stop.current();
    set({ is: 'idle' });
  };
  const begin = () => {
    set({ is: 'running', progress: null });
    const run = recomputeInWorker(signatures, (progress) => set({ is: 'running', progress }));
    stop.current = run.stop;
    run.result.then(
      (result) => set({ is: 'done', result }),
      (error: Error) => set({ is: 'failed', why: error.message }),
    );
  };
  useEffect(() => {
    // Links printed by `explore --verify` start the replay.
    if (place.peek().query.get('verify') !== null) begin();
    return () => stop.current();
  }, []);
  return (
    <div
      class={`proving ${state.is === 'done' ? (state.result.parting ? 'differs' : 'match') : ''}`}
    >
      {state.is === 'running' && <Running progress={state.progress} />}
      {state.is === 'done' && <Done result={state.result} />}
      {state.is === 'failed' && <p role="alert">{toSentence(`the replay failed: ${state.why}`)}</p>}
      <p class="proof-ask">
        {state.is === 'running' ? (
          <Button onClick={cancel}>Stop</Button>
        ) : (
          <>
            <Button onClick={begin}>
              {state.is === 'idle' ? 'Replay in this browser' : 'Replay again'}
            </Button>
            <label class="tick">
              <input
                type="checkbox"
                checked={signatures}
                onChange={(event) => check(event.currentTarget.checked)}
              />{' '}
              verify signatures
            </label>
          </>
        )}
      </p>
    </div>
  );
}

function Running({ progress }: { progress: Progress | null }) {
  const { entries = 0, of = 1, signatures = 0 } = progress ?? {};
  return (
    <>
      <Bar value={entries} of={of} />
      <p>
        Replaying: {format(entries)} of {plural(of, 'entry', 'entries')} match
        {signatures > 0 ? `, ${plural(signatures, 'valid signature')}` : ''}.
      </p>
    </>
  );
}

function Done({ result }: { result: Recomputed }) {
  const { entries, of, signatures, digest, served, parting } = result;
  const same = digest === served.digest && parting === null;
  return (
    <>
      <Bar value={entries} of={of} parting={parting?.entry ?? null} />
      {same && (
        <p role="status">
          <b>All {plural(entries, 'entry', 'entries')} match</b>
          {signatures > 0 && `, ${plural(signatures, 'valid signature')}`}. Digest:{' '}
          <code>{digest}</code>
        </p>
      )}
      {!same && !parting && (
        <p role="alert">
          <b>Digest mismatch.</b> Replayed: <code>{digest}</code>, stored:{' '}
          <code>{served.digest}</code>
        </p>
      )}
      {parting && <Difference parting={parting} />}
    </>
  );
}

function Bar({
  value,
  of,
  parting = null,
}: {
  value: number;
  of: number;
  parting?: number | null;
}) {
  const share = (part: number) => `${Math.min(100, (100 * part) / Math.max(1, of))}%`;
  return (
    <div
      class="proof-bar"
      role="progressbar"
      aria-label="Entries replayed in this browser"
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={value}
    >
      <span style={{ width: share(value) }} />
      {parting !== null && <i style={{ left: share(parting) }} />}
    </div>
  );
}

function Difference({ parting }: { parting: Parting }) {
  const { entry, at, kind, actor, field, expected, found } = parting;
  return (
    <div class="difference" role="alert">
      <p>
        <b>
          First divergence: <EntryLink entry={entry} />
        </b>{' '}
        ({cleanText(kind, 32)}
        {at === null ? '' : `, ${moment(at)}`}). All earlier entries match. Later entries were not
        replayed.
      </p>
      <dl class="facts">
        {actor !== '' && (
          <Fact name="actor">
            <Actor id={actor} />
          </Fact>
        )}
        <Fact name="field">{cleanText(field, 160)}</Fact>
        <Fact name="expected" whole>
          <code>{cleanText(expected, 300)}</code>
        </Fact>
        <Fact name="stored" whole>
          <code>{cleanText(found, 300)}</code>
        </Fact>
      </dl>
    </div>
  );
}

function Actor({ id }: { id: string }) {
  if (id.startsWith('agent_')) return <AgentLink id={id} />;
  return /^[0-9a-f]{64}$/.test(id) ? <BlockLink hash={id} /> : <span>{cleanText(id, 80)}</span>;
}
