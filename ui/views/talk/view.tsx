/** Remarks, reasons of votes and memes: as they come, or page by page out of the whole log. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type SaidKind, saidKinds } from '../../../api/view/model.js';
import { counted, shown } from '../../../report/shared/numbers.js';
import { ask } from '../../data/connect.js';
import { clock, memes, position, said, totals } from '../../data/store.js';
import { rove, useRoving } from '../../parts/lists/roving.js';
import { Meme } from '../../parts/meme/meme.js';
import { moment } from '../../parts/moment.js';
import { Coming, Empty, Failed } from '../../parts/server/states.js';
import { plain } from '../../parts/text.js';
import { BlockLink, EntryLink, Who } from '../../parts/who.js';
import type { SaidLine, SaidPage } from '../../player/answers/said.js';
import { useChoice, useOneOf } from '../../route/choice.js';
import { href } from '../../route/router.js';
import { type Line, lineOf, useLines } from './lines.js';

const kinds = ['all', 'remarks', 'reasons', 'memes'] as const;
type Kinds = (typeof kinds)[number];
const MEMES = 24;

/** Of one agent, and of several. */
const verbs: Record<SaidKind, readonly [string, string]> = {
  remark: ['on', 'on'],
  reason: ['votes on', 'vote on'],
  meme: ['posts a meme', 'post a meme'],
};
/** As the address may say it. */
const ENTRY = /^\d{1,15}$/;

export function View() {
  const [kind, choose] = useOneOf('kind', kinds);
  const [, turn] = useChoice('before');
  if (said.value.length === 0 && memes.value.length === 0) {
    return (
      <Empty title="Nobody has said anything yet">
        <p>
          Remarks, reasons of votes and memes appear here as they come. Until then:{' '}
          <a href={href('now')}>the vote</a>.
        </p>
      </Empty>
    );
  }
  return (
    <div class="talk">
      <section class="panel" aria-labelledby="said">
        <header>
          <h1 id="said">What is said</h1>
          <Total kind={kind} />
          <fieldset class="segments push">
            <legend class="unseen">Kinds that are shown</legend>
            {kinds.map((one) => (
              <button
                key={one}
                type="button"
                class="button"
                aria-pressed={one === kind}
                onClick={() => {
                  choose(one);
                  turn(null);
                }}
              >
                {one}
              </button>
            ))}
          </fieldset>
        </header>
        <List kind={kind} />
      </section>
      <Posted />
    </div>
  );
}

function Total({ kind }: { kind: Kinds }) {
  const { remarks, memes: posted } = totals.value!;
  if (kind === 'remarks') return <p>{counted(remarks, 'remark')} so far</p>;
  return kind === 'memes' ? <p>{counted(posted, 'meme')} so far</p> : null;
}

/** Of a network that runs, all texts are shown as they come; every other list is a page. */
function List({ kind }: { kind: Kinds }) {
  const [chosen, turn] = useChoice('before');
  const { mode, follows } = clock.value;
  const end = (position.value?.entry ?? 0) + 1;
  const before = chosen !== null && ENTRY.test(chosen) ? Math.min(Number(chosen), end) : end;
  const turnTo = (entry: number | null) => turn(entry === null ? null : String(entry));
  if (kind === 'all' && before === end && mode === 'live' && follows) {
    return <Live onOlder={() => turnTo(end)} />;
  }
  const saidKind = saidKinds.find((one) => `${one}s` === kind) ?? null;
  return <Page kind={saidKind} before={before} isNewest={before === end} onTurn={turnTo} />;
}

function Live({ onOlder }: { onOlder(): void }) {
  return (
    <>
      <Lines lines={useLines()} />
      <p class="pages">
        <button type="button" class="button" onClick={onOlder}>
          Pages
        </button>
      </p>
    </>
  );
}

interface PageProps {
  kind: SaidKind | null;
  before: number;
  isNewest: boolean;
  onTurn(before: number | null): void;
}

/** A list that follows a network is fetched so often at the most. */
const LEAST_MS = 1_000;

