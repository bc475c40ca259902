/**
 * The shell around every network view: header, fault bands, the stage that holds the view, and the
 * screen-reader announcer. `begin` starts the page.
 */
import './styles/page.css';
import { useSignalEffect } from '@preact/signals';
import { type ComponentChildren, type ComponentType, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { format, plural } from '../report/shared/format.js';
import { runVerdicts } from '../report/shared/verdicts.js';
import { Announcer, cleanText, Name, toSentence } from './components/labels.js';
import { Button, Empty, Glyph, Lost, Nowhere, Pill } from './components/lists.js';
import { cluster, identity, useCluster, useScenario } from './components/requests.js';
import { connect } from './data/connect.js';
import type { BlockItem } from './data/messages.js';
import {
  agents,
  blocks,
  clock,
  getFocusedBlock,
  link,
  network,
  notice,
  passingTransactions,
  position,
  totals,
} from './data/store.js';
import { home, type Requirement } from './home.js';
import { pageText } from './messages.js';
import { entryInAddress, followLinks, href, place, useFocus } from './route.js';
import { TimeBar, useKeys } from './time-bar.js';
import {
  askWorld,
  canRun,
  EndBand,
  isWaitingToStart,
  StartBand,
  takeToken,
  WorldClock,
  worldClock,
} from './world-clock.js';

interface ViewProps {
  /** Hash or id that follows the view in the address. */
  item: string | null;
}

interface ViewEntry {
  /** Path below /ui/. */
  path: string;
  title: string;
  /** Group in the navigation, which lists the view; null if links lead there. */
  group: 'Watch' | 'Understand' | 'Verify' | null;
  load(): Promise<{ View: ComponentType<ViewProps> }>;
  /** Requirement for listing the view. */
  needs?: Requirement;
  /** Returns true while the view is listed. Default: always. */
  when?(): boolean;
}

/** Stands for a view that the file leaves out, and that `Loaded` therefore never loads. */
const absent = () => Promise.reject(new Error('not in this file'));

const view = (
  path: string,
  title: string,
  group: ViewEntry['group'],
  load: ViewEntry['load'],
  more: Partial<ViewEntry> = {},
): ViewEntry => ({ path, title, group, load, ...more });

const atServer = { needs: 'server' } as const;
const networkView = IN_FILE ? absent : () => import('./views/network.js');
const experiment = IN_FILE ? absent : () => import('./views/experiment.js');
const doctor = IN_FILE ? absent : () => import('./views/doctor.js');

/** All views in navigation order. Each view is loaded on first use. */
const views: readonly ViewEntry[] = [
  view('now', 'Now', 'Watch', () => import('./views/now.js')),
  view('agents', 'Agents', 'Watch', () => import('./views/agents.js')),
  view('network', 'Network', 'Watch', networkView, atServer),
  view('experiment', 'Experiment', 'Watch', experiment, { ...atServer, when: () => canRun() }),
  view('block', 'Block', 'Understand', () => import('./views/block.js')),
  view('opinion', 'Opinion', 'Understand', () => import('./views/opinion.js')),
  view('talk', 'Talk', 'Understand', () => import('./views/talk.js')),
  view('alliances', 'Alliances', 'Understand', () => import('./views/alliances.js')),
  view('explore', 'Explore', 'Verify', () => import('./views/explore.js')),
  view('doctor', 'Request doctor', 'Verify', doctor, atServer),
  view('agent', 'Agent', null, () => import('./views/agent.js')),
];

const viewGroups = ['Watch', 'Understand', 'Verify'] as const;

export function begin(): void {
  takeToken();
  followLinks();
  connect(entryInAddress());
  // An exported file has no controls, but it knows its scenario.
  if (IN_FILE) void askWorld();
  render(<App />, document.getElementById('page')!);
}

function App() {
  useKeys();
  useFocus();
  useSignalEffect(() => {
    const view = views.find(({ path }) => path === (place.value.view || views[0]!.path));
    const parts = [view?.title ?? 'Not found', network.value?.network_id, 'Folkmoot'];
    document.title = parts.filter(Boolean).join(' · ');
  });
  return (
    <>
      <a class="skip" href="#view">
        Skip to the view
      </a>
      <Header />
      <Bands />
      <Stage />
      <TimeBar />
      <Announcer summary={summary} />
    </>
  );
}

function Header() {
  const ways = useRef<HTMLElement>(null);
  const { view } = place.value;
  // On narrow screens the navigation scrolls, so keep the current view visible.
  useEffect(() => {
    const here = ways.current!.querySelector('[aria-current]');
    here?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view]);
  return (
    <header class="top">
      <div class="top-row">
        <Identity />
        <Pill {...standing()} />
        <Verdict />
        {!IN_FILE && <WorldClock />}
        {canRun() && !isHere('experiment') && (
          <a class="button main" href={href('experiment')}>
            Change and run
          </a>
        )}
        <Figures />
      </div>
      <nav aria-label="Views" ref={ways}>
        <ul>
          {viewGroups.map((group) => (
            <li key={group} class="group">
              <span aria-hidden="true">{group}</span>
              <ul aria-label={group}>
                {views
                  .filter((one) => one.group === group && isListed(one))
                  .map(({ path, title }) => (
                    <li key={path}>
                      <a href={href(path)} aria-current={isHere(path) ? 'page' : undefined}>
                        {title}
                      </a>
                    </li>
                  ))}
              </ul>
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

/** Says which experiment or network the page shows, and what it asks. */
function Identity() {
  useScenario();
  const about = identity.value;
  const of = network.value;
  const count = agents.count.value;
  const facts = [
    ...(about?.seed === undefined ? [] : [`seed ${cleanText(about.seed, 24)}`]),
    ...(of ? [`rule ${of.policy}`] : []),
    ...(count > 0 ? [plural(count, 'agent')] : []),
  ];
  return (
    <div class="identity">
      <p>
        <a class="brand" href={href('now')}>
          {about ? <Name text={about.title} most={64} /> : 'Folkmoot'}
        </a>
        {!about && of && (
          <span class="network">
            <Name text={of.network_id} />
          </span>
        )}
        <span class="faint about">{facts.join(' · ')}</span>
      </p>
      {about?.question && !isHere('now') && (
        <p class="faint question">{cleanText(about.question, 240)}</p>
      )}
    </div>
  );
}

const isListed = ({ needs, when }: ViewEntry) =>
  !(needs && home.lacks[needs]) && (when === undefined || when());

const isHere = (path: string) => path === (place.value.view || views[0]!.path);

function Figures() {
  const all = totals.value;
  if (!all || link.value.is === 'starting') return null;
  const { finalized, rejected, expired, orphaned } = all;
  const perSecond = passingTransactions.value;
  const last = blocks.value
    .filter(({ status, closed_at: at }) => at !== null && status !== 'orphaned')
    .reduce<BlockItem | null>(
      (one, next) => (one && one.closed_at! > next.closed_at! ? one : next),
      null,
    );
  const failed = rejected + expired + orphaned;
  const rate = perSecond === null ? '' : format(Math.round(perSecond * 10) / 10);
  const figures: readonly (readonly [string, ComponentChildren, string])[] = [
    ['last block', last ? <LastBlock {...last} /> : '–', last?.status ?? ''],
    ['final blocks', format(finalized), 'finalized blocks'],
    ['failed blocks', format(failed), 'rejected, expired and orphaned blocks'],
    ['votes', format(all.votes), 'votes'],
    ['memes', format(all.memes), 'memes'],
    ['remarks', format(all.remarks), 'remarks'],
    ['tx/s', rate, 'finalized transactions per second'],
  ];
  return (
    <dl class="figures">
      {figures
        .filter(([, value]) => value)
        .map(([name, value, title]) => (
          <div key={name} title={title}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

const LastBlock = ({ height, status }: { height: number; status: string }) => (
  <>
    {format(height)} <Glyph status={status} />
    <span class="unseen">{status}</span>
  </>
);

function Verdict() {
  const verdict = identity.value?.verdict;
  if (verdict === undefined) return null;
  return (
    <span
      class={`badge ${verdictTones[verdict] ?? 'calm'}`}
      title={runVerdicts[verdict as keyof typeof runVerdicts]}
      data-testid="verdict"
    >
      verdict: {cleanText(verdict, 24)}
    </span>
  );
}

function standing(): { text: string; tone: string } {
  const { is } = link.value;
  if (is === 'starting') return { text: 'connecting', tone: 'calm' };
  if (is === 'making') return { text: 'reading the log', tone: 'calm' };
  if (is === 'lost') return { text: 'disconnected', tone: 'bad' };
  if (is === 'damaged') return { text: 'damaged', tone: 'bad' };
  if (isWaitingToStart()) return { text: 'not started', tone: 'calm' };
  const { mode, head, follows } = clock.value;
  // At a past entry the badge shows the entry, and the band reports the lost folder.
  if (mode === 'live' && worldClock.value?.lost) return { text: 'folder unavailable', tone: 'bad' };
  const behind = head.entry - (position.value?.entry ?? head.entry);
  if (mode === 'live') return follows ? { text: 'live', tone: 'good' } : finished;
  const how = mode === 'playing' ? 'replaying' : 'paused';
  if (behind <= 0) return follows ? { text: how, tone: 'calm' } : finished;
  const where = follows ? 'behind live' : 'before the end';
  return { text: `${how}, ${plural(behind, 'entry', 'entries')} ${where}`, tone: 'calm' };
}

const finished = { text: 'finished run', tone: 'calm' };

const verdictTones: Readonly<Record<string, string>> = {
  pass: 'good',
  no_progress: 'bad',
  conflict: 'bad',
  safety: 'bad',
};

function Bands() {
  return (
    <div class="bands">
      <LinkBand />
      {!IN_FILE && <StartBand />}
      {!IN_FILE && <EndBand />}
      {!IN_FILE && <ClusterBand />}
      {worldClock.value?.lost && (
        <div class="band bad" role="alert" data-testid="folder-lost">
          <p>{toSentence(cleanText(worldClock.value.lost, 400))}</p>
        </div>
      )}
      {notice.value && (
        <div class="band" role="status" data-testid="notice">
          <p>{toSentence(notice.value.text)}</p>
          <Button onClick={() => (notice.value = null)}>Close</Button>
        </div>
      )}
    </div>
  );
}

function LinkBand() {
  const state = link.value;
  if (state.is === 'lost') {
    return (
      <Lost {...state}>
        {toSentence(state.why)}
        {position.value && ` This page shows entry ${format(position.value.entry)}.`} If the server
        was stopped, restart it at the same address. This page then reconnects.
      </Lost>
    );
  }
  if (state.is !== 'damaged') return null;
  return (
    <div class="band bad" role="alert" data-testid="damaged">
      <p>
        <b>Network unavailable.</b> {toSentence(state.why)}
      </p>
    </div>
  );
}

/** Shown when the node responds but may lag behind the other nodes. */
function ClusterBand() {
  useCluster();
  const state = cluster.value;
  if (!state || state.cut_off_ms === 0) return null;
  return (
    <div class="band bad" role="alert" data-testid="cut-off">
      <p>
        <b>
          Node <Name text={state.node} /> is cut off
        </b>{' '}
        from the order of the cluster. Its data may be stale, and it refuses writes. The node
        reconnects automatically. Until then, use another node.
      </p>
    </div>
  );
}

const loaded = new Map<string, ComponentType<ViewProps>>();

function Stage() {
  const { view, item } = place.value;
  const entry = views.find(({ path }) => path === (view || views[0]!.path));
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // Moves the focus so that screen readers announce the new view, except on page load.
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
    scrollTo(0, 0);
  }, [view, item]);
  return (
    <main id="view" ref={main} tabIndex={-1} aria-label={entry?.title ?? 'Not found'}>
      {entry ? (
        <Loaded key={entry.path} entry={entry} item={item} />
      ) : (
        <Nowhere view={view}>
          The link may be from another version. <a href={href('now')}>Open Now</a>
        </Nowhere>
      )}
    </main>
  );
}

function Loaded({ entry, item }: { entry: ViewEntry; item: string | null }) {
  const [problem, setProblem] = useState('');
  const [, come] = useState(0);
  const View = loaded.get(entry.path);
  const lacking = entry.needs && home.lacks[entry.needs];
  useEffect(() => {
    if (loaded.has(entry.path) || lacking) return;
    entry.load().then(
      (module) => {
        loaded.set(entry.path, module.View);
        come((count) => count + 1);
      },
      () => setProblem(pageText('VIEW_NOT_LOADED', { view: entry.title })),
    );
  }, [entry]);
  if (problem !== '') {
    return (
      <div class="empty">
        <p>{toSentence(problem)}</p>
        <Button onClick={() => location.reload()}>Reload the page</Button>
      </div>
    );
  }
  if (lacking) {
    return (
      <Empty title={entry.title}>
        <p>{lacking}</p>
      </Empty>
    );
  }
  if (!View || !position.value) return <Waiting />;
  return <View item={item} />;
}

/** Progress shown until the first snapshot. */
function Waiting() {
  const state = link.value;
  if (state.is === 'damaged') return <h1 class="empty">Network unavailable</h1>;
  if (state.is !== 'making' || state.to === 0) return <p class="empty">Loading the network …</p>;
  const text = `entry ${format(state.entry)} of ${format(state.to)}`;
  return (
    <div class="empty">
      <h1 id="making">Reading the log</h1>
      <p>{text}</p>
      <progress value={state.entry} max={state.to} aria-labelledby="making" />
    </div>
  );
}

/** Returns the text for screen readers. An unchanged text is not announced again. */
function summary(): string {
  if (!position.peek() || clock.peek().mode === 'paused') return '';
  const block = getFocusedBlock();
  if (!block) return blocks.peek().length === 0 ? 'No blocks yet.' : '';
  const { height, approvals, rejections, electors, status } = block;
  if (status !== 'voting') return `Block ${height} ${status}.`;
  const counts = `${format(approvals)} approve, ${format(rejections)} reject`;
  return `Block ${height}: ${counts}, of ${format(electors)}.`;
}
