/** Who votes like whom: all agents on the two directions in which their votes differ most. */
import { useRef } from 'preact/hooks';
import { counted } from '../../../report/shared/numbers.js';
import { alliances, clock } from '../../data/store.js';
import { Figure } from '../../parts/lists/figure.js';
import { useAsked } from '../../parts/server/asked.js';
import { Coming, Empty } from '../../parts/server/states.js';
import type { Axis, Opinion } from '../../player/answers/opinion.js';
import { href } from '../../route/router.js';
import { KindLegend } from './legend.js';
import { OpinionMap } from './map.js';
import { Places } from './places.js';

export function View() {
  const before = useRef<Opinion | null>(null);
  // The directions themselves have no up or down. What moves lies as it lay before; an entry that
  // somebody chose lies as it does for all others who open its link.
  const { mode, follows } = clock.value;
  const moves = mode === 'playing' || (mode === 'live' && follows);
  const answer = useAsked<{ opinion: Opinion | null }>(
    'opinion',
    () => (moves ? before.current : null),
    String(moves),
  );
  if (!answer) return <Coming what="the votes of the last blocks" />;
  const { opinion } = answer;
  if (!opinion) {
    return (
      <Empty title="There are too few votes for a map">
        <p>
          It takes two blocks that two agents voted on. Travel on, or see{' '}
          <a href={href('now')}>what happens</a>.
        </p>
      </Empty>
    );
  }
  before.current = opinion;
  const { heights, blocks, axes } = opinion;
  const share = Math.round(100 * (axes[0].share + axes[1].share));
  return (
    <>
      <header class="view-head">
        <h1>
          Who votes like whom
          <span class="faint">
            , in blocks {heights[0]} to {heights[1]}
          </span>
        </h1>
      </header>
      <Figure
        title="Opinion map"
        caption={
          <>
            Agents that stand near each other voted alike on the last {counted(blocks, 'block')}.
            Those that voted exactly alike stand close around one place. The two axes hold {share} %
            of all difference between voters, and are named by the blocks that divide them most. Who
            votes little stands near the middle. Dashed lines go around alliances.
          </>
        }
        picture={() => (
          <>
            <KindLegend />
            <OpinionMap
              opinion={opinion}
              alliances={alliances.value.filter(({ status }) => status === 'active')}
              names={[axisName(axes[0]), axisName(axes[1])]}
            />
          </>
        )}
        table={() => <Places opinion={opinion} names={[endOf(axes[0]), endOf(axes[1])]} />}
      />
    </>
  );
}

/** What leads to each end of an axis. */
function axisName(axis: Axis): { low: string; high: string } {
  return { low: endText(axis, false), high: endText(axis, true) };
}

const endOf = (axis: Axis) => `towards ${endText(axis, true)}`;

function endText({ blocks }: Axis, high: boolean): string {
  const heights = (approve: boolean) =>
    blocks.filter((block) => block.approve === approve).map(({ height }) => height);
  const [approving, rejecting] = [heights(high), heights(!high)];
  const parts = [
    approving.length > 0 && `approve ${approving.join(', ')}`,
    rejecting.length > 0 && `reject ${rejecting.join(', ')}`,
  ];
  return parts.filter(Boolean).join('; ');
}
