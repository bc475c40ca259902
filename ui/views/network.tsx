/**
 * The Network view: the scenario's graph, with the votes on a block. Up to 2,000 agents are placed
 * by forces; more agents are the rows and columns of a matrix, which has a point for each link.
 */
import { type Body, forceLink, forceManyBody, forceSimulation, forceX, forceY } from 'd3-force';
import { useMemo } from 'preact/hooks';
import { plural } from '../../report/shared/format.js';
import type { Brush } from '../brush.js';
import { outcomeText } from '../components/block.js';
import { DecisionLegend } from '../components/grid.js';
import { AgentLink, cleanText, getAgentName, getDecision } from '../components/labels.js';
import { Empty, Figure, Loading, PagedRows } from '../components/lists.js';
import { findNearest, Plane } from '../components/plane.js';
import { type Graph, graph, useScenario } from '../components/requests.js';
import { rejects } from '../data/messages.js';
import { agents, canAsk, capabilities, getFocusedBlock } from '../data/store.js';
import { href } from '../route.js';

/** Largest graph that is placed by forces. */
const MOST_AGENTS = 2_000;

export function View() {
  useScenario();
  const known = graph.value;
  const block = getFocusedBlock();
  if (capabilities.value === null) return <Loading what="the graph" />;
  if (!known) return <NoGraph />;
  const isMatrix = known.ids.length > MOST_AGENTS;
  const n = `n = ${plural(known.ids.length, 'agent')}, ${plural(known.edges.length, 'link')}`;
  const topology = cleanText(known.topology, 32);
  return (
    <>
      <header class="view-head">
        <h1>
          Network
          <span class="faint">
            {block ? `, votes on block ${block.height}, ${outcomeText(block.status)}` : ''}
          </span>
        </h1>
      </header>
      <Figure
        title={isMatrix ? 'Network matrix' : 'Network graph'}
        caption={
          isMatrix
            ? `A point for each link (${topology}), between the agents of its row and column, ` +
              'by group, then by distance from the first agent. The edges show the votes. A ' +
              `coloured point joins two agents with the same vote. ${n}.`
            : `Agents and their links (${topology}), placed by a force layout: linked agents ` +
              `attract each other. A coloured link joins two agents with the same vote. ${n}.`
        }
        chart={() => (
          <>
            <DecisionLegend />
            {isMatrix ? <Matrix of={known} /> : <Drawing of={known} />}
          </>
        )}
        table={() => <Degrees of={known} />}
      />
    </>
  );
}

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
  const degrees = useMemo(() => linksOf(of).map(({ length }) => length), [of]);
  const places = of.ids.map((_, place) => place);
  places.sort((one, other) => degrees[other]! - degrees[one]!);
  return (
    <PagedRows
      caption="Agents by links"
      head={['agent', 'links', 'this block']}
      numeric={[1]}
      all={places}
      row={(place) => {
        const number = agents.numberOf(of.ids[place]!);
        return [
          <AgentLink key="agent" id={of.ids[place]!} />,
          degrees[place]!,
          number === null ? 'not registered' : getDecision(number),
        ];
      }}
    />
  );
}

/** Returns the linked positions of each position. */
function linksOf({ ids, edges }: Graph): number[][] {
  const linked: number[][] = ids.map(() => []);
  for (const [one, other] of edges) {
    linked[one]!.push(other);
    linked[other]!.push(one);
  }
  return linked;
}

const HEIGHT = 540;
const MARGIN = 16;
/** Most that one axis of the layout is stretched beyond the other, to fill the panel. */
const MOST_STRETCH = 2;
/** Largest graph with the names of its agents. */
const MOST_NAMED = 60;
/** Time per frame for the layout. */
const FRAME_MS = 8;

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

interface Placed {
  x: Float32Array;
  y: Float32Array;
}

