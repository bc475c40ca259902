/**
 * The Experiment view: the parameters of a watched scenario, and runs with other values. The server
 * makes one run at a time, in a separate process.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type {
  ControlCommand,
  RunParameter,
  RunsView,
  StartedRun,
} from '../../api/contract/control.js';
import { format, formatMs, plural } from '../../report/shared/format.js';
import {
  differenceText,
  getAxis,
  measureMeaning,
  measureText,
  measureTitle,
} from '../../report/shared/measures.js';
import { cleanText } from '../components/labels.js';
import {
  Button,
  Empty,
  Failed,
  Loading,
  Locked,
  Panel,
  Rows,
  Scroll,
} from '../components/lists.js';
import { data, useFetch } from '../components/requests.js';
import { clock, position } from '../data/store.js';
import { useChoice } from '../route.js';
import { canRun, controlWorld, getToken, tokenHeader, worldClock } from '../world-clock.js';

type Values = Readonly<Record<string, RunParameter['value']>>;

export function View() {
  const could = useRef(false);
  could.current ||= canRun();
  // The results stay on the page after the command has ended.
  if (could.current) return <Experiment />;
  return (
    <Empty title="Experiment">
      <p>
        To change parameters and run again, watch a simulation with{' '}
        <code>npx folkmoot sim NAME --watch</code>.
      </p>
    </Empty>
  );
}

function Experiment() {
  // The clock's status arrives again when a run starts or ends.
  const key = String(worldClock.value?.heard ?? '');
  const [state, again] = useFetch(key, () =>
    data<RunsView>('/api/v1/runs', { headers: tokenHeader() }),
  );
  const last = useRef<RunsView | null>(null);
  if (state.is === 'here') last.current = state.data;
  const view = last.current;
  if (!view && state.is === 'failed') return <Failed why={state.why} onAgain={again} />;
  if (!view) return <Loading what="the parameters" />;
  return (
    <div class={view.runs.length === 0 ? 'experiment fresh' : 'experiment'}>
      <header class="view-head">
        <h1>
          Experiment <span class="faint">change a value, run, compare</span>
        </h1>
      </header>
      {view.runs.length === 0 && <Results view={view} />}
      <Parameters view={view} />
      {view.runs.length > 0 && <Results view={view} />}
    </div>
  );
}

const isBusy = ({ state }: StartedRun) => state === 'waiting' || state === 'running';

/** Values that the reader has changed, kept while other views are open. */
let kept: Values = {};

function Parameters({ view }: { view: RunsView }) {
  const [changed, set] = useState<Values>(kept);
  const [seed, setSeed] = useState(view.seed);
  kept = changed;
  const { parameters, runs } = view;
  const busy = runs.some(isBusy);
  const isLocked = getToken() === null;
  const change = ({ path, value: given }: RunParameter, value: RunParameter['value'] | null) => {
    const { [path]: _, ...rest } = changed;
    set(value === null || value === given ? rest : { ...rest, [path]: value });
  };
  const changes = Object.entries(changed).map(([path, value]) => ({ path, value }));
  const run = (more: Partial<Extract<ControlCommand, { do: 'run' }>>) =>
    controlWorld({ do: 'run', seed, changes, ...more });
  const runAgain = () => {
    const next = nextSeed(view);
    setSeed(next);
    void run({ seed: next });
  };
  const field = (one: RunParameter) => (
    <Field
      key={one.path}
      of={one}
      value={changed[one.path] ?? one.value}
      isChanged={one.path in changed}
      onChange={(value) => change(one, value)}
    />
  );
  const main = parameters.filter(({ featured }) => featured);
  const shown = main.length > 0 ? main : parameters.filter(({ path }) => usual.has(path));
  const sections = new Map<string, RunParameter[]>();
  for (const one of parameters.filter((each) => !shown.includes(each))) {
    const section = one.path.split('.', 1)[0]!;
    sections.set(section, [...(sections.get(section) ?? []), one]);
  }
  return (
    <section class="panel parameters" aria-label="Parameters">
      <div class="run-buttons">
        <label>
          Seed{' '}
          <input
            value={seed}
            maxLength={100}
            disabled={isLocked}
            onInput={(event) => setSeed(event.currentTarget.value)}
          />
        </label>
        <Button
          class="button main"
          disabled={busy || isLocked || seed === ''}
          onClick={() => run({})}
        >
          {busy ? 'Running …' : 'Run'}
        </Button>
        <Button disabled={busy || isLocked} onClick={runAgain}>
          Run again, new seed
        </Button>
        {busy && <Button onClick={() => controlWorld({ do: 'cancel' })}>Cancel</Button>}
        {changes.length > 0 && <Button onClick={() => set({})}>Reset</Button>}
      </div>
      {isLocked && (
        <p>
          <Locked to="run" />
        </p>
      )}
      <Fork parameters={parameters} changed={changed} isOff={busy || isLocked} seed={view.seed} />
      <fieldset disabled={isLocked}>
        <legend class="faint">
          {main.length > 0 ? 'Varied by the sweep of the scenario' : 'Main parameters'}
        </legend>
        <div class="fields">{shown.map(field)}</div>
      </fieldset>
      {[...sections].map(([name, list]) => (
        <details key={name}>
          <summary>
            {name} <span class="faint">{format(list.length)}</span>
          </summary>
          <fieldset disabled={isLocked}>
            <legend class="unseen">{name}</legend>
            <div class="fields">{list.map(field)}</div>
          </fieldset>
        </details>
      ))}
    </section>
  );
}

/** Parameters shown first for a scenario without a sweep. */
const usual = new Set([
  ...['population', 'length.blocks', 'consensus.policy', 'consensus.voting_period_ms'],
  ...['topology.kind', 'topology.degree', 'links.loss', 'social.memes.rate'],
]);

