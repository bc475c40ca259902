/**
 * The Talk view: remarks, vote reasons and memes. The live list adds a few lines per second and
 * counts the rest. Older messages are read from the log, page by page.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Message, MessageKind } from '../../api/view/model.js';
import { saidKinds } from '../../engine/protocol/event-types.js';
import { format, plural } from '../../report/shared/format.js';
import { useAsked } from '../components/entry-data.js';
import {
  AgentLink,
  BlockLink,
  cleanText,
  countSenders,
  EntryLink,
  messageKinds,
  moment,
} from '../components/labels.js';
import { Button, moveTabStop, Segments, useRovingTabIndex } from '../components/lists.js';
import { Meme } from '../components/meme.js';
import { Empty, Failed, Loading } from '../components/placeholders.js';
import { askWorker } from '../data/connect.js';
import { clock, memes, messages, position, totals } from '../data/store.js';
import {
  getMessageKey,
  groupMessages,
  type MessageLine,
  type MessagePage,
  mergeLines,
} from '../player/answers.js';
import { href, useChoice, useOneOf } from '../route.js';

const kinds = ['all', 'remarks', 'reasons', 'memes'] as const;
type Kinds = (typeof kinds)[number];
const MEMES_SHOWN = 24;

/** Entry number in the address. */
const ENTRY = /^\d{1,15}$/;

export function View() {
  const [kind, choose] = useOneOf('kind', kinds);
  const [, turn] = useChoice('before');
  if (messages.value.length === 0 && memes.value.length === 0) {
    return (
      <Empty title="No messages yet">
        <p>
          Remarks, vote reasons and memes appear as agents send them.{' '}
          <a href={href('now')}>Open Now</a>
        </p>
      </Empty>
    );
  }
  return (
    <div class="talk">
      <section class="panel" aria-labelledby="said">
        <header>
          <h1 id="said">Messages</h1>
          <Total kind={kind} />
          <Segments
            name="Message kinds"
            all={kinds}
            here={kind}
            onChoose={(one) => {
              choose(one);
              turn(null);
            }}
            push
          />
        </header>
        <List kind={kind} />
      </section>
      <Posted />
    </div>
  );
}

function Total({ kind }: { kind: Kinds }) {
  const { remarks, memes: posted } = totals.value!;
  if (kind === 'remarks') return <p>{plural(remarks, 'remark')}</p>;
  return kind === 'memes' ? <p>{plural(posted, 'meme')}</p> : null;
}

/** Live list of all kinds of messages, or a page from the log. */
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
  return (
    <Page
      key={saidKind}
      kind={saidKind}
      before={before}
      isNewest={before === end}
      onTurn={turnTo}
    />
  );
}

function Live({ onOlder }: { onOlder(): void }) {
  const { lines, from } = useLines();
  return (
    <>
      <p class="faint">Counts cover messages from entry {format(from)} on.</p>
      <Lines lines={lines} />
      <p class="pages">
        <Button onClick={onOlder}>Show pages</Button>
      </p>
    </>
  );
}

interface PageProps {
  kind: MessageKind | null;
  before: number;
  isNewest: boolean;
  onTurn(before: number | null): void;
}

/** Minimum time between requests while a list follows the network. */
const LEAST_ASK_MS = 1_000;

