/**
 * The Talk view: what agents say for and against a block, then each of them; or all messages of a
 * kind, read from the log page by page. Beside it, the last memes.
 */
import { useRef } from 'preact/hooks';
import type { Message } from '../../api/view/model.js';
import { saidKinds } from '../../engine/protocol/event-types.js';
import { format, plural } from '../../report/shared/format.js';
import { AdjacentBlocks, explainOutcome, TallyBar } from '../components/block.js';
import {
  AgentLink,
  BlockLink,
  countSenders,
  EntryLink,
  messageText,
  moment,
  Name,
  sideOf,
} from '../components/labels.js';
import {
  Button,
  Empty,
  Failed,
  Glyph,
  Loading,
  moveTabStop,
  Pages,
  Panel,
  Segments,
  slicePage,
  useRovingTabIndex,
} from '../components/lists.js';
import { Memes } from '../components/meme.js';
import { useAsked, useWorkerAnswer } from '../components/requests.js';
import { askWorker } from '../data/connect.js';
import type { BlockItem } from '../data/messages.js';
import { getFocusedBlock, memes, messages, position, totals } from '../data/store.js';
import { getMessageKey, type MessageLine, type MessagePage } from '../player/answers.js';
import { href, useChoice, useOneOf, usePage } from '../route.js';

const kinds = ['by block', 'all', 'remarks', 'reasons', 'memes'] as const;
type Kinds = (typeof kinds)[number];
const MEMES_SHOWN = 24;

/** Entry number in the address. */
const ENTRY = /^\d{1,15}$/;

