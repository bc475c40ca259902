/** What a block is, and what became of it. */
import { counted, shown, time } from '../../../report/shared/numbers.js';
import { blocks, position } from '../../data/store.js';
import { Glyph, outcomes } from '../../parts/glyph.js';
import { Fact } from '../../parts/lists/fact.js';
import { moment } from '../../parts/moment.js';
import { TallyBar } from '../../parts/tally.js';
import { plain } from '../../parts/text.js';
import { BlockLink, EntryLink, Who } from '../../parts/who.js';
import { href, hrefNow } from '../../route/router.js';
import type { Whole } from './fetch.js';

interface HeadProps {
  whole: Whole;
  /** What it is by now. */
  now: string;
}

export function Head({ whole: { block, electors }, now }: HeadProps) {
  const { height, status, block_hash, tally, closed_at } = block;
  const proposed = Date.parse(block.timestamp);
  const known = blocks.value.find(({ hash }) => hash === block_hash);
  return (
    <section class="panel" aria-labelledby="block">
      <header class="block-head">
        <h1 id="block">
          Block {height} <Glyph status={status} />{' '}
          <span class="outcome">{outcomes[status] ?? plain(status, 32)}</span>
        </h1>
        <Neighbours hash={block_hash} />
      </header>
      {now !== status && <Since hash={block_hash} now={now} />}
      {known && <TallyBar block={{ ...known, ...weights(tally) }} />}
      <dl class="facts">
        <Fact name="proposed by">
          <Who id={block.producer.id} />
        </Fact>
        <Fact name="proposed at">
          {moment(proposed)}
          {known && (
            <>
              , <EntryLink entry={known.entry} />
            </>
          )}
        </Fact>
        <Fact name={closed_at ? 'decided after' : 'deadline'}>
          {closed_at
            ? time(Date.parse(closed_at) - proposed)
            : moment(Date.parse(block.voting_deadline))}
        </Fact>
        <Fact name="weight">
          {shown(tally.approve)} approve, {shown(tally.reject)} reject, of {shown(tally.electorate)}
        </Fact>
        <Fact name="may vote">{counted(electors, 'agent')}</Fact>
        <Fact name="transactions">{shown(block.transactions)}</Fact>
        <Fact name="follows">
          <BlockLink hash={block.parent_hash} />
        </Fact>
        <Fact name="hash" whole>
          <code>{block_hash}</code>
        </Fact>
      </dl>
    </section>
  );
}

/** The page stands before its end: what became of it is another picture. */
function Since({ hash, now }: { hash: string; now: string }) {
  return (
    <p class="caption" role="note">
      This is how it stood at entry {shown(position.value!.entry)}.{' '}
      <a href={hrefNow('block', hash)}>By now it is {plain(now, 32)}</a>.
    </p>
  );
}

const weights = ({ approve, reject }: { approve: number; reject: number }) => ({ approve, reject });

function Neighbours({ hash }: { hash: string }) {
  const list = blocks.value;
  const place = list.findIndex((block) => block.hash === hash);
  const [before, after] = place < 0 ? [] : [list[place - 1], list[place + 1]];
  return (
    <nav class="neighbours" aria-label="Blocks beside it">
      {before && (
        <a class="button" href={href('block', before.hash)}>
          ← Block {before.height}
        </a>
      )}
      {after && (
        <a class="button" href={href('block', after.hash)}>
          Block {after.height} →
        </a>
      )}
    </nav>
  );
}