function Page({ kind, before, isNewest, onTurn }: PageProps) {
  const { found, why, again } = useAsked(
    `${kind} ${before}`,
    () => askWorker<MessagePage>('said', { before, kind }),
    LEAST_ASK_MS,
  );
  if (why !== '') return <Failed why={why} onAgain={again} />;
  if (!found) return <Loading what="messages" />;
  const { lines, next } = found;
  const what = kind === null ? 'messages' : `${messageKinds[kind]}s`;
  return (
    <>
      {lines.length === 0 && (
        <p class="faint">
          {next === null ? `No ${what} yet.` : `No ${what} from entry ${format(next)}.`}
        </p>
      )}
      {lines.length > 0 && <Lines lines={lines.map(lineOf)} />}
      <p class="pages">
        <Button disabled={isNewest} onClick={() => onTurn(null)}>
          Newest
        </Button>{' '}
        {`entries ${next === null ? 0 : format(next)} to ${format(before - 1)}`}{' '}
        <Button disabled={next === null} onClick={() => onTurn(next)}>
          Older
        </Button>
      </p>
    </>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  const list = useRef<HTMLOListElement>(null);
  useRovingTabIndex(list, 'first');
  return (
    <>
      <p class="unseen" id="said-keys">
        Newest first. Arrow keys move between rows and along a row.
      </p>
      <ol
        class="lines talk-lines"
        ref={list}
        aria-labelledby="said"
        aria-describedby="said-keys"
        onKeyDown={moveTabStop}
      >
        {lines.map((line) => (
          <li key={line.key} class={line.is}>
            {line.is === 'omitted' ? <Omitted count={line.count} /> : <Spoken line={line} />}
          </li>
        ))}
      </ol>
    </>
  );
}

const Omitted = ({ count }: { count: number }) => (
  <p class="faint">{plural(count, 'message')} omitted. Pause to read all messages.</p>
);

function Spoken({ line }: { line: MessageLine }) {
  const { said: one, agents, blocks, count } = line;
  return (
    <>
      <p class="by" data-count={count}>
        {agents.size === 1 && <AgentLink number={one.who} />}
        {countSenders(line) !== '' && <b>{countSenders(line)}</b>}
        <span class="faint">
          {messageKinds[one.kind]}
          {one.stance !== '' && `, ${one.stance}`}
          {one.kind !== 'meme' && (
            <>
              , <BlockLink number={one.what} />
              {blocks.size > 1 && ` and ${plural(blocks.size - 1, 'earlier block')}`}
            </>
          )}
        </span>
        <span class="faint when">
          {moment(one.at)}, <EntryLink entry={one.entry} />
        </span>
      </p>
      {one.text !== '' && (
        <p>
          <bdi>{cleanText(one.text, 500)}</bdi>
        </p>
      )}
    </>
  );
}

function Posted() {
  const last = memes.value.slice(-MEMES_SHOWN).reverse();
  return (
    <section class="panel" aria-labelledby="posted">
      <header>
        <h2 id="posted">Memes</h2>
        <p>
          {last.length === 0
            ? 'No memes yet.'
            : 'Untrusted content, opened on request. Animated images show their first frame.'}
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

type Line =
  | ({ is: 'said'; key: string } & MessageLine)
  | { is: 'omitted'; key: string; count: number };

const LINES_EVERY_MS = 1_000;
/** Number of new lines per update. */
const LINES_AT_ONCE = 4;
const LINES_KEPT = 80;
/** Number of lines in the first update. */
const LINES_AT_FIRST = 40;

interface Seen {
  /** First entry whose messages are counted. */
  from: number;
  entry: number;
  spoken: number;
}

/** Returns the lines, newest first, and the entry from which they count messages. */
function useLines(): { lines: readonly Line[]; from: number } {
  const [lines, set] = useState<readonly Line[]>([]);
  const seen = useRef<Seen | null>(null);
  useEffect(() => {
    const look = () => set((before) => looked(before, seen));
    look();
    const timer = setInterval(look, LINES_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  // Seeking back starts over.
  const entry = position.value?.entry ?? 0;
  useEffect(() => {
    if (seen.current && entry < seen.current.entry) {
      seen.current = null;
      set((before) => looked(before, seen));
    }
  }, [entry]);
  return { lines, from: seen.current?.from ?? messages.value[0]?.entry ?? 0 };
}

const linesOf = (all: readonly Message[]): readonly Line[] =>
  groupMessages(all).slice(0, LINES_AT_FIRST).map(lineOf);

function looked(before: readonly Line[], seen: { current: Seen | null }): readonly Line[] {
  const entry = position.peek()?.entry ?? 0;
  const { remarks = 0, memes = 0 } = totals.peek() ?? {};
  const last = seen.current;
  const all = messages.peek();
  const from = last?.from ?? all[0]?.entry ?? 0;
  seen.current = { from, entry, spoken: remarks + memes };
  if (!last) return linesOf(all);
  const fresh = all.filter((one) => one.entry > last.entry);
  if (fresh.length === 0) return before;
  const kept = pickLines(groupMessages(fresh));
  const shown = kept.reduce((sum, { count }) => sum + count, 0);
  const spoken = Math.max(fresh.length, remarks + memes - last.spoken);
  const omitted = spoken - shown;
  const more: Line[] =
    omitted > 0 ? [{ is: 'omitted', key: `omitted ${entry}`, count: omitted }] : [];
  return [...merged(kept, before), ...more, ...before.filter((line) => !isIn(kept, line))].slice(
    0,
    LINES_KEPT,
  );
}

/**
 * Picks the newest lines. Remarks and memes precede vote reasons, because every vote has a reason.
 */
function pickLines(lines: readonly MessageLine[]): MessageLine[] {
  const isReason = ({ said }: MessageLine) => said.kind === 'reason';
  const first = [...lines.filter((line) => !isReason(line)), ...lines.filter(isReason)];
  const picked = new Set(first.slice(0, LINES_AT_ONCE));
  return lines.filter((line) => picked.has(line));
}

const isIn = (lines: readonly MessageLine[], line: Line): boolean =>
  line.is === 'said' && lines.some(({ said: one }) => getMessageKey(one) === line.key);

/** Merges new lines into equal lines that are already shown. */
function merged(lines: readonly MessageLine[], before: readonly Line[]): Line[] {
  return lines.map((line) => {
    const key = getMessageKey(line.said);
    const same = before.find((one) => one.is === 'said' && one.key === key);
    return lineOf(same?.is === 'said' ? mergeLines(line, same) : line);
  });
}

const lineOf = ({ said, count, agents, blocks }: MessageLine): Line => ({
  is: 'said',
  key: getMessageKey(said),
  ...{ said, count, agents, blocks },
});
