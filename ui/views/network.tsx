/** The Network view: all agents and links of the scenario's graph, with the votes on a block. */
import { type Body, forceLink, forceManyBody, forceSimulation, forceX, forceY } from 'd3-force';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { plural } from '../../report/shared/format.js';
import { findNearest, Tip } from '../components/grid.js';
import { AgentLink, cleanText, getDecision, useWidth, watchScheme } from '../components/labels.js';
import { Figure, Pages, Rows, slicePage } from '../components/lists.js';
import { Empty, Loading } from '../components/placeholders.js';
import { type Graph, graph, useScenario } from '../components/requests.js';
import { approves, rejects } from '../data/messages.js';
import { agents, canAsk, capabilities, getFocusedBlock } from '../data/store.js';
import { go, href, useChoice, usePage } from '../route.js';

/** Largest graph that is drawn. */
const MOST_AGENTS = 2_000;

export function View() {
  useScenario();
  const known = graph.value;
  const block = getFocusedBlock();
  if (capabilities.value === null) return <Loading what="the graph" />;
  if (!known) return <NoGraph />;
  if (known.ids.length > MOST_AGENTS) {
    return (
      <Empty title="The graph is too large to draw">
        <p>
          It has {plural(known.ids.length, 'agent')}, and the view draws at most {MOST_AGENTS}. An
          agent's own page shows its neighbours. <a href={href('agents')}>Open Agents</a>
        </p>
      </Empty>
    );
  }
  return (
    <>
      <header class="view-head">
        <h1>
          Network
          <span class="faint">{block ? `, votes on block ${block.height}` : ''}</span>
        </h1>
      </header>
      <Figure
        title="Network graph"
        caption={
          <>
            Agents and their links ({cleanText(known.topology, 32)}), placed by a force layout:
            linked agents attract each other. A coloured link joins two agents with the same vote. n
            = {plural(known.ids.length, 'agent')}, {plural(known.edges.length, 'link')}.
          </>
        }
        chart={() => (
          <>
            <MarkLegend />
            <Drawing of={known} />
          </>
        )}
        table={() => <Degrees of={known} />}
      />
    </>
  );
}

