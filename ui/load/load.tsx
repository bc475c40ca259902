/**
 * The page of a load run: which server it loads, whether its figures can be believed, how far it
 * is, and what a reader with the token may ask of it. `beginLoad` starts it.
 */
import { useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import { useState } from 'preact/hooks';
import type { LoadState } from '../../api/view/load-state.js';
import { formatMs } from '../../report/shared/format.js';
import { Announcer, cleanText, Name, useNow } from '../components/labels.js';
import { Loading, MarkShape } from '../components/placeholders.js';
import { fetchPath } from '../components/requests.js';
import { followLinks, href, place } from '../route.js';
import { getToken, takeToken } from '../world-clock.js';
import { Failures, KeyFacts, Search, Surroundings, Times } from './figures.js';
import {
  connection,
  load as current,
  describeRequest,
  followLoad,
  isOver,
  load,
  perSecond,
  phaseOrder,
  phases,
  progressText,
  tones,
  verdictText,
} from './run.js';
import { OverTime } from './time-charts.js';

const VIEW = 'load';

/** In place of what shows a network. */
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
    const parts = now ? [phases[now.phase], describeRequest(now)] : ['Load'];
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
            <Name text={now.server.url} most={80} />
          </span>
        )}
        <Pill />
      </div>
      <nav aria-label="Views">
        <ul>
          <li>
            <a href={href(VIEW)} aria-current="page">
              Load
            </a>
          </li>
          {now?.server.page && (
            <li>
              <a href={now.server.page} rel="noreferrer">
                The network’s own page
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

function Pill() {
  const { text, tone } = standing(load.value);
  return <span class={`pill ${tone}`}>{text}</span>;
}

function standing(now: LoadState | null): { text: string; tone: string } {
  if (connection.value.is === 'lost') return { text: 'out of touch', tone: 'bad' };
  if (!now) return { text: 'connecting', tone: 'calm' };
  if (now.phase === 'failed') return { text: phases.failed, tone: 'bad' };
  const sends = ['warm-up', 'measured', 'draining'].includes(now.phase);
  return { text: phases[now.phase], tone: sends ? 'good' : 'calm' };
}

function LostBand() {
  const now = useNow(1_000);
  const state = connection.value;
  if (state.is !== 'lost') return <div class="bands" />;
  const silent = Math.max(0, Math.round((now - state.since) / 1_000)) * 1_000;
  const wait = Math.max(0, Math.ceil((state.againAt - now) / 1_000));
  return (
    <div class="bands">
      <div class="band bad" role="alert">
        <p>
          <b>No news for {formatMs(silent)}:</b> the command that loads the server does not answer.
          It may have been ended{load.value ? '; what is shown is what it said last' : ''}.{' '}
          {wait > 0 ? `Trying again in ${wait} s.` : 'Trying again …'}
        </p>
      </div>
    </div>
  );
}

function Nowhere({ view }: { view: string }) {
  return (
    <div class="empty">
      <h1>Nothing is called “{view.slice(0, 64)}” here</h1>
      <p>
        This address shows <a href={href(VIEW)}>a load run</a>. The network that it loads has a page
        of its own.
      </p>
    </div>
  );
}

function summary(): string {
  const now = load.peek();
  if (!now) return '';
  const { figures, phase } = now;
  if (phase === 'over') return `The run is over: ${verdictText(now).title}.`;
  const rate = figures ? ` ${perSecond(figures.arrivals.accepted_per_s)} accepted,` : '';
  const p99 = figures ? ` p99 ${formatMs(figures.response.p99)}.` : '';
  return `${progressText(now)}${rate}${p99}`;
}

function LoadRun() {
  const load = current.value;
  if (!load) {
    return (
      <div class="empty">
        <h1>A load run</h1>
        <Loading what="what is known of it" />
      </div>
    );
  }
  const { figures, search, phase } = load;
  return (
    <div class="load">
      <Head load={load} />
      {search && <Search search={search} />}
      {search && figures && (
        <p class="faint">
          {phase === 'over'
            ? 'What follows is of the last run of the search that held, or of the last one.'
            : 'What follows is of the run of the search that goes on.'}
        </p>
      )}
      <KeyFacts load={load} />
      {figures && <OverTime load={load} />}
      {figures && <Times times={figures.times} />}
      {figures && <Failures figures={figures} />}
      <Surroundings load={load} />
      <p class="faint">
        <code>folkmoot load --out DIR</code> keeps a run with its report, and{' '}
        <code>folkmoot explore DIR</code> shows it here again.
      </p>
    </div>
  );
}

function Head({ load }: { load: LoadState }) {
  const { verdict, phase, asked } = load;
  const { title, text } = verdictText(load);
  const tone = phase === 'failed' ? 'failed' : verdict ? tones[verdict.verdict] : 'unchecked';
  return (
    <section class="panel load-head" aria-labelledby="load-asked">
      <header>
        <h1 id="load-asked">
          Load: {describeRequest(load)}
          <span class="faint">{asked.loop === 'closed' ? ', closed loop' : ''}</span>
        </h1>
      </header>
      <div class={`load-verdict verdict ${tone}`}>
        <p>
          <MarkShape of={tone} /> <b>{phase === 'failed' ? 'Nothing was measured' : title}.</b>{' '}
          {text}
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
        <ol aria-label="How far it is">
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
          aria-label={`Time of ${phases[phase]} that has passed`}
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
  if (getToken() === null) return waits ? <Locked /> : null;
  const does = (what: 'resume' | 'stop', word: string) => () => {
    say(word);
    control(what).catch((error: Error) => say(error.message));
  };
  return (
    <div class="controls">
      {waits && (
        <button type="button" class="play" onClick={does('resume', 'It begins …')}>
          Begin
        </button>
      )}
      <button type="button" onClick={does('stop', 'It ends, with what was measured so far …')}>
        {waits ? 'Give up' : 'End it now'}
      </button>
      <p class="faint" role="status">
        {said}
      </p>
    </div>
  );
}

function Locked() {
  return (
    <p class="faint">
      To begin it, open the address that the command printed: it ends in <code>#token=…</code>
    </p>
  );
}
