/**
 * The page of a load run: target server, verdict, progress, and controls for a reader with the
 * control token. `beginLoad` starts the page.
 */
import { useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import { useState } from 'preact/hooks';
import type { LoadState } from '../../api/contract/load.js';
import { Announcer, cleanText, Name, toSentence } from '../components/labels.js';
import { Loading, Locked, Lost, MarkShape, Pill } from '../components/placeholders.js';
import { fetchPath } from '../components/requests.js';
import { followLinks, href, place } from '../route.js';
import { getToken, takeToken } from '../world-clock.js';
import { FactPanel, Failures, Search, TablePanel } from './figures.js';
import {
  connection,
  load as current,
  factText,
  followLoad,
  isOver,
  load,
  phaseOrder,
  phases,
  progressText,
  tones,
  verdictText,
} from './run.js';
import { OverTime } from './time-charts.js';

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
        {isHere ? <LoadRun /> : <Nowhere view={place.value.view} />}
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

function Nowhere({ view }: { view: string }) {
  return (
    <div class="empty">
      <h1>Unknown view: “{view.slice(0, 64)}”</h1>
      <p>
        This address serves the page of a load run. <a href={href(VIEW)}>Open Load</a>
      </p>
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
  const load = current.value;
  if (!load) {
    return (
      <div class="empty">
        <h1>Load run</h1>
        <Loading what="the load run" />
      </div>
    );
  }
  const { facts, tables, series, search } = load;
  const probes = tables.find(({ id }) => id === 'probes');
  const failures = tables.find(({ id }) => id === 'failures');
  return (
    <div class="load">
      <Head load={load} />
      {(probes || search) && <Search table={probes} rate={search?.rate ?? null} />}
      {facts.slice(0, -1).map((group) => (
        <FactPanel key={group.title} facts={group} />
      ))}
      {series && <OverTime load={load} series={series} />}
      {failures && <Failures table={failures} />}
      {tables
        .filter((table) => table !== probes && table !== failures)
        .map((table) => (
          <TablePanel key={table.id} table={table} />
        ))}
      {facts.slice(-1).map((group) => (
        <FactPanel key={group.title} facts={group} />
      ))}
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
          <MarkShape of={tone} /> <b>{phase === 'failed' ? 'No measurements' : title}.</b> {text}
        </p>
        {verdict && verdict.reasons.length > 0 && (
          <ul>
            {verdict.reasons.map((reason) => (
              <li key={reason}>
                <bdi>{cleanText(reason, 400)}</bdi>
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
        {progressText(load)} <bdi>{cleanText(said, 400)}</bdi>
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
