/**
 * The page of the gallery: the shipped scenarios with a picture, the run time and the expected
 * outcome. A click starts the watched run and opens its page. `beginGallery` starts the page.
 */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Exhibit, GalleryView } from '../api/contract/control.js';
import { format, formatMs, plural } from '../report/shared/format.js';
import { cleanText } from './components/labels.js';
import { Button, Failed, Loading, Locked } from './components/lists.js';
import { data, useFetch } from './components/requests.js';
import { notice } from './data/store.js';
import { controlWorld, getToken, takeToken, tokenHeader } from './world-clock.js';

export function beginGallery(): void {
  takeToken();
  document.title = 'Gallery · Folkmoot';
  render(<GalleryPage />, document.getElementById('page')!);
}

/** Time between requests while a run starts. */
const STARTS_MS = 300;

const read = () => data<GalleryView>('/api/v1/gallery', { headers: tokenHeader() });

function GalleryPage() {
  const [state, again] = useFetch('gallery', read);
  const [wanted, want] = useState('');
  const isOpen = getToken() !== null;
  return (
    <>
      <header class="top gallery-head">
        <h1>
          Folkmoot gallery <span class="faint">choose an experiment to watch</span>
        </h1>
        <p>
          {isOpen ? (
            <label>
              Find{' '}
              <input
                type="search"
                value={wanted}
                onInput={({ currentTarget }) => want(currentTarget.value)}
              />
            </label>
          ) : (
            <Locked to="run a scenario" />
          )}
        </p>
      </header>
      <main id="view">
        {state.is === 'failed' && <Failed why={state.why} onAgain={again} />}
        {state.is === 'coming' && <Loading what="the scenarios" />}
        {state.is === 'here' && (
          <ul class="gallery">
            {state.data.scenarios
              .filter((one) => JSON.stringify(one).toLowerCase().includes(wanted.toLowerCase()))
              .map((one) => (
                <Card key={one.name} of={one} isOpen={isOpen} />
              ))}
          </ul>
        )}
      </main>
    </>
  );
}

/** Starts the run, and resolves to its page once the command serves it. @throws {Error} */
async function start(name: string): Promise<string> {
  if (!(await controlWorld({ do: 'watch', scenario: name }))) {
    throw new Error(notice.peek()?.text ?? '');
  }
  for (;;) {
    const { scenarios } = await read();
    const { state, page, why = '' } = scenarios.find((one) => one.name === name)!;
    if (page !== undefined) return page;
    if (state !== 'starting') throw new Error(why);
    await new Promise((resolve) => setTimeout(resolve, STARTS_MS));
  }
}

function Card({ of, isOpen }: { of: Exhibit; isOpen: boolean }) {
  const { name, title, question, agents, rule, length, expect, cpu_ms, command } = of;
  const [said, say] = useState('');
  // A page that the browser keeps for its Back button must not show an old state.
  useEffect(() => {
    const back = () => say('');
    addEventListener('pageshow', back);
    return () => removeEventListener('pageshow', back);
  }, []);
  const watch = () => {
    say('Starting …');
    start(name).then(
      (page) => location.assign(page),
      ({ message }: Error) => say(`The run did not start: ${cleanText(message, 300)}`),
    );
  };
  return (
    <li class="panel">
      <Picture of={of} />
      <div>
        <h2>{title}</h2>
        <p>{cleanText(question, 300)}</p>
        <Outcomes of={of} />
        <p class="faint">
          {plural(agents, 'agent')}, rule {rule}, until {length}.{' '}
          {cpu_ms !== null && `Takes about ${formatMs(coarse(cpu_ms))} without the page. `}
          Expected verdict: {expect.replaceAll('_', ' ')}.
        </p>
        <p class="gallery-run">
          {isOpen && (
            <Button class="button main" disabled={said === 'Starting …'} onClick={watch}>
              Watch<span class="unseen"> {title}</span>
            </Button>
          )}
          <code>npx {command}</code>
        </p>
        {said !== '' && <p role="status">{said}</p>}
      </div>
    </li>
  );
}

/** Rounds to one significant digit above a second, because machines differ. */
const coarse = (ms: number): number => {
  const step = 10 ** Math.max(2, Math.floor(Math.log10(ms)));
  return Math.max(step, Math.round(ms / step) * step);
};

const SIDE = 60;
const RADIUS = 54;

/** The agents on a circle, coloured by group, and a part of their links. */
function Picture({ of: { agents, groups, links, title } }: { of: Exhibit }) {
  const at = (number: number) => {
    const angle = (2 * Math.PI * number) / agents - Math.PI / 2;
    return [RADIUS * Math.cos(angle), RADIUS * Math.sin(angle)].map((one) => one.toFixed(1));
  };
  const path = links.map(([a = 0, b = 0]) => `M${at(a).join(' ')}L${at(b).join(' ')}`).join('');
  let next = 0;
  const size = Math.min(5, Math.max(0.8, (0.8 * Math.PI * RADIUS) / agents));
  return (
    <svg
      class="gallery-picture"
      viewBox={`${-SIDE} ${-SIDE} ${2 * SIDE} ${2 * SIDE}`}
      role="img"
      aria-label={`${title}: ${plural(agents, 'agent')} in ${plural(groups.length, 'group')}`}
    >
      <path stroke-width="0.6" d={path} />
      {groups.map((count, group) => {
        const first = next;
        next += count;
        const discs = Array.from({ length: count }, (_, place) => {
          const [x, y] = at(first + place);
          return `M${x} ${y}h0`;
        });
        const stroke = `var(--c${1 + (group % 8)})`;
        return <path key={group} stroke-width={2 * size} style={{ stroke }} d={discs.join('')} />;
      })}
    </svg>
  );
}

const outcomeNames = { F: 'finalized', R: 'rejected', E: 'expired', O: 'orphaned' } as const;

/** One bar per closed block of the recorded run, in order. */
function Outcomes({ of: { outcomes } }: { of: Exhibit }) {
  if (outcomes === '') return null;
  const counts = Object.entries(outcomeNames).flatMap(([letter, text]) => {
    const count = outcomes.split(letter).length - 1;
    return count === 0 ? [] : [`${format(count)} ${text}`];
  });
  return (
    <p class="gallery-outcomes">
      <span aria-hidden="true" class={outcomes.length > 80 ? '' : 'apart'}>
        {[...outcomes].map((letter, place) => (
          <i key={place} class={letter} />
        ))}
      </span>{' '}
      {counts.join(', ')}
    </p>
  );
}