const marks: readonly (readonly [string, string, string])[] = [
  ['approve', 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z', 'approves'],
  ['reject', 'M0-6L6 0 0 6-6 0Z', 'rejects'],
  ['pending', 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z', 'has not voted'],
];

const MarkLegend = () => (
  <ul class="legend">
    {marks.map(([name, path, text]) => (
      <li key={name}>
        <svg class={`mark ${name}`} viewBox="-7 -7 14 14" width="14" height="14" aria-hidden="true">
          <path d={path} />
        </svg>{' '}
        {text}
      </li>
    ))}
  </ul>
);

function NoGraph() {
  const why = canAsk('scenario')
    ? 'This run has no graph, or its graph has too many links to send.'
    : 'A graph belongs to a scenario, and this network has none.';
  return (
    <Empty title="No graph">
      <p>
        {why} <a href={href('agents')}>Open Agents</a>
      </p>
    </Empty>
  );
}

function Degrees({ of }: { of: Graph }) {
  agents.version.value;
  const [page, turn] = usePage();
  const degrees = useMemo(() => {
    const counts = new Map<number, number>();
    for (const edge of of.edges)
      for (const end of edge) counts.set(end, (counts.get(end) ?? 0) + 1);
    return counts;
  }, [of]);
  const places = of.ids.map((_, place) => place);
  places.sort((one, other) => (degrees.get(other) ?? 0) - (degrees.get(one) ?? 0));
  const rows = slicePage(places, page).map((place) => {
    const number = agents.numberOf(of.ids[place]!);
    return [
      <AgentLink key="agent" id={of.ids[place]!} />,
      degrees.get(place) ?? 0,
      number === null ? 'not registered' : getDecision(number),
    ];
  });
  return (
    <>
      <Rows
        caption="Agents by links"
        head={['agent', 'links', 'this block']}
        numeric={[1]}
        rows={rows}
      />
      <Pages of={places.length} page={page} onTurn={turn} />
    </>
  );
}

const HEIGHT = 620;
const MARGIN = 16;
/** Time per frame for the layout. */
const FRAME_MS = 10;

/** The layout in progress. Positions are arbitrary units until they are scaled to the canvas. */
function createLayout({ ids, edges }: Graph) {
  const bodies: Body[] = ids.map(() => ({}));
  const links = edges.map(([source, target]) => ({ source, target }));
  const forces = forceSimulation(bodies)
    .force('link', forceLink(links).distance(14).strength(0.35))
    .force('charge', forceManyBody().strength(-22).distanceMax(400))
    .force('x', forceX().strength(0.02))
    .force('y', forceY().strength(0.02))
    .stop();
  return {
    bodies,
    /** Improves the layout for a frame. Returns false once it is final. */
    improve(): boolean {
      const until = performance.now() + FRAME_MS;
      while (forces.alpha() > forces.alphaMin() && performance.now() < until) forces.tick();
      return forces.alpha() > forces.alphaMin();
    },
  };
}

type Placed = Float32Array;

/** Scales the layout to the canvas. Returns x and y by position. */
function place(bodies: readonly Body[], width: number): Placed {
  const placed = new Float32Array(2 * bodies.length);
  const [xs, ys] = [bodies.map(({ x = 0 }) => x), bodies.map(({ y = 0 }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const scale = Math.min(
    (width - 2 * MARGIN) / Math.max(1e-6, Math.max(...xs) - left),
    (HEIGHT - 2 * MARGIN) / Math.max(1e-6, Math.max(...ys) - top),
  );
  const across = (width - scale * (Math.max(...xs) - left)) / 2;
  const down = (HEIGHT - scale * (Math.max(...ys) - top)) / 2;
  for (let node = 0; node < bodies.length; node += 1) {
    placed[2 * node] = across + scale * (xs[node]! - left);
    placed[2 * node + 1] = down + scale * (ys[node]! - top);
  }
  return placed;
}

function Drawing({ of }: { of: Graph }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const placed = useRef<Placed>(new Float32Array());
  const width = useWidth(box);
  const [selected, choose] = useChoice('sel');
  const [tip, setTip] = useState<{ x: number; y: number; number: number } | null>(null);
  const layout = useMemo(() => createLayout(of), [of]);
  useEffect(() => {
    if (width === 0) return;
    let frame = 0;
    let moves = true;
    const draw = () => {
      frame = 0;
      if (moves) {
        moves = layout.improve();
        placed.current = place(layout.bodies, width);
      }
      drawGraph(canvas.current!, of, { placed: placed.current, width, selected });
      if (moves) soon();
    };
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    soon();
    const stops = [agents.watch(soon), watchScheme(soon)];
    return () => {
      for (const stop of stops) stop();
      cancelAnimationFrame(frame);
    };
  }, [layout, width, selected]);
  const nearest = (event: MouseEvent) => {
    const at = findNearest(event, of.ids.length, (node, x, y) =>
      Math.hypot(placed.current[2 * node]! - x, placed.current[2 * node + 1]! - y),
    );
    const number = at && agents.numberOf(of.ids[at.mark]!);
    return number === null ? null : { ...at!, number };
  };
  return (
    <div class="graph" ref={box}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${plural(of.ids.length, 'agent')} and their links, as in the table.`}
        onPointerMove={(event) => setTip(nearest(event))}
        onPointerLeave={() => setTip(null)}
        onClick={(event) => {
          const at = nearest(event);
          choose(at ? agents.rows[at.number]!.id : null);
        }}
        onDblClick={(event) => {
          const at = nearest(event);
          if (at) go(href('agent', agents.rows[at.number]!.id));
        }}
      />
      {tip && <Tip at={tip} width={width} />}
    </div>
  );
}

interface Shown {
  placed: Placed;
  width: number;
  /** Id of the selected agent, whose links are drawn strong. */
  selected: string | null;
}

const colorNames = ['--line', '--c1', '--c2'] as const;

function drawGraph(element: HTMLCanvasElement, { ids, edges }: Graph, shown: Shown): void {
  const { placed, width, selected } = shown;
  const ratio = devicePixelRatio;
  element.width = Math.ceil(width * ratio);
  element.height = Math.ceil(HEIGHT * ratio);
  element.style.width = `${width}px`;
  element.style.height = `${HEIGHT}px`;
  const context = element.getContext('2d')!;
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name);
  const numbers = ids.map((id) => agents.numberOf(id));
  const votes = numbers.map((number) => (number === null ? 0 : agents.decision[number]!));
  const chosen = selected === null ? -1 : ids.indexOf(selected);
  const drawn = colorNames.map(() => new Path2D());
  const strong = new Path2D();
  for (const [one, other] of edges) {
    const isAlike = votes[one] !== 0 && votes[one] === votes[other];
    const path = one === chosen || other === chosen ? strong : drawn[isAlike ? votes[one]! : 0]!;
    path.moveTo(placed[2 * one]!, placed[2 * one + 1]!);
    path.lineTo(placed[2 * other]!, placed[2 * other + 1]!);
  }
  context.lineWidth = edges.length > 4_000 ? 0.4 : 0.8;
  for (const [place, path] of drawn.entries()) {
    context.strokeStyle = color(colorNames[place]!);
    context.globalAlpha = place === 0 ? 1 : 0.45;
    context.stroke(path);
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.6;
  context.strokeStyle = color('--ink');
  context.stroke(strong);
  const radius = ids.length > 1_000 ? 3 : ids.length > 200 ? 4.5 : 8;
  for (const [node, number] of numbers.entries()) {
    if (number === null) continue;
    drawAgent(context, color, {
      vote: votes[node]!,
      radius,
      x: placed[2 * node]!,
      y: placed[2 * node + 1]!,
    });
    if (node !== chosen) continue;
    context.strokeStyle = color('--ink');
    context.strokeRect(
      placed[2 * node]! - radius - 3,
      placed[2 * node + 1]! - radius - 3,
      2 * radius + 6,
      2 * radius + 6,
    );
  }
}

interface Mark {
  vote: number;
  radius: number;
  x: number;
  y: number;
}

/** A disc approves, a diamond rejects, and a ring has not voted. */
function drawAgent(
  context: CanvasRenderingContext2D,
  color: (name: string) => string,
  { vote, radius, x, y }: Mark,
): void {
  context.beginPath();
  if (vote === rejects) {
    context.moveTo(x, y - radius);
    context.lineTo(x + radius, y);
    context.lineTo(x, y + radius);
    context.lineTo(x - radius, y);
    context.closePath();
  } else context.arc(x, y, radius * 0.85, 0, 2 * Math.PI);
  context.fillStyle = color(vote === approves ? '--c1' : vote === rejects ? '--c2' : '--paper');
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = color(vote === 0 ? '--faint' : '--paper');
  context.stroke();
}
