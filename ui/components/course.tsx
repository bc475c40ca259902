/**
 * The course of a run as four small charts with one point per ended block. All charts share the
 * position of the time bar and the pointer. A click moves the page to the block's end.
 */
import { computed, signal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { format, formatMs, plural } from '../../report/shared/format.js';
import { runVerdicts } from '../../report/shared/verdicts.js';
import { postToWorker } from '../data/connect.js';
import type { BlockItem, PageOverview } from '../data/messages.js';
import { blocks, clock, overview, position, totals } from '../data/store.js';
import { beginning, cleanText, moment, useWidth } from './labels.js';
import { identity } from './requests.js';

/** An ended block. Shares are percentages. */
interface Ended {
  number: number;
  /** Time of its end, milliseconds since 1970. */
  at: number;
  /** Entry that ended it; null if the page does not know it. */
  entry: number | null;
  isFinal: boolean;
  tookMs: number;
  turnout: number | null;
  agreement: number | null;
}

type Tally = Pick<BlockItem, 'approve' | 'reject' | 'electors' | 'proposed_at'> & { voted: number };
type End = Pick<Ended, 'number' | 'at' | 'entry'> & { status: string };

function endedOf({ number, at, entry, status, ...tally }: End & Tally): Ended {
  const { approve, reject, voted, electors, proposed_at } = tally;
  const weight = approve + reject;
  return {
    ...{ number, at, entry, isFinal: status === 'finalized', tookMs: at - proposed_at },
    // The votes on an orphaned block are incomplete.
    turnout: status === 'orphaned' || electors === 0 ? null : (100 * voted) / electors,
    agreement:
      status === 'orphaned' || weight === 0 ? null : (100 * Math.max(approve, reject)) / weight,
  };
}

/** Result of the last computation, which stays the same object until another block ends. */
let last: { of: string; ended: readonly Ended[] } = { of: '', ended: [] };

/** All ended blocks that the overview or the snapshot knows, by time. */
const ended = computed<readonly Ended[]>(() => {
  const found = new Map<number, Ended>();
  const entries = new Map<number, number>();
  for (const closing of overview.value?.closings ?? []) {
    const { block: number = -1, at = 0, entry } = closing;
    entries.set(number, entry);
    if (hasTally(closing)) found.set(number, endedOf({ ...closing, number, at }));
  }
  for (const block of blocks.value) {
    const { number, closed_at: at, approvals, rejections } = block;
    if (at === null || found.has(number)) continue;
    const entry = entries.get(number) ?? null;
    found.set(number, endedOf({ ...block, at, entry, voted: approvals + rejections }));
  }
  const known = `${overview.value?.epoch} ${found.size} ${entries.size}`;
  if (known !== last.of) {
    last = { of: known, ended: [...found.values()].sort((one, other) => one.at - other.at) };
  }
  return last.ended;
});

type Closing = PageOverview['closings'][number];

const hasTally = (closing: Closing): closing is Closing & Tally => closing.voted !== undefined;

/** Blocks in the rolling share of finalized blocks. */
const ROLLING = 20;

interface Course {
  name: string;
  title: string;
  isTime?: boolean;
  of(block: Ended, place: number, all: readonly Ended[]): number | null;
}

const courses: readonly Course[] = [
  {
    name: `Finalized, last ${ROLLING}`,
    title: `share of finalized blocks among the last ${ROLLING}`,
    of(_, place, all) {
      const recent = all.slice(Math.max(0, place + 1 - ROLLING), place + 1);
      return (100 * recent.filter(({ isFinal }) => isFinal).length) / recent.length;
    },
  },
  {
    name: 'Time to finality',
    title: 'time from the proposal to the end of a finalized block',
    isTime: true,
    of: ({ isFinal, tookMs }) => (isFinal ? tookMs : null),
  },
  {
    name: 'Turnout of the block',
    title: 'share of the electors that voted on the block',
    of: ({ turnout }) => turnout,
  },
  {
    name: 'Agreement in the block',
    title: 'share of the counted weight on the larger side',
    of: ({ agreement }) => agreement,
  },
];

interface Point {
  at: number;
  value: number;
}

/** Time under the pointer, in all charts. */
const pointed = signal<number | null>(null);

export function Courses() {
  const all = ended.value;
  const from = beginning();
  if (from === 0 && !identity.value?.question) return null;
  const to = Math.max(clock.value.head.at, position.value!.at, from + 1);
  return (
    <section class="panel courses" aria-label="Course of the run">
      <Answer all={all} />
      {all.length > 0 &&
        courses.map((course) => (
          <CourseChart key={course.name} course={course} all={all} from={from} to={to} />
        ))}
      <p class="faint chart-caption" hidden={all.length === 0}>
        One point per ended block, from {moment(from)} to {moment(to)}. The figures of the charts
        are those of the last block that ended by the position. Agreement is the share of the
        counted weight on the larger side. n = {plural(all.length, 'block')}.
      </p>
    </section>
  );
}

/** Answers the question of the run up to the position, and says what its verdict was judged by. */
function Answer({ all }: { all: readonly Ended[] }) {
  const { question, verdict, reported = {} } = identity.value ?? {};
  const { finalized, rejected, expired, orphaned } = totals.value!;
  const { at, entry } = position.value!;
  const past = all.filter((one) => one.at <= at);
  const [took, turnout, agreement] = courses
    .slice(1)
    .map((course) => valueText(course, meanOf(pointsOf(course, past))));
  const decided = format(finalized + rejected);
  const closed = format(finalized + rejected + expired + orphaned);
  const after = finalized > 0 ? `, after ${took} on average` : '';
  const isOver = verdict !== undefined && entry >= clock.value.head.entry;
  const own = Object.entries(reported).map(([name, value]) => {
    const title = cleanText(name.replaceAll('_', ' ').replace('@', ' of '), 48);
    return `${title} ${value === null ? '–' : format(value)}`;
  });
  return (
    <div class="answer">
      {question && (
        <p>
          <b>{cleanText(question, 240)}</b>
        </p>
      )}
      {closed !== '0' && (
        <p>
          {isOver && own.length > 0 && `Reported at the end: ${own.join(', ')}. `}
          {format(finalized)} of {closed} blocks were finalized
          {after}. Mean turnout {turnout}, mean agreement {agreement}.
        </p>
      )}
      {isOver && (
        <p class="faint">
          Verdict {cleanText(verdict.replaceAll('_', ' '), 24)}: {decided} of {closed} blocks
          decided, expected at least 1 and no standstill
          {verdict === 'pass'
            ? '; 0 conflicts of honest agents; 0 broken safety rules, expected 0 of both.'
            : `. ${runVerdicts[verdict as keyof typeof runVerdicts] ?? ''}`}
        </p>
      )}
    </div>
  );
}

const meanOf = (points: readonly Point[]): number | null =>
  points.length === 0 ? null : points.reduce((sum, { value }) => sum + value, 0) / points.length;

const valueText = ({ isTime }: Course, value: number | null): string =>
  value === null ? '–' : isTime ? formatMs(Math.round(value)) : `${format(Math.round(value))} %`;

interface ChartProps {
  course: Course;
  all: readonly Ended[];
  /** Ends of the horizontal axis, milliseconds since 1970. */
  from: number;
  to: number;
}

const HEIGHT = 76;
/** Room above the line for the value of the upper edge. */
const HEAD = 15;
const LINE = 1.5;

function CourseChart({ course, all, from, to }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const points = useMemo(() => pointsOf(course, all), [all]);
  const most = course.isTime ? Math.max(1, ...points.map(({ value }) => value)) : 100;
  const x = (at: number) => (width * (at - from)) / (to - from);
  const path = useMemo(
    () =>
      pathOf(
        binned(points, width, from, to),
        x,
        (value) => HEIGHT - LINE - (value / most) * (HEIGHT - HEAD - 2 * LINE),
      ),
    [points, width, from, to],
  );
  const here = position.value!.at;
  const at = pointed.value ?? here;
  const now = points.findLast((one) => one.at <= at)?.value ?? null;
  const written = (value: number | null) => valueText(course, value);
  const drawn = `${format(points.length)} blocks`;
  const label = `${course.name}, ${course.title}: ${written(now)} at ${moment(at)}, ${drawn}`;
  const timeOf = (event: PointerEvent | MouseEvent) => {
    const { left } = box.current!.getBoundingClientRect();
    return (
      from + ((to - from) * Math.min(width, Math.max(0, event.clientX - left))) / Math.max(1, width)
    );
  };
  const seek = (event: MouseEvent) => {
    const wanted = timeOf(event);
    const entry = all.findLast((one) => one.at <= wanted && one.entry !== null)?.entry;
    if (entry !== undefined && entry !== null) postToWorker({ do: 'seek', entry });
  };
  return (
    <figure class="course" title={course.title}>
      <figcaption>
        <span>{course.name}</span> <b>{written(now)}</b>
      </figcaption>
      <div ref={box}>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys move the time bar */}
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={HEIGHT}
          onPointerMove={(event) => {
            pointed.value = timeOf(event);
          }}
          onPointerLeave={() => {
            pointed.value = null;
          }}
          onClick={seek}
        >
          <path class="course-line" d={path} />
          {here < to && (
            <rect
              class="course-ahead"
              x={x(here)}
              y={0}
              width={Math.max(0, width - x(here))}
              height={HEIGHT}
            />
          )}
          <path class="course-here" d={`M${x(at).toFixed(1)} 0V${HEIGHT}`} />
        </svg>
        <span class="course-most">{written(most)}</span>
      </div>
    </figure>
  );
}

function pointsOf(course: Course, all: readonly Ended[]): Point[] {
  return all.flatMap((block, place) => {
    const value = course.of(block, place, all);
    return value === null ? [] : [{ at: block.at, value }];
  });
}

/** Pixels per point of a chart with many blocks. */
const BIN = 3;

/** Replaces the points within a few pixels by their mean. */
function binned(points: readonly Point[], width: number, from: number, to: number): Point[] {
  if (points.length * BIN <= width) return [...points];
  const bins: { at: number; sum: number; count: number }[] = [];
  for (const { at, value } of points) {
    const place = Math.floor((width * (at - from)) / (to - from) / BIN);
    bins[place] ??= { at, sum: 0, count: 0 };
    bins[place].sum += value;
    bins[place].count += 1;
  }
  return bins.flatMap((bin) => (bin ? [{ at: bin.at, value: bin.sum / bin.count }] : []));
}

function pathOf(points: readonly Point[], x: (at: number) => number, y: (value: number) => number) {
  const written = points.map(({ at, value }) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`);
  // A single point is a disc.
  if (points.length === 1) return `M${written[0]}m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0`;
  return written.length === 0 ? '' : `M${written.join('L')}`;
}
