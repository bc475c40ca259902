/**
 * The page of a load run: target server, verdict, progress, and controls for a reader with the
 * control token. `beginLoad` starts the page.
 */
import { signal, useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import { useState } from 'preact/hooks';
import type { LoadAnswer, LoadPhase, LoadState, LoadVerdict } from '../../api/contract/load.js';
import { formatMs, formatValue } from '../../report/shared/format.js';
import { loadVerdictText } from '../../report/shared/verdicts.js';
import { Announcer, cleanText, Name, toSentence } from '../components/labels.js';
import { Glyph, Loading, Locked, Lost, Nowhere, Pill } from '../components/lists.js';
import { data, fetchPath } from '../components/requests.js';
import { followLinks, href, place } from '../route.js';
import { getToken, takeToken } from '../world-clock.js';
import { FactPanel, Failures, OverTime, Search, TablePanel } from './charts.js';

/** Null until the first response. */
const load = signal<LoadState | null>(null);

/** Connection to the load command. */
type Wire =
  | { is: 'following' }
  | { is: 'over' }
  | { is: 'lost'; why: string; since: number; againAt: number };

const connection = signal<Wire>({ is: 'following' });

const LOAD_PATH = '/api/v1/load';
const AGAIN_MS = 1_000;
const LONGEST_MS = 15_000;

const isOver = ({ phase }: LoadState): boolean => phase === 'over' || phase === 'failed';

/** Polls until the run is over, and retries while the command does not respond. */
async function followLoad(): Promise<void> {
  let version: number | null = null;
  let [since, waitMs] = [Date.now(), AGAIN_MS];
  for (;;) {
    try {
      const query: string = version === null ? '' : `?after=${version}`;
      const answer = await data<LoadAnswer>(LOAD_PATH + query);
      version = answer.version;
      [since, waitMs] = [Date.now(), AGAIN_MS];
      load.value = answer.load;
      connection.value = isOver(answer.load) ? { is: 'over' } : { is: 'following' };
      if (isOver(answer.load)) return;
    } catch (error) {
      // A different command may later respond at this address.
      version = null;
      const why = (error as Error).message;
      connection.value = { is: 'lost', why, since, againAt: Date.now() + waitMs };
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(LONGEST_MS, waitMs * 2);
    }
  }
}

const VIEW = 'load';

/** Starts the load-run page in place of the network page. */
export function beginLoad(): void {
  takeToken();
  followLinks();
  void followLoad();
  render(<LoadPage />, document.getElementById('page')!);
}

function LoadPage() {
  const isHere = ['', VIEW].includes(place.value.view);
  useSignalEffect(() => {
    const now = load.value;
    const parts = now ? [phases[now.phase], cleanText(now.title, 80)] : ['Load'];
    document.title = [...parts, 'Folkmoot'].join(' · ');
  });
  return (
    <>
      <a class="skip" href="#view">
        Skip to the view
      </a>
      <Header />
      <LostBand />
      <main id="view" tabIndex={-1} aria-label="Load">
        {isHere ? (
          <LoadRun />
        ) : (
          <Nowhere view={place.value.view}>
            This address serves the page of a load run. <a href={href(VIEW)}>Open Load</a>
          </Nowhere>
        )}
      </main>
      <Announcer summary={summary} />
    </>
  );
}

function Header() {
  const now = load.value;
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href={href(VIEW)}>
          Folkmoot
        </a>
        {now && (
          <span class="network">
            <Name text={now.url} most={80} />
          </span>
        )}
        <Pill {...standing(load.value)} />
      </div>
      <nav aria-label="Views">
        <ul>
          <li>
            <a href={href(VIEW)} aria-current="page">
              Load
            </a>
          </li>
          {now?.page && (
            <li>
              <a href={now.page} rel="noreferrer">
                Network
              </a>
            </li>
          )}
          <li class="aside">
            <a href="/docs">Reference</a>
          </li>
        </ul>
      </nav>
    </header>
  );
}

