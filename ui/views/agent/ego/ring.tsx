/** The agent in the middle, its neighbours around it: a shape says what each says to the block. */
import { approves, rejects } from '../../../data/messages.js';
import { agents } from '../../../data/store.js';
import { decisionOf, nameOf } from '../../../parts/grid/words.js';
import { useNarrow } from '../../../parts/narrow.js';
import { go, href } from '../../../route/router.js';
import type { Ego, Neighbour } from './fetch.js';

/** More would be too close to be told apart; the table has them. */
export const SHOWN = 36;
/** On a ring of its own each has room for a finger. */
const ON_ONE = 20;
/** Names fit beside so many. */
const NAMED = 12;

interface Point {
  x: number;
  y: number;
}

/** Around 0, 0: of many, every third stands on an inner ring. */
function places(count: number): Point[] {
  const radii = count > ON_ONE ? [142, 142, 88] : [110];
  return Array.from({ length: count }, (_, place) => {
    const angle = (2 * Math.PI * place) / count - Math.PI / 2;
    const radius = radii[place % radii.length]!;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

export function Ring({ number, ego }: { number: number; ego: Ego }) {
  const narrow = useNarrow();
  const drawn = ego.neighbours.slice(0, SHOWN);
  const at = places(drawn.length);
  const named = !narrow && drawn.length <= NAMED;
  const [half, high] = [named ? 260 : 165, drawn.length > ON_ONE ? 165 : 135];
  return (
    <nav class="ego" aria-label={`${nameOf(number)} among its neighbours`}>
      <svg viewBox={`${-half} ${-high} ${2 * half} ${2 * high}`} style={{ width: `${2 * half}px` }}>
        <title>{`${nameOf(number)} among its neighbours`}</title>
        {ego.links.map(([a, b]) =>
          at[a] && at[b] ? <Line key={`${a} ${b}`} from={at[a]} to={at[b]} kind="faint" /> : null,
        )}
        {drawn.map((one, place) => (
          <Line key={one.agent_id} from={{ x: 0, y: 0 }} to={at[place]!} kind={kindOf(one)} />
        ))}
        <circle r="21" class="own" />
        <Shape vote={agents.decision[number] ?? 0} validator={isVoter(number)} size={22} />
        {drawn.map((one, place) => (
          <Node key={one.agent_id} one={one} at={at[place]!} named={named} />
        ))}
      </svg>
    </nav>
  );
}

const isVoter = (number: number) => agents.rows[number]?.validator === true;

const kindOf = ({ hears, heard }: Neighbour) =>
  hears && heard ? 'whole' : hears || heard ? 'half' : 'cut';

function Line({ from, to, kind }: { from: Point; to: Point; kind: string }) {
  return <line class={kind} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
}

function Node({ one, at, named }: { one: Neighbour; at: Point; named: boolean }) {
  const number = agents.numberOf(one.agent_id);
  const place = `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`;
  if (number === null) {
    return (
      <g transform={place}>
        <title>not there yet</title>
        <rect class="absent" x="-9" y="-9" width="18" height="18" />
      </g>
    );
  }
  const says = `${nameOf(number)} ${decisionOf(number)}${wordsOf(one)}`;
  const left = at.x < -1;
  const to = href('agent', one.agent_id);
  return (
    <g transform={place}>
      <a href={to} aria-label={says} onClick={(event) => follow(event, to)}>
        <title>{says}</title>
        <circle r="13" class="target" />
        <Shape vote={agents.decision[number]!} validator={isVoter(number)} size={18} />
        {named && (
          <text x={left ? -16 : 16} y="5" text-anchor={left ? 'end' : 'start'}>
            {nameOf(number).slice(0, 16)}
          </text>
        )}
      </a>
    </g>
  );
}

/** A link in a picture is none of HTML's, which the page follows by itself. */
function follow(event: MouseEvent, to: string): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(to);
}

function wordsOf({ hears, heard }: Neighbour): string {
  if (hears && heard) return '';
  if (!hears && !heard) return ', cut off';
  return hears ? ', does not hear it' : ', is not heard';
}

/** As the cells of the grid: full approves, cut rejects, hollow has not voted, a dot does not. */
function Shape({ vote, validator, size }: { vote: number; validator: boolean; size: number }) {
  const half = size / 2;
  const square = { x: -half, y: -half, width: size, height: size };
  if (vote === approves) return <rect class="approve" {...square} />;
  if (vote === rejects) {
    return (
      <>
        <rect class="reject" {...square} />
        <path class="slash" d={`M${-half} ${-half}L${half} ${half}`} />
      </>
    );
  }
  return validator ? (
    <rect class="pending" {...square} />
  ) : (
    <rect class="none" x="-3" y="-3" width="6" height="6" />
  );
}