/** Scales the layout to the canvas. */
function place(bodies: readonly Body[], width: number): Placed {
  const [xs, ys] = [bodies.map(({ x = 0 }) => x), bodies.map(({ y = 0 }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [wide, high] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const fitted = [
    (width - 2 * MARGIN) / Math.max(1e-6, wide),
    (HEIGHT - 2 * MARGIN) / Math.max(1e-6, high),
  ];
  const most = MOST_STRETCH * Math.min(...fitted);
  const [scaleX, scaleY] = [Math.min(fitted[0]!, most), Math.min(fitted[1]!, most)];
  const [across, down] = [(width - scaleX * wide) / 2, (HEIGHT - scaleY * high) / 2];
  return {
    x: Float32Array.from(xs, (x) => across + scaleX * (x - left)),
    y: Float32Array.from(ys, (y) => down + scaleY * (y - top)),
  };
}

function Drawing({ of }: { of: Graph }) {
  const drawing = useMemo(() => {
    const layout = createLayout(of);
    let placed: Placed = { x: new Float32Array(), y: new Float32Array() };
    let [moves, wide] = [true, 0];
    return {
      paint(brush: Brush): boolean {
        if (moves || wide !== brush.width) {
          moves &&= layout.improve();
          wide = brush.width;
          placed = place(layout.bodies, wide);
        }
        drawGraph(brush, of, placed);
        return moves;
      },
      agentAt(x: number, y: number): number | null {
        const node = findNearest(placed.x, placed.y, x, y);
        return node === null ? null : agents.numberOf(of.ids[node]!);
      },
    };
  }, [of]);
  return (
    <Plane
      label={`${plural(of.ids.length, 'agent')} and their links, as in the table.`}
      height={() => HEIGHT}
      {...drawing}
    />
  );
}

/** Colours by vote: none, approval, rejection. */
const colorNames = ['--line', '--c1', '--c2'] as const;

/** Returns the votes by position; 0 for an agent without a vote. */
const votesOf = ({ ids }: Graph): number[] =>
  ids.map((id) => agents.decision[agents.numberOf(id) ?? -1] ?? 0);

function drawGraph({ context, color, selected, width }: Brush, of: Graph, { x, y }: Placed): void {
  const { ids, edges } = of;
  const votes = votesOf(of);
  const chosen = selected === null ? -1 : ids.indexOf(selected);
  const drawn = colorNames.map(() => new Path2D());
  const strong = new Path2D();
  for (const [one, other] of edges) {
    const isAlike = votes[one] !== 0 && votes[one] === votes[other];
    const path = one === chosen || other === chosen ? strong : drawn[isAlike ? votes[one]! : 0]!;
    path.moveTo(x[one]!, y[one]!);
    path.lineTo(x[other]!, y[other]!);
  }
  context.lineWidth = edges.length > 4_000 ? 0.4 : 0.8;
  for (const [vote, path] of drawn.entries()) {
    context.strokeStyle = color(colorNames[vote]!);
    context.globalAlpha = vote === 0 ? 1 : 0.45;
    context.stroke(path);
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.6;
  context.strokeStyle = color('--ink');
  context.stroke(strong);
  const named = ids.length <= MOST_NAMED;
  const radius = named ? 13 : ids.length > 1_000 ? 3 : ids.length > 200 ? 4.5 : 8;
  const marks = colorNames.map(() => new Path2D());
  const strikes = new Path2D();
  context.font = '13px system-ui, sans-serif';
  for (const [node, vote] of votes.entries()) {
    const number = agents.numberOf(ids[node]!);
    if (number === null) continue;
    const [left, top] = [x[node]! - radius, y[node]! - radius];
    marks[vote]!.rect(left, top, 2 * radius, 2 * radius);
    if (named) {
      context.fillStyle = color('--ink');
      const name = getAgentName(number);
      const right = left + 2 * radius + 4;
      const { width: wide } = context.measureText(name);
      context.fillText(name, right + wide > width ? left - 4 - wide : right, y[node]! + 4);
    }
    if (vote !== rejects) continue;
    strikes.moveTo(left, top);
    strikes.lineTo(left + 2 * radius, top + 2 * radius);
  }
  const paper = color('--paper');
  for (const [vote, path] of marks.entries()) {
    context.fillStyle = vote === 0 ? paper : color(colorNames[vote]!);
    context.fill(path);
    context.lineWidth = 1;
    context.strokeStyle = vote === 0 ? color('--faint') : paper;
    context.stroke(path);
  }
  context.lineWidth = Math.max(1.25, radius / 4);
  context.strokeStyle = paper;
  context.stroke(strikes);
  if (chosen < 0) return;
  context.strokeStyle = color('--ink');
  const side = 2 * radius + 6;
  context.strokeRect(x[chosen]! - side / 2, y[chosen]! - side / 2, side, side);
}

/** Width of the edges that show the votes, in pixels. */
const EDGE = 12;

/** Length of the rows without the edge. The columns are as long as the graph is high. */
const rowLength = (width: number) => Math.max(100, width - EDGE - 2);

function Matrix({ of }: { of: Graph }) {
  const matrix = useMemo(() => {
    const order = orderOf(of);
    const ranks = new Uint32Array(order.length);
    for (const [rank, position] of order.entries()) ranks[position] = rank;
    return {
      paint(brush: Brush): boolean {
        drawMatrix(brush, of, { order, ranks });
        return false;
      },
      agentAt(x: number, y: number): number | null {
        const position = order[Math.floor(((y - EDGE) / HEIGHT) * order.length)];
        return x < 0 || position === undefined ? null : agents.numberOf(of.ids[position]!);
      },
    };
  }, [of]);
  return (
    <Plane
      label={`${plural(of.edges.length, 'link')} between ${plural(of.ids.length, 'agent')}`}
      height={() => HEIGHT + EDGE + 2}
      {...matrix}
    />
  );
}

/** Orders positions by group, then by the number of links from the first agent. */
function orderOf(of: Graph): Uint32Array {
  const linked = linksOf(of);
  const far = new Int32Array(linked.length).fill(-1);
  const found: number[] = [];
  for (const start of linked.keys()) {
    if (far[start] !== -1) continue;
    far[start] = 0;
    found.push(start);
    for (let next = found.length - 1; next < found.length; next += 1) {
      const here = found[next]!;
      for (const other of linked[here]!) {
        if (far[other] !== -1) continue;
        far[other] = far[here]! + 1;
        found.push(other);
      }
    }
  }
  return Uint32Array.from(found.sort((one, other) => of.groups[one]! - of.groups[other]!));
}

interface Ordered {
  order: Uint32Array;
  /** Place in the order, by position. */
  ranks: Uint32Array;
}

function drawMatrix(brush: Brush, of: Graph, { order, ranks }: Ordered): void {
  const { context, color, selected } = brush;
  const wide = rowLength(brush.width);
  const { edges } = of;
  const votes = votesOf(of);
  const ratio = devicePixelRatio;
  const [across, down] = [Math.ceil(wide * ratio), Math.ceil(HEIGHT * ratio)];
  const image = context.createImageData(across, down);
  const inks = new Uint32Array(image.data.buffer);
  const [plain, ...own] = ['--faint', '--c1', '--c2'].map((name) => pixelOf(color(name)));
  const at = (position: number, length: number) =>
    Math.floor((ranks[position]! * length) / order.length);
  for (const [one, other] of edges) {
    const isAlike = votes[one] !== 0 && votes[one] === votes[other];
    const ink = isAlike ? own[votes[one]! - 1]! : plain!;
    inks[at(one, down) * across + at(other, across)] = ink;
    inks[at(other, down) * across + at(one, across)] = ink;
  }
  context.putImageData(image, Math.ceil(EDGE * ratio), Math.ceil(EDGE * ratio));
  const [column, row] = [wide / order.length, HEIGHT / order.length];
  for (const [rank, position] of order.entries()) {
    context.fillStyle = color(colorNames[votes[position]!]!);
    context.fillRect(0, EDGE + rank * row, EDGE - 3, Math.max(1, row));
    context.fillRect(EDGE + rank * column, 0, Math.max(1, column), EDGE - 3);
  }
  context.strokeStyle = color('--line');
  context.lineWidth = 1;
  context.strokeRect(EDGE - 0.5, EDGE - 0.5, wide + 1, HEIGHT + 1);
  const chosen = selected === null ? -1 : of.ids.indexOf(selected);
  if (chosen < 0) return;
  context.fillStyle = color('--ink');
  const place = ranks[chosen]! + 0.5;
  context.fillRect(0, EDGE + place * row - 0.75, wide + EDGE, 1.5);
  context.fillRect(EDGE + place * column - 0.75, 0, 1.5, HEIGHT + EDGE);
}

/** Returns a colour of the theme, such as #0072b2, as a pixel of image data. */
function pixelOf(color: string): number {
  const [red, green, blue] = color.trim().match(/[0-9a-f]{2}/gi) ?? [];
  return Number.parseInt(`ff${blue ?? '80'}${green ?? '80'}${red ?? '80'}`, 16);
}