export function View() {
  const [kind, choose] = useOneOf('kind', kinds);
  const [, turn] = useChoice('before');
  const [, turnPage] = usePage();
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
  const block = kind === 'by block' ? getFocusedBlock() : undefined;
  return (
    <div class="talk">
      <section class="panel" aria-labelledby="said">
        <header>
          <h1 id="said">{block ? `Messages about block ${block.height}` : 'Messages'}</h1>
          {block && (
            <AdjacentBlocks
              hash={block.hash}
              to={({ number }) => href('talk', undefined, { focus: String(number) })}
            />
          )}
          <Total kind={kind} />
          <Segments
            name="Message kinds"
            all={kinds}
            here={kind}
            onChoose={(one) => {
              choose(one);
              turn(null);
              turnPage(0);
            }}
            push
          />
        </header>
        {block ? <ByBlock key={block.number} block={block} /> : <Listed key={kind} kind={kind} />}
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

/** The words of the two sides with their senders, then the single messages, newest first. */
function ByBlock({ block }: { block: BlockItem }) {
  const { number, entry: from, closed_at: closedAt, status } = block;
  const said = useWorkerAnswer<Message[]>(
    'about',
    () => ({ block: number, from, to: position.value!.entry, closedAt, kind: null }),
    `${number}`,
  );
  const [page, turn] = usePage();
  if (!said) return <Loading what="messages" />;
  const shown = slicePage([...said].reverse(), page);
  return (
    <>
      <p class="outcome">
        <Glyph status={status} /> {explainOutcome(status)}
      </p>
      <TallyBar block={block} />
      <div class="sides">
        {(['for', 'against', 'neutral'] as const).map((side) => (
          <Side key={side} of={side} said={said} />
        ))}
      </div>
      {said.length === 0 && <p class="faint">No messages about this block yet.</p>}
      <Lines lines={shown.map(lineOf)} />
      <Pages of={said.length} page={page} onTurn={turn} />
    </>
  );
}

const lineOf = (said: Message): MessageLine => ({
  ...{ said, count: 1, agents: new Set([said.who]), blocks: new Set([said.what]) },
});

/** Shared texts per side. */
const TEXTS_SHOWN = 5;

function Side({ of, said }: { of: ReturnType<typeof sideOf>; said: readonly Message[] }) {
  const own = said.filter(({ stance }) => sideOf(stance) === of);
  if (own.length === 0) return null;
  const senders = (all: readonly Message[]) => new Set(all.map(({ who }) => who)).size;
  const texts = new Map<string, Set<number>>();
  for (const { text, who } of own) texts.set(text, (texts.get(text) ?? new Set()).add(who));
  const shared = [...texts]
    .filter(([text, { size }]) => text !== '' && size > 1)
    .sort(([, one], [, other]) => other.size - one.size);
  const remarks = own.filter(({ kind }) => kind === 'remark').length;
  const counts = [
    own.length > remarks && plural(own.length - remarks, 'reason'),
    remarks > 0 && plural(remarks, 'remark'),
  ];
  return (
    <section class={`side ${of}`} aria-label={of}>
      <h2>
        {of}: {plural(senders(own), 'agent')}{' '}
        <span class="faint">{counts.filter(Boolean).join(', ')}</span>
      </h2>
      <ul>
        {shared.slice(0, TEXTS_SHOWN).map(([text, { size }]) => (
          <li key={text}>
            <i style={{ width: `${(100 * size) / senders(said)}%` }} />
            <b>{format(size)}</b> <Name text={text} most={200} />
          </li>
        ))}
      </ul>
      {shared.length === 0 && <p class="faint">Each text has one sender.</p>}
    </section>
  );
}

/** Minimum time between requests while a list follows the network. */
const LEAST_ASK_MS = 1_000;

/** A page of messages from the log. At the newest entry it follows the network. */
function Listed({ kind }: { kind: Kinds }) {
  const [chosen, turn] = useChoice('before');
  const end = (position.value?.entry ?? 0) + 1;
  const before = chosen !== null && ENTRY.test(chosen) ? Math.min(Number(chosen), end) : end;
  const saidKind = saidKinds.find((one) => `${one}s` === kind) ?? null;
  const { found, why, again } = useAsked(
    `${saidKind} ${before}`,
    () => askWorker<MessagePage>('said', { before, kind: saidKind }),
    LEAST_ASK_MS,
  );
  if (why !== '') return <Failed why={why} onAgain={again} />;
  if (!found) return <Loading what="messages" />;
  const { lines, next } = found;
  const what = saidKind === null ? 'messages' : `${saidKind}s`;
  return (
    <>
      {lines.length === 0 && (
        <p class="faint">
          {next === null ? `No ${what} yet.` : `No ${what} from entry ${format(next)}.`}
        </p>
      )}
      <Lines lines={lines} />
      <p class="pages">
        <Button disabled={before === end} onClick={() => turn(null)}>
          Newest
        </Button>{' '}
        {`entries ${next === null ? 0 : format(next)} to ${format(before - 1)}`}{' '}
        <Button disabled={next === null} onClick={() => turn(String(next))}>
          Older
        </Button>
      </p>
    </>
  );
}

function Lines({ lines }: { lines: readonly MessageLine[] }) {
  const list = useRef<HTMLOListElement>(null);
  useRovingTabIndex(list, 'first');
  if (lines.length === 0) return null;
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
          <li key={`${line.said.who} ${getMessageKey(line.said)}`}>
            <Spoken line={line} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Spoken({ line }: { line: MessageLine }) {
  const { said: one, agents, blocks: about, count } = line;
  return (
    <>
      <p class="by" data-count={count}>
        {agents.size === 1 && <AgentLink number={one.who} />}
        {countSenders(line) !== '' && <b>{countSenders(line)}</b>}
        <span class="faint">
          {messageText(one)}
          {one.kind !== 'meme' && (
            <>
              , <BlockLink number={one.what} />
              {about.size > 1 && ` and ${plural(about.size - 1, 'earlier block')}`}
            </>
          )}
        </span>
        <span class="faint when">
          {moment(one.at)}, <EntryLink entry={one.entry} />
        </span>
      </p>
      {one.text !== '' && (
        <p>
          <Name text={one.text} most={500} />
        </p>
      )}
    </>
  );
}

/** The last memes, those with equal captions once. */
function Posted() {
  const byCaption = new Map(memes.value.map((meme) => [`${meme.caption} ${meme.type}`, meme]));
  const last = [...byCaption.values()].sort((a, b) => b.number - a.number).slice(0, MEMES_SHOWN);
  return (
    <Panel
      title="Memes"
      note={
        last.length === 0
          ? 'No memes yet.'
          : 'Untrusted content, opened on request. The last of each caption. Animated images ' +
            'show their first frame.'
      }
    >
      <Memes of={last} />
    </Panel>
  );
}