function standing(now: LoadState | null): { text: string; tone: string } {
  if (connection.value.is === 'lost') return { text: 'disconnected', tone: 'bad' };
  if (!now) return { text: 'connecting', tone: 'calm' };
  if (now.phase === 'failed') return { text: phases.failed, tone: 'bad' };
  const sends = ['warm-up', 'measured', 'draining'].includes(now.phase);
  return { text: phases[now.phase], tone: sends ? 'good' : 'calm' };
}

function LostBand() {
  const state = connection.value;
  return (
    <div class="bands">
      {state.is === 'lost' && (
        <Lost {...state}>
          The load command does not respond and may have ended.
          {load.value && ' This page shows its last state.'}
        </Lost>
      )}
    </div>
  );
}

function summary(): string {
  const now = load.peek();
  if (!now) return '';
  if (now.phase === 'over') return `The run has finished: ${verdictText(now).title}.`;
  if (now.series === null) return progressText(now);
  const [rate, p99] = [factText(now, 'arrivals'), factText(now, 'p99 response')];
  return `${progressText(now)} ${rate} accepted, p99 ${p99}.`;
}

function LoadRun() {
  const now = load.value;
  if (!now) {
    return (
      <div class="empty">
        <h1>Load run</h1>
        <Loading what="the load run" />
      </div>
    );
  }
  const { facts, tables, series, search } = now;
  const probes = tables.find(({ id }) => id === 'probes');
  const failures = tables.find(({ id }) => id === 'failures');
  const panel = (of: (typeof facts)[number]) => <FactPanel key={of.title} facts={of} />;
  return (
    <div class="load">
      <Head load={now} />
      {(probes || search) && <Search table={probes} rate={search?.rate ?? null} />}
      {facts.slice(0, -1).map(panel)}
      {series && <OverTime load={now} series={series} />}
      {failures && <Failures table={failures} />}
      {tables
        .filter((table) => table !== probes && table !== failures)
        .map((table) => (
          <TablePanel key={table.id} table={table} />
        ))}
      {facts.slice(-1).map(panel)}
      <p class="faint">
        To save a run and its report, use <code>folkmoot load --out DIR</code>. To open a saved run
        on this page, use <code>folkmoot explore DIR</code>.
      </p>
    </div>
  );
}

function Head({ load }: { load: LoadState }) {
  const { verdict, phase } = load;
  const { title, text } = verdictText(load);
  const tone = phase === 'failed' ? 'failed' : verdict ? tones[verdict.verdict] : 'unchecked';
  return (
    <section class="panel load-head" aria-labelledby="load-asked">
      <header>
        <h1 id="load-asked">Load: {cleanText(load.title, 80)}</h1>
      </header>
      <div class={`load-verdict verdict ${tone}`}>
        <p>
          <Glyph status={tone} /> <b>{phase === 'failed' ? 'No measurements' : title}.</b> {text}
        </p>
        {verdict && verdict.reasons.length > 0 && (
          <ul>
            {verdict.reasons.map((reason) => (
              <li key={reason}>
                <Name text={reason} most={400} />
              </li>
            ))}
          </ul>
        )}
      </div>
      <Story load={load} />
      <Control load={load} />
    </section>
  );
}

function Story({ load }: { load: LoadState }) {
  const { phase, said, passed_ms: passed, of_ms: all } = load;
  const here = phaseOrder.indexOf(phase);
  return (
    <div class="load-story">
      {here >= 0 && (
        <ol aria-label="Progress">
          {phaseOrder.map((step, index) => (
            <li
              key={step}
              class={index < here ? 'past' : ''}
              aria-current={index === here ? 'step' : undefined}
            >
              {phases[step]}
            </li>
          ))}
        </ol>
      )}
      {passed !== null && all !== null && phase !== 'over' && (
        <progress
          value={Math.min(passed, all)}
          max={all}
          aria-label={`Elapsed time, ${phases[phase]}`}
        />
      )}
      <p>
        {progressText(load)} <Name text={said} most={400} />
      </p>
    </div>
  );
}