/** Counts upwards from the seed of the scenario, past all seeds that were used. */
function nextSeed({ seed, runs }: RunsView): string {
  const used = new Set(runs.map((run) => run.seed));
  for (let next = 1; ; next += 1) {
    const one = /^\d{1,9}$/.test(seed) ? String(Number(seed) + next) : `${seed}-${next + 1}`;
    if (!used.has(one)) return one;
  }
}

interface ForkProps {
  parameters: readonly RunParameter[];
  changed: Values;
  isOff: boolean;
  /** Seed of the watched run, which a fork keeps. */
  seed: string;
}

/** Runs the watched scenario up to the page's entry, and from there with the changes. */
function Fork({ parameters, changed, isOff, seed }: ForkProps) {
  const entry = position.value?.entry ?? 0;
  const paths = Object.keys(changed);
  const fixed = paths.filter((path) => !parameters.find((one) => one.path === path)?.later);
  const changes = paths.map((path) => ({ path, value: changed[path]! }));
  const what =
    fixed.length > 0
      ? `${fixed.join(', ')} cannot change during a run.`
      : paths.length > 0
        ? 'The same run up to here, then with the changes.'
        : 'The same run up to here, then with other random draws.';
  return (
    <p class="fork">
      <Button
        disabled={isOff || fixed.length > 0 || entry < 1}
        onClick={() => controlWorld({ do: 'run', seed, changes, from_entry: entry })}
      >
        Fork from entry {format(entry)}
      </Button>{' '}
      <span class="faint">
        {what}{' '}
        {clock.value.mode === 'live' && entry > 0 ? 'Move the time bar to choose an entry.' : ''}
      </span>
    </p>
  );
}

interface FieldProps {
  of: RunParameter;
  value: RunParameter['value'];
  isChanged: boolean;
  /** Null restores the value of the scenario. */
  onChange(value: RunParameter['value'] | null): void;
}

function Field({ of, value, isChanged, onChange }: FieldProps) {
  const { path, about, kind, choices = [], minimum, maximum } = of;
  const id = `parameter-${path}`;
  const words = path
    .split('.')
    .filter((word) => !['agents', 'strategy', 'parameters'].includes(word));
  const name = words.join(' ').replaceAll('_', ' ');
  return (
    <div class={isChanged ? 'field changed' : 'field'} title={`${path}: ${about}`}>
      <label for={id}>{name}</label>
      {kind === 'number' && (
        <NumberInput id={id} of={of} value={Number(value)} onChange={onChange} />
      )}
      {kind === 'choice' && (
        <select
          id={id}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {choices.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      )}
      {kind === 'flag' && (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )}
      <p class="faint">
        {about}
        {minimum !== undefined && maximum !== undefined && ` (${minimum} to ${maximum})`}
        {isChanged && `. Given: ${String(of.value)}.`}
      </p>
    </div>
  );
}

type NumberProps = Pick<FieldProps, 'of' | 'onChange'> & { id: string; value: number };

/** A field with the bounds of the schema, and a slider where the range is short enough for one. */
function NumberInput({ id, of, value, onChange }: NumberProps) {
  const { path, minimum, maximum, whole = false, range } = of;
  const [least, most] = range ?? [minimum, maximum];
  const hasSlider = least !== undefined && most !== undefined && (range || most - least <= 100);
  const field = useRef<HTMLInputElement>(null);
  const show = () => {
    const input = field.current!;
    if (input.value === '' || Number(input.value) !== value) input.value = String(value);
  };
  // Only another value is written, because a number may be incomplete while a person types it.
  useLayoutEffect(show, [value]);
  const take = (text: string) => {
    const next = Number(text);
    if (text !== '' && Number.isFinite(next)) onChange(next);
  };
  return (
    <>
      <input
        {...{ id, ref: field, type: 'number', min: minimum, max: maximum }}
        step={whole ? 1 : 'any'}
        onInput={(event) => take(event.currentTarget.value)}
        onBlur={show}
      />
      {hasSlider && (
        <input
          type="range"
          aria-label={`${path}, slider`}
          min={range ? Math.min(least, value) : least}
          max={range ? Math.max(most, value) : most}
          step={whole ? 1 : Math.min(0.01, (most - least) / 100)}
          value={value}
          onInput={(event) => take(event.currentTarget.value)}
        />
      )}
    </>
  );
}

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
          <li>
            <b>Save SVG</b> and <b>Save CSV</b> export the figure and the table.
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
        {pairs < 2
          ? ' Run again with a new seed for an interval.'
          : ' An interval without 0 shows a difference.'}
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
              class="plain"
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
            <p>
              <code>npx {cleanText(run.command, 2_000)}</code>
              {run.digest && `, digest ${run.digest}`}
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
  const given = runs.filter((one) => changeText(one) === 'as given' && one.state === 'done');
  const pairs = of.runs.flatMap((number) => {
    const changed = runs.find((one) => one.number === number);
    const twin = given.find(({ seed }) => seed === changed?.seed);
    const [a = null, b = null] = [twin?.measures?.[measure], changed?.measures?.[measure]];
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
        font-family="system-ui, sans-serif"
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
              {index === 0 ? 'as given' : cleanText(changeText(of), 40)}
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

function tableOf({ measures }: PairProps['of']): string {
  const rows = measures.map(({ measure, pairs, given, changed, difference, low, high }) =>
    [measure, pairs, given, changed, difference, low ?? '', high ?? ''].join(','),
  );
  return `${['measure,pairs,given,changed,difference,low,high', ...rows].join('\n')}\n`;
}
