/**
 * The Experiment view: the parameters of a watched scenario, and runs with other values. The server
 * makes one run at a time, in a separate process.
 */
import { useRef, useState } from 'preact/hooks';
import type {
  ControlCommand,
  RunParameter,
  RunsView,
  StartedRun,
} from '../../api/contract/control.js';
import { format } from '../../report/shared/format.js';
import { Button } from '../components/lists.js';
import { Empty, Failed, Loading, Locked } from '../components/placeholders.js';
import { data, useFetch } from '../components/requests.js';
import { clock, position } from '../data/store.js';
import { canRun, controlWorld, getToken, tokenHeader, worldClock } from '../world-clock.js';
import { Results } from './experiment-results.js';

type Values = Readonly<Record<string, RunParameter['value']>>;

export function View() {
  // The clock's status arrives again when a run starts or ends.
  const key = String(worldClock.value?.heard ?? '');
  const [state, again] = useFetch(key, () =>
    data<RunsView>('/api/v1/runs', { headers: tokenHeader() }),
  );
  const last = useRef<RunsView | null>(null);
  if (state.is === 'here') last.current = state.data;
  const view = last.current;
  if (!canRun()) {
    return (
      <Empty title="Experiment">
        <p>
          To change parameters and run again, watch a simulation with{' '}
          <code>npx folkmoot sim NAME --watch</code>.
        </p>
      </Empty>
    );
  }
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
  const { path, about, kind, choices = [] } = of;
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
        {isChanged && ` Given: ${String(of.value)}.`}
      </p>
    </div>
  );
}

interface NumberProps extends Pick<FieldProps, 'of' | 'onChange'> {
  id: string;
  value: number;
}

/** A field with the bounds of the schema, and a slider where the range is short enough for one. */
function NumberInput({ id, of, value, onChange }: NumberProps) {
  const { path, minimum, maximum, whole = false, range } = of;
  const [least, most] = range ?? [minimum, maximum];
  const hasSlider = least !== undefined && most !== undefined && (range || most - least <= 100);
  const step = whole ? 1 : 0.01;
  const take = (text: string) => {
    const next = Number(text);
    if (text !== '' && Number.isFinite(next)) onChange(next);
  };
  const bounds = { min: minimum, max: maximum, step: whole ? 1 : 'any' };
  return (
    <>
      <input
        id={id}
        type="number"
        {...bounds}
        value={value}
        onInput={(event) => take(event.currentTarget.value)}
      />
      {hasSlider && (
        <input
          type="range"
          aria-label={`${path}, slider`}
          min={Math.min(least, value)}
          max={Math.max(most, value)}
          step={whole ? 1 : Math.min(step, (most - least) / 100)}
          value={value}
          onInput={(event) => take(event.currentTarget.value)}
        />
      )}
    </>
  );
}
