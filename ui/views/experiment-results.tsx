/**
 * Results of the Experiment view: the differences of a variant from the scenario as given, a figure
 * with one line per seed, and the list of runs.
 */
import { useRef, useState } from 'preact/hooks';
import type { RunsView, StartedRun } from '../../api/contract/control.js';
import { format, formatMs, plural } from '../../report/shared/format.js';
import {
  differenceText,
  getAxis,
  measureMeaning,
  measureText,
  measureTitle,
} from '../../report/shared/measures.js';
import { cleanText } from '../components/labels.js';
import { Button, Panel, Rows, Scroll } from '../components/lists.js';
import { useChoice } from '../route.js';

type Compared = RunsView['comparisons'][number];

const changeText = ({
  changes,
  from_entry,
}: Pick<StartedRun, 'changes' | 'from_entry'>): string => {
  const values = changes.map(({ path, value }) => `${path} = ${String(value)}`).join(', ');
  if (from_entry === null) return values === '' ? 'as given' : values;
  return `from entry ${format(from_entry)}: ${values === '' ? 'other draws' : values}`;
};

export function Results({ view }: { view: RunsView }) {
  const { runs, comparisons } = view;
  const [chosen, choose] = useChoice('compare');
  const place = comparisons.findIndex((_, index) => String(index) === chosen);
  const here = comparisons[place] ?? comparisons.at(-1);
  if (runs.length === 0) {
    return (
      <Panel title="Compare">
        <ol class="steps">
          <li>Change a value below.</li>
          <li>
            <b>Run</b>: the scenario as given and the changed one run with the same seed.
          </li>
          <li>
            <b>Run again, new seed</b>: each seed adds a pair. From two pairs on, the differences
            have a 95 % interval.
          </li>
        </ol>
      </Panel>
    );
  }
  return (
    <div class="results">
      {here && (
        <Panel title="Difference from the scenario as given">
          {comparisons.length > 1 && (
            <label>
              Changed{' '}
              <select
                value={String(comparisons.indexOf(here))}
                onChange={(event) => choose(event.currentTarget.value)}
              >
                {comparisons.map((one, index) => (
                  <option key={index} value={String(index)}>
                    {cleanText(changeText(one), 120)}
                  </option>
                ))}
              </select>
            </label>
          )}
          <Comparison of={here} runs={runs} />
        </Panel>
      )}
      <Panel title={plural(runs.length, 'run')}>
        <RunList runs={runs} />
      </Panel>
    </div>
  );
}

/** Measures shown first. */
const first = ['finalized_share', 'finality_mean_ms', 'participation', 'agreement', 'votes'];

function Comparison({ of, runs }: { of: Compared; runs: readonly StartedRun[] }) {
  const [all, showAll] = useState(false);
  const [named, choose] = useChoice('measure');
  const rank = ({ measure }: Compared['measures'][number]) => {
    const place = first.indexOf(measure);
    return place >= 0 ? place : measure.startsWith('reported.') ? first.length : 99;
  };
  const sorted = [...of.measures].sort((one, other) => rank(one) - rank(other));
  const main = sorted.filter((one) => rank(one) < 99);
  const differing = sorted.filter((one) => rank(one) === 99 && one.difference !== 0);
  const shown = all ? sorted : [...main, ...differing].slice(0, 14);
  const measure = sorted.find((one) => one.measure === named)?.measure ?? shown[0]!.measure;
  const pairs = Math.max(...of.measures.map((one) => one.pairs));
  return (
    <>
      <p class="faint">
        {cleanText(changeText(of), 300)}. n = {plural(pairs, 'pair')} of runs with equal seeds.
        {pairs < 2 && ' Run again with a new seed for an interval.'}
      </p>
      <PairChart measure={measure} of={of} runs={runs} />
      <Scroll name="Differences">
        <Rows
          caption="Means over the pairs; a row draws its figure"
          head={['measure', 'as given', 'changed', 'difference', '95 % interval']}
          numeric={[1, 2, 3, 4]}
          rows={shown.map(({ measure: name, given, changed, difference, low, high }) => [
            <button
              type="button"
              class="link"
              key={name}
              title={measureMeaning(name)}
              aria-pressed={name === measure}
              onClick={() => choose(name)}
            >
              {measureTitle(name)}
            </button>,
            measureText(name, given),
            measureText(name, changed),
            differenceText(name, difference),
            low === null || high === null
              ? '–'
              : `${differenceText(name, low)} to ${differenceText(name, high)}`,
          ])}
        />
      </Scroll>
      <Button onClick={() => showAll(!all)}>
        {all ? 'Show fewer' : `Show all ${format(sorted.length)} measures`}
      </Button>
    </>
  );
}

