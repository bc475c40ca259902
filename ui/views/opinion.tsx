/** The Opinion view: all agents on the two axes along which their votes differ most. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { AllianceRow } from '../../api/view/model.js';
import { plural } from '../../report/shared/format.js';
import type { Brush } from '../brush.js';
import { createKindLookup, getMainSorting, kindOf, kinds } from '../components/bands.js';
import { AgentLink, cleanText } from '../components/labels.js';
import { Empty, Figure, Loading, PagedRows } from '../components/lists.js';
import { findNearest, Plane } from '../components/plane.js';
import { useScenario, useWorkerAnswer } from '../components/requests.js';
import { agents, alliances, clock } from '../data/store.js';
import type { Axis, Opinion } from '../player/opinion.js';
import { href } from '../route.js';
import { COLORS, type Drawn, drawMap, layOutMap, mapHeight, shapeOf } from './opinion-map.js';

export function View() {
  const before = useRef<Opinion | null>(null);
  useScenario();
  // Axes have no sign. A moving map is aligned with the previous map. The map at a fixed entry is
  // not aligned, so that its link always shows the same map.
  const { mode, follows } = clock.value;
  const moves = mode === 'playing' || (mode === 'live' && follows);
  const answer = useWorkerAnswer<{ opinion: Opinion | null }>(
    'opinion',
    () => (moves ? before.current : null),
    String(moves),
  );
  if (!answer) return <Loading what="votes on recent blocks" />;
  const { opinion } = answer;
  if (!opinion) {
    return (
      <Empty title="Not enough votes yet">
        <p>
          The map needs at least two agents with votes and at least two blocks.{' '}
          <a href={href('now')}>Open Now</a>
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
          Voting similarity
          <span class="faint">
            , blocks {heights[0]} to {heights[1]}
          </span>
        </h1>
      </header>
      <Figure
        title="Opinion map"
        caption={
          <>
            Agents, placed by their votes on the last {plural(blocks, 'block')} (principal
            components, unitless). Agents that voted alike are close together. Agents that voted
            rarely are near the middle. The two axes explain {share} % of the variance, and their
            labels name the blocks with the largest weights. Dashed: active alliances. n ={' '}
            {plural(opinion.agents.length, 'agent')}.
          </>
        }
        chart={() => (
          <>
            <KindLegend />
            <OpinionMap
              opinion={opinion}
              alliances={alliances.value.filter(({ status }) => status === 'active')}
              names={[endsOf(axes[0]), endsOf(axes[1])]}
            />
          </>
        )}
        table={() => <Places opinion={opinion} names={[endOf(axes[0]), endOf(axes[1])]} />}
      />
    </>
  );
}

/** Returns the labels for both ends of an axis. */
const endsOf = (axis: Axis) => ({ low: endText(axis, false), high: endText(axis, true) });

const endOf = (axis: Axis) => `axis: ${endText(axis, true)}`;

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

interface MapProps {
  opinion: Opinion;
  alliances: readonly AllianceRow[];
  names: [{ low: string; high: string }, { low: string; high: string }];
}

function OpinionMap({ opinion, alliances, names }: MapProps) {
  const [width, setWidth] = useState(0);
  const sorting = getMainSorting();
  const map = useMemo(() => {
    let layout: Drawn = layOutMap(opinion, width || 640);
    return {
      paint(brush: Brush): boolean {
        if (layout.width !== brush.width) layout = layOutMap(opinion, brush.width);
        setWidth(brush.width);
        drawMap(brush, layout, createKindLookup(sorting), alliances);
        return false;
      },
      agentAt(x: number, y: number): number | null {
        const mark = findNearest(layout.x, layout.y, x, y);
        return mark === null ? null : opinion.agents[mark]!;
      },
      origin: () => layout.originX,
    };
  }, [opinion, alliances, sorting]);
  // Centered on the axis, within the width.
  const above = { marginLeft: `${Math.max(90, Math.min(width - 90, map.origin()))}px` };
  const drawn = plural(opinion.agents.length, 'agent');
  const label = `${drawn} by voting similarity. The same data is in the table.`;
  return (
    <div class="opinion">
      <p class="axis up faint" aria-hidden="true" style={above}>
        ↑ {names[1].high}
      </p>
      <Plane label={label} height={mapHeight} follows={false} {...map} />
      <p class="axis across faint" aria-hidden="true">
        <span>← {names[0].low}</span>
        <span>{names[0].high} →</span>
      </p>
      <p class="axis down faint" aria-hidden="true" style={above}>
        ↓ {names[1].low}
      </p>
    </div>
  );
}

function KindLegend() {
  agents.count.value;
  const all = kinds(getMainSorting());
  const named = all.slice(0, COLORS);
  return (
    <ul class="legend">
      {named.map((kind, index) => (
        <li key={kind}>
          <Shape index={index} /> {cleanText(kind, 24)}
        </li>
      ))}
      {all.length > COLORS && (
        <li>
          <Shape index={COLORS} /> others
        </li>
      )}
    </ul>
  );
}

function Shape({ index }: { index: number }) {
  return (
    <svg
      viewBox="-8 -8 16 16"
      width="16"
      height="16"
      aria-hidden="true"
      class="kind"
      style={{ fill: `var(--c${index + 1})` }}
    >
      <path d={shapeOf(index)} />
    </svg>
  );
}

function Places({ opinion, names }: { opinion: Opinion; names: [string, string] }) {
  const sorting = getMainSorting();
  const { agents: numbers, x, y } = opinion;
  const order = [...numbers.keys()].sort(
    (one, other) => Math.hypot(x[other]!, y[other]!) - Math.hypot(x[one]!, y[one]!),
  );
  return (
    <PagedRows
      caption="Agents by position, farthest from the middle first"
      head={['agent', sorting, names[0], names[1]]}
      numeric={[2, 3]}
      all={order}
      row={(place) => [
        <AgentLink number={numbers[place]!} />,
        cleanText(kindOf(sorting, numbers[place]!), 32),
        x[place]!.toFixed(2),
        y[place]!.toFixed(2),
      ]}
    />
  );
}
