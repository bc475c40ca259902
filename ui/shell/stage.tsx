/** The view that the address names, once its script has come. */
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { shown } from '../../report/shared/numbers.js';
import { link, position } from '../data/store.js';
import { href, place } from '../route/router.js';
import { type ViewEntry, type ViewProps, views } from '../views/index.js';

const loaded = new Map<string, ComponentType<ViewProps>>();

export function Stage() {
  const { view, item } = place.value;
  const entry = views.find(({ path }) => path === (view || views[0]!.path));
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // Whoever reads with their ears hears that another view begins; not when the page is opened.
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
    scrollTo(0, 0);
  }, [view, item]);
  return (
    <main id="view" ref={main} tabIndex={-1} aria-label={entry?.title ?? 'Not found'}>
      {entry ? <Loaded key={entry.path} entry={entry} item={item} /> : <Nowhere view={view} />}
    </main>
  );
}

function Loaded({ entry, item }: { entry: ViewEntry; item: string | null }) {
  const [problem, setProblem] = useState('');
  const [, come] = useState(0);
  const View = loaded.get(entry.path);
  useEffect(() => {
    if (loaded.has(entry.path)) return;
    entry.load().then(
      (module) => {
        loaded.set(entry.path, module.View);
        come((count) => count + 1);
      },
      () => setProblem('This view could not be fetched. The server may have been updated.'),
    );
  }, [entry]);
  if (problem !== '') {
    return (
      <div class="empty">
        <p>{problem}</p>
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    );
  }
  if (!View || !position.value) return <Waiting />;
  return <View item={item} />;
}

/** Before there is anything to show: what is being waited for, and how much of it is done. */
function Waiting() {
  const state = link.value;
  if (state.is === 'damaged') return <h1 class="empty">Nothing can be shown</h1>;
  if (state.is !== 'making' || state.to === 0) return <p class="empty">Fetching the network …</p>;
  const text = `entry ${shown(state.entry)} of ${shown(state.to)}`;
  return (
    <div class="empty">
      <h1 id="making">Reading the log for the first time</h1>
      <p>{text}</p>
      <progress value={state.entry} max={state.to} aria-labelledby="making" />
    </div>
  );
}

function Nowhere({ view }: { view: string }) {
  return (
    <div class="empty">
      <h1>Nothing is called “{view.slice(0, 64)}” here</h1>
      <p>
        The link may be of another version. <a href={href('now')}>What happens now</a> is there.
      </p>
    </div>
  );
}
