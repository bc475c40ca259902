/** What is around a load run: which server it loads, how far it is, and what went wrong between. */
import { useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LoadShown } from '../../api/view/load.js';
import { time } from '../../report/shared/numbers.js';
import { takeToken } from '../clock/token.js';
import { useNow } from '../parts/now.js';
import { Name } from '../parts/text.js';
import { followLinks, href, place } from '../route/router.js';
import { followLoad, load, wire } from '../views/load/follow.js';
import { View } from '../views/load/view.js';
import { askedFor, perSecond, phases, progressText, verdictText } from '../views/load/words.js';

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
    const parts = now ? [phases[now.phase], askedFor(now)] : ['Load'];
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
        {isHere ? <View /> : <Nowhere view={place.value.view} />}
      </main>
      <Announcer />
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

function standing(now: LoadShown | null): { text: string; tone: string } {
  if (wire.value.is === 'lost') return { text: 'out of touch', tone: 'bad' };
  if (!now) return { text: 'connecting', tone: 'calm' };
  if (now.phase === 'failed') return { text: phases.failed, tone: 'bad' };
  const sends = ['warm-up', 'measured', 'draining'].includes(now.phase);
  return { text: phases[now.phase], tone: sends ? 'good' : 'calm' };
}

function LostBand() {
  const now = useNow(1_000);
  const state = wire.value;
  if (state.is !== 'lost') return <div class="bands" />;
  const silent = Math.max(0, Math.round((now - state.since) / 1_000)) * 1_000;
  const wait = Math.max(0, Math.ceil((state.againAt - now) / 1_000));
  return (
    <div class="bands">
      <div class="band bad" role="alert">
        <p>
          <b>No news for {time(silent)}:</b> the command that loads the server does not answer. It
          may have been ended{load.value ? '; what is shown is what it said last' : ''}.{' '}
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

const EVERY_MS = 5_000;

/** Says politely, every few seconds at the most, what a reader who does not look would miss. */
function Announcer() {
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setText(summary()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p class="unseen" role="status" aria-live="polite">
      {text}
    </p>
  );
}

function summary(): string {
  const now = load.peek();
  if (!now) return '';
  const { figures, phase } = now;
  if (phase === 'over') return `The run is over: ${verdictText(now).title}.`;
  const rate = figures ? ` ${perSecond(figures.arrivals.accepted_per_s)} accepted,` : '';
  const p99 = figures ? ` p99 ${time(figures.response.p99)}.` : '';
  return `${progressText(now)}${rate}${p99}`;
}