function useSaid(kind: SaidKind | null, before: number) {
  const [{ page, why }, set] = useState<{ page: SaidPage | null; why: string }>(nothing);
  const [turn, again] = useState(0);
  const asked = useRef(0);
  useEffect(() => {
    let wanted = true;
    const wait = Math.max(0, asked.current + LEAST_MS - performance.now());
    const timer = setTimeout(
      () => {
        asked.current = performance.now();
        ask<SaidPage>('said', { before, kind }).then(
          (found) => wanted && set({ page: found, why: '' }),
          (error: Error) => wanted && set({ page: null, why: error.message }),
        );
      },
      page?.kind === kind ? wait : 0,
    );
    return () => {
      clearTimeout(timer);
      wanted = false;
    };
  }, [kind, before, turn]);
  return { page, why, again: () => again(turn + 1) };
}

const nothing = { page: null, why: '' };

/** A page out of the whole log. */
function Page({ kind, before, isNewest, onTurn }: PageProps) {
  const { page, why, again } = useSaid(kind, before);
  if (why !== '') return <Failed why={why} onAgain={again} />;
  if (page?.kind !== kind) return <Coming what="what was said" />;
  const { lines, next } = page;
  const what = kind === null ? 'text' : kind;
  return (
    <>
      {lines.length === 0 && (
        <p class="faint">
          {next === null ? `No ${what} up to here.` : `No ${what} in the entries from ${next} on.`}
        </p>
      )}
      {lines.length > 0 && <Lines lines={lines.map(lineOf)} />}
      <p class="pages">
        <button type="button" class="button" disabled={isNewest} onClick={() => onTurn(null)}>
          Newest
        </button>{' '}
        {next === null ? 'up to the first entry' : `back to entry ${shown(next)}`}{' '}
        <button type="button" class="button" disabled={next === null} onClick={() => onTurn(next)}>
          Older
        </button>
      </p>
    </>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  const list = useRef<HTMLOListElement>(null);
  useRoving(list, 'first');
  return (
    <>
      <p class="unseen" id="said-keys">
        Newest first. Arrow keys go from row to row, and along a row.
      </p>
      <ol
        class="lines talk-lines"
        ref={list}
        aria-labelledby="said"
        aria-describedby="said-keys"
        onKeyDown={rove}
      >
        {lines.map((line) => (
          <li key={line.key} class={line.is}>
            {line.is === 'omitted' ? <Omitted count={line.count} /> : <Spoken {...line} />}
          </li>
        ))}
      </ol>
    </>
  );
}

const Omitted = ({ count }: { count: number }) => (
  <p class="faint">
    {shown(count)} more {count === 1 ? 'was' : 'were'} said meanwhile: omitted, since nobody reads
    so fast. Pause to read.
  </p>
);

function Spoken({ said: one, others }: SaidLine) {
  const [verb, verbOfMany] = verbs[one.kind];
  return (
    <>
      <p class="by">
        <Who number={one.who} />{' '}
        <span class="faint">
          {others > 0 && `and ${counted(others, 'other')} `}
          {others > 0 ? verbOfMany : verb} {one.kind !== 'meme' && <BlockLink number={one.what} />}
        </span>
        <span class="faint when">
          {moment(one.at)}, <EntryLink entry={one.entry} />
        </span>
      </p>
      {one.text !== '' && (
        <p>
          <bdi>{plain(one.text, 500)}</bdi>
        </p>
      )}
    </>
  );
}

function Posted() {
  const last = memes.value.slice(-MEMES).reverse();
  return (
    <section class="panel" aria-labelledby="posted">
      <header>
        <h2 id="posted">Memes</h2>
        <p>
          {last.length === 0
            ? 'Nobody has posted one yet.'
            : 'Strangers made them: each opens when you ask for it, as a still picture.'}
        </p>
      </header>
      <ul class="memes">
        {last.map((meme) => (
          <li key={meme.number}>
            <Meme meme={meme} />
          </li>
        ))}
      </ul>
    </section>
  );
}