function RunList({ runs }: { runs: readonly StartedRun[] }) {
  return (
    <ol>
      {runs.map((run) => (
        <li key={run.number}>
          <details>
            <summary>
              {run.number}. {cleanText(changeText(run), 120)}{' '}
              <span class="faint">
                seed {cleanText(run.seed, 40)}, {run.verdict ?? run.state}
                {run.wall_ms === undefined ? '' : `, ${formatMs(run.wall_ms)}`}
              </span>
            </summary>
            {run.why && <p role="alert">{cleanText(run.why, 400)}</p>}
            {run.digest && (
              <p>
                digest <code>{run.digest}</code>
              </p>
            )}
            <p>
              <code>npx {cleanText(run.command, 2_000)}</code>
            </p>
          </details>
        </li>
      ))}
    </ol>
  );
}

interface PairProps {
  measure: string;
  of: Compared;
  runs: readonly StartedRun[];
}

const WIDTH = 560;
const HEIGHT = 230;
const edge = { left: 70, right: 150, top: 24, bottom: 34 };

function PairChart({ measure, of, runs }: PairProps) {
  const figure = useRef<SVGSVGElement>(null);
  const isGiven = (one: StartedRun) => one.changes.length === 0 && one.from_entry === null;
  const pairs = of.runs.flatMap((number) => {
    const changed = runs.find((one) => one.number === number);
    const given = runs.find(
      (one) => isGiven(one) && one.state === 'done' && one.seed === changed?.seed,
    );
    const [a = null, b = null] = [given?.measures?.[measure], changed?.measures?.[measure]];
    return a === null || b === null ? [] : [{ seed: changed!.seed, a, b }];
  });
  if (pairs.length === 0) return null;
  const values = pairs.flatMap(({ a, b }) => [a, b]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const pad = high === low ? Math.max(1e-9, Math.abs(high) * 0.1) : (high - low) * 0.08;
  const [from, to] = [low < 0 ? low - pad : Math.max(0, low - pad), high + pad];
  const y = (value: number) =>
    HEIGHT - edge.bottom - ((value - from) / (to - from)) * (HEIGHT - edge.top - edge.bottom);
  const [x1, x2] = [edge.left + 60, WIDTH - edge.right];
  const { label } = getAxis(measure, high);
  const save = (name: string, type: string, text: string) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = Object.assign(document.createElement('a'), { href: url, download: name });
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <figure class="pairs">
      <svg
        ref={figure}
        xmlns="http://www.w3.org/2000/svg"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${label} by seed, as given and changed: ${pairs
          .map(
            ({ seed, a, b }) => `${seed}: ${measureText(measure, a)}, ${measureText(measure, b)}`,
          )
          .join('; ')}`}
        font-size="13"
        fill="currentColor"
      >
        <text x="4" y="15" font-weight="600">
          {label}
        </text>
        {[low, high].map((value, index) => (
          <text key={index} x={edge.left + 42} y={y(value) + 4} text-anchor="end">
            {index === 1 && low === high ? '' : measureText(measure, value)}
          </text>
        ))}
        {[x1, x2].map((x, index) => (
          <g key={x}>
            <line
              x1={x}
              x2={x}
              y1={edge.top}
              y2={HEIGHT - edge.bottom}
              stroke="currentColor"
              stroke-opacity="0.25"
            />
            <text x={x} y={HEIGHT - 12} text-anchor="middle">
              {index === 0 ? 'as given' : 'changed'}
            </text>
          </g>
        ))}
        {pairs.map(({ seed, a, b }) => (
          <g key={seed}>
            <line x1={x1} y1={y(a)} x2={x2} y2={y(b)} stroke="#3a6ea5" stroke-width="2" />
            <circle cx={x1} cy={y(a)} r="5" fill="#3a6ea5" />
            <circle cx={x2} cy={y(b)} r="5" fill="#c4622d" />
            {pairs.length <= 8 && (
              <text x={x2 + 12} y={y(b) + 4} fill-opacity="0.75">
                seed {seed.slice(0, 16)}
              </text>
            )}
          </g>
        ))}
      </svg>
      <figcaption class="faint">
        {measureTitle(measure)}, one line per seed. n = {format(pairs.length)}.{' '}
        <Button onClick={() => save(`${measure}.svg`, 'image/svg+xml', figure.current!.outerHTML)}>
          Save SVG
        </Button>{' '}
        <Button onClick={() => save('comparison.csv', 'text/csv', tableOf(of))}>Save CSV</Button>
      </figcaption>
    </figure>
  );
}

/** All measures of a comparison as CSV. */
function tableOf({ measures }: PairProps['of']): string {
  const rows = measures.map(({ measure, pairs, given, changed, difference, low, high }) =>
    [measure, pairs, given, changed, difference, low ?? '', high ?? ''].join(','),
  );
  return `${['measure,pairs,given,changed,difference,low,high', ...rows].join('\n')}\n`;
}
