/** What is said and posted: remarks, reasons of votes, memes; no faster than somebody can read. */
import { useRef } from 'preact/hooks';
import type { SaidKind } from '../../../api/view/model.js';
import { shown } from '../../../report/shared/numbers.js';
import { memes, said } from '../../data/store.js';
import { rove, useRoving } from '../../parts/lists/roving.js';
import { Meme } from '../../parts/meme/meme.js';
import { moment } from '../../parts/moment.js';
import { Empty } from '../../parts/server/states.js';
import { plain } from '../../parts/text.js';
import { BlockLink, EntryLink, Who } from '../../parts/who.js';
import { useOneOf } from '../../route/choice.js';
import { href } from '../../route/router.js';
import { type Line, useLines } from './lines.js';

const kinds = ['all', 'remarks', 'reasons', 'memes'] as const;
type Kinds = (typeof kinds)[number];
const MEMES = 24;

const verbs: Record<SaidKind, string> = {
  remark: 'on',
  reason: 'votes on',
  meme: 'posts a meme',
};

export function View() {
  const [kind, choose] = useOneOf('kind', kinds);
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
          <fieldset class="segments push">
            <legend class="unseen">Kinds that are shown</legend>
            {kinds.map((one) => (
              <button
                key={one}
                type="button"
                class="button"
                aria-pressed={one === kind}
                onClick={() => choose(one)}
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

function List({ kind }: { kind: Kinds }) {
  const lines = useLines();
  const wanted = lines.filter((line) =>
    kind === 'all' || line.is === 'omitted' ? true : `${line.said.kind}s` === kind,
  );
  const list = useRef<HTMLOListElement>(null);
  useRoving(list, 'first');
  return wanted.every((line) => line.is === 'omitted') ? (
    <p class="faint">Nothing of that kind was said lately.</p>
  ) : (
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
        {wanted.map((line) => (
          <li key={line.key} class={line.is}>
            {line.is === 'omitted' ? <Omitted count={line.count} /> : <Spoken line={line} />}
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

function Spoken({ line: { said: one } }: { line: Line & { is: 'said' } }) {
  return (
    <>
      <p class="by">
        <Who number={one.who} />{' '}
        <span class="faint">
          {verbs[one.kind]} {one.kind !== 'meme' && <BlockLink number={one.what} />}
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
