/** What an agent said to the last blocks, against what became of them. */
import { counted, shown } from '../../../report/shared/numbers.js';
import type { BlockShown } from '../../data/messages.js';
import { blocks } from '../../data/store.js';
import { Glyph } from '../../parts/glyph.js';
import { Figure, Rows } from '../../parts/lists/figure.js';
import { useAsked } from '../../parts/server/asked.js';
import { BlockLink } from '../../parts/who.js';
import type { VoteOn } from '../../player/answers/votes.js';
import { href } from '../../route/router.js';

const MOST = 100;

interface Line {
  block: BlockShown;
  decision: VoteOn['decision'];
}

const words = (decision: VoteOn['decision']) => decision ?? 'did not vote';

export function Votes({ number }: { number: number }) {
  const all = useAsked<VoteOn[]>('votes', () => number, `${number}`);
  const known = new Map(blocks.value.map((block) => [block.number, block]));
  const lines: Line[] = (all ?? []).slice(-MOST).flatMap(({ block, decision }) => {
    const row = known.get(block);
    return row ? [{ block: row, decision }] : [];
  });
  if (all && lines.length === 0) {
    return (
      <section class="panel" aria-label="Votes">
        <h2>Votes</h2>
        <p class="faint">No block has been voted on yet.</p>
      </section>
    );
  }
  const voted = lines.filter(({ decision }) => decision !== null);
  const withIt = voted.filter(({ block, decision }) => agrees(block, decision));
  const decided = voted.filter(({ block }) => isDecided(block));
  return (
    <Figure
      title="Its votes"
      caption={
        <>
          The last {counted(lines.length, 'block')}, the newest on the right: blue it approved,
          orange and cut it rejected, empty it did not vote. It voted on {shown(voted.length)}, and
          on {shown(withIt.length)} of {shown(decided.length)} that were decided as the network did.
        </>
      }
      picture={() => (
        <ol class="vote-strip">
          {lines.map(({ block, decision }) => (
            <li key={block.number}>
              <a
                href={href('block', block.hash)}
                title={`Block ${block.height}, ${block.status}: ${words(decision)}`}
              >
                <span class={`swatch ${decision ?? 'pending'}`} aria-hidden="true" />
                <span class="unseen">
                  Block {block.height}, {block.status}: {words(decision)}
                </span>
                <Glyph status={block.status} />
              </a>
            </li>
          ))}
        </ol>
      )}
      table={() => (
        <Rows
          caption="Its votes, the newest first"
          head={['block', 'its vote', 'outcome']}
          rows={[...lines]
            .reverse()
            .map(({ block, decision }) => [
              <BlockLink number={block.number} />,
              words(decision),
              block.status === 'voting' ? 'in voting' : block.status,
            ])}
        />
      )}
    />
  );
}

const isDecided = ({ status }: BlockShown) => status === 'finalized' || status === 'rejected';
const agrees = (block: BlockShown, decision: VoteOn['decision']) =>
  isDecided(block) && (block.status === 'finalized') === (decision === 'approve');
