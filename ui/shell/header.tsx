/** Which network this is, how it stands, and the way to every view. */
import { useEffect, useRef } from 'preact/hooks';
import { shown } from '../../report/shared/numbers.js';
import { WorldClock } from '../clock/world.js';
import { link, network, passing, totals } from '../data/store.js';
import { home } from '../home/home.js';
import { Name } from '../parts/text.js';
import { href, place } from '../route/router.js';
import { views } from '../views/index.js';
import { Pill } from './pill.js';

export function Header() {
  const ways = useRef<HTMLElement>(null);
  const { view } = place.value;
  // Where there is little room, it is scrolled to where the reader is.
  useEffect(() => {
    const here = ways.current!.querySelector('[aria-current]');
    here?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view]);
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href={href('now')}>
          Folkmoot
        </a>
        {network.value && (
          <span class="network">
            <Name text={network.value.network_id} />
          </span>
        )}
        <Pill />
        <WorldClock />
        <Figures />
      </div>
      <nav aria-label="Views" ref={ways}>
        <ul>
          {views
            .filter(({ listed, needs }) => listed && !(needs && home.lacks[needs]))
            .map(({ path, title }) => (
              <li key={path}>
                <a href={href(path)} aria-current={isHere(path) ? 'page' : undefined}>
                  {title}
                </a>
              </li>
            ))}
          {home.docs && (
            <li class="aside">
              <a href={home.docs}>Reference</a>
            </li>
          )}
        </ul>
      </nav>
    </header>
  );
}

const isHere = (path: string) => path === (place.value.view || views[0]!.path);

function Figures() {
  const all = totals.value;
  if (!all || link.value.is === 'starting') return null;
  const { finalized, rejected, expired, orphaned } = all;
  const figures: [string, string, string][] = [
    ['final', shown(finalized), 'blocks finalized so far'],
    ['not final', shown(rejected + expired + orphaned), 'blocks rejected, expired or orphaned'],
    ['votes', shown(all.votes), 'votes so far'],
    ['memes', shown(all.memes), 'memes so far'],
    ['remarks', shown(all.remarks), 'remarks so far'],
    ['tx/s', shown(rounded(passing.value.transactions)), 'final transactions a second'],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const rounded = (value: number | null) => (value === null ? null : Math.round(value * 10) / 10);