async function control(what: 'resume' | 'stop'): Promise<void> {
  await fetchPath('/api/v1/control', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${getToken()}` },
    body: JSON.stringify({ do: what }),
  });
}

function Control({ load }: { load: LoadState }) {
  const [said, say] = useState('');
  if (isOver(load)) return null;
  const waits = load.phase === 'waiting';
  if (getToken() === null)
    return (
      waits && (
        <p>
          <Locked to="start the run" />
        </p>
      )
    );
  const does = (what: 'resume' | 'stop', word: string) => () => {
    say(word);
    control(what).catch((error: Error) => say(toSentence(error.message)));
  };
  return (
    <div class="controls">
      {waits && (
        <button type="button" class="play" onClick={does('resume', 'Starting …')}>
          Start
        </button>
      )}
      <button type="button" onClick={does('stop', 'Stopping; the measurements so far are kept …')}>
        {waits ? 'Cancel' : 'Stop'}
      </button>
      <p class="faint" role="status">
        {said}
      </p>
    </div>
  );
}

// ---- Texts.

const phases: Record<LoadPhase, string> = {
  waiting: 'not started',
  preparing: 'preparing',
  'warm-up': 'warming up',
  measured: 'measuring',
  draining: 'draining',
  over: 'finished',
  failed: 'failed',
};

/** Phases that a run passes through. */
const phaseOrder = (Object.keys(phases) as LoadPhase[]).slice(1, -1);

/** Returns the value of a fact with its unit, without its note. */
function factText({ facts }: LoadState, wanted: string): string {
  const found = facts.flatMap(({ rows }) => rows).find(({ name }) => name === wanted);
  return found ? formatValue(found.value, found.unit) : '–';
}

const seconds = (ms: number): string => formatMs(Math.max(0, Math.round(ms / 1_000)) * 1_000);

/** Returns the progress and the remaining time. */
function progressText(load: LoadState): string {
  const { phase, passed_ms: passed, of_ms: all, search } = load;
  const bracket = search ? `, bracket ${search.bracket} of ${search.repeat}` : '';
  if (phase === 'waiting') return 'The run sends no requests until started.';
  if (phase === 'preparing') return `Preparing${bracket}.`;
  if (phase === 'failed') return 'The run failed:';
  if (phase === 'over') return `Measured for ${formatMs(passed ?? 0)} of ${formatMs(all ?? 0)}.`;
  if (phase === 'draining') {
    const waited = seconds(passed ?? 0);
    return `All requests sent. Waiting for responses and finality, ${waited} so far${bracket}.`;
  }
  const left = (all ?? 0) - (passed ?? 0);
  const what = phase === 'warm-up' ? 'Warm-up, not measured' : 'Measuring';
  return (
    `${what}: ${seconds(passed ?? 0)} of ${formatMs(all ?? 0)}, ${seconds(left)} ` +
    `left${bracket}.`
  );
}

/** Verdict on the figures. The verdict is preliminary while the run continues. */
function verdictText({ verdict, tables }: LoadState): { title: string; text: string } {
  if (!verdict) return { title: 'No verdict yet', text: '' };
  const { verdict: name, ended } = verdict;
  if (ended === null && name === 'VALID') return { title: 'No problems so far', text: '' };
  if (ended === null) {
    return { title: `Preliminary verdict: ${name}`, text: loadVerdictText(name, false) };
  }
  const isSearch = tables.some(({ id }) => id === 'probes');
  const title = ended === 'failed' ? `${name}, failed` : name;
  return { title, text: loadVerdictText(name, isSearch) };
}

const tones: Record<LoadVerdict['verdict'], 'holds' | 'failed' | 'unchecked'> = {
  VALID: 'holds',
  UNSTABLE: 'unchecked',
  CLIENT_BOUND: 'failed',
  WORKLOAD_BOUND: 'failed',
  INVALID: 'failed',
  INCOMPLETE: 'failed',
};
