/** What a block is, and what became of it. */
import { shown, time } from '../../../report/shared/numbers.js';
import type { BlockShown } from '../../data/messages.js';
import { blocks, position } from '../../data/store.js';
import { Glyph, outcomes } from '../../parts/glyph.js';
import { Fact } from '../../parts/lists/fact.js';
import { moment } from '../../parts/moment.js';
import { TallyBar } from '../../parts/tally.js';
import { plain } from '../../parts/text.js';
import { BlockLink, EntryLink, Who } from '../../parts/who.js';
import { href } from '../../route/router.js';
import type { Whole } from './fetch.js';

export function Head({ whole: { block, electorate } }: { whole: Whole }) {
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
      {known && known.status !== status && <Then known={known} />}
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
        <Fact name="may vote">{shown(electorate.length)} agents</Fact>
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

/** The page may stand before the block's end: then what it was is told beside what became of it. */
function Then({ known }: { known: BlockShown }) {
  const { entry } = position.value!;
  return (
    <p class="caption" role="note">
      At entry {shown(entry)}, where the page stands, it was {outcomes[known.status]}:{' '}
      {shown(known.approve)} approve, {shown(known.reject)} reject. What follows is what became of
      it.
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
