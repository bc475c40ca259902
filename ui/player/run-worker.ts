/** The player worker: decodes and folds the network, and sends patches to the page. */
import type { RowBatch } from '../../api/view/model.js';
import type {
  Command,
  FromWorker,
  LinkState,
  Question,
  ToWorker,
  WorldStatus,
} from '../data/messages.js';
import { PageError, pageText, RefusedError } from '../messages.js';
import { type Answer, answers } from './answers.js';
import { GrowingOverview } from './overview.js';
import { isBeingMade, MADE_AGAIN_MS, Player } from './player.js';
import { Follower, type Source } from './source.js';

const PATCH_MS = 33;
/** Patch interval for readers who prefer reduced motion. */
const CALM_MS = 250;
const TICK_MS = 33;
/** Number of bars in the time bar. With more bars, each would be only a few pixels wide. */
const BUCKETS = 600;
const OVERVIEW_MS = 15_000;
const STRIP_MS = 500;
const AGAIN_MS = 3_000;

const port = self as unknown as {
  postMessage(message: FromWorker): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
};
const tell = (message: FromWorker) => port.postMessage(message);

export type CreateSource = (of: string | ArrayBuffer) => Source;

let answering: Readonly<Record<string, Answer>>;
let source: Source;
let player: Player;
let follower: Follower;
const strip = new GrowingOverview();
let hidden = false;
let calm = false;
let patchTimer = 0;
let lastPatch = 0;
let lookTimer = 0;
/** True while the strip lacks entries, and the next overview is due soon. */
let looksSoon = false;
let stripTimer = 0;
let epoch = '';
/** True once the run has ended. */
let over = false;

function flush(): void {
  patchTimer = 0;
  if (hidden) return;
  const patch = player.patch();
  if (!patch) return;
  lastPatch = performance.now();
  tell({ is: 'patch', patch });
}

function patchSoon(): void {
  if (patchTimer !== 0 || hidden) return;
  const every = calm ? CALM_MS : PATCH_MS;
  patchTimer = setTimeout(flush, Math.max(0, every - (performance.now() - lastPatch)));
}

const why = (error: unknown) => (error instanceof Error ? error.message : String(error));

function start(made: Source, at: number | null): void {
  source = made;
  player = new Player(source, {
    changed: patchSoon,
    clock: (clock) => tell({ is: 'clock', clock }),
    notice: (text) => tell({ is: 'notice', notice: text === null ? null : { text } }),
    failed: (error) => tell({ is: 'notice', notice: { text: why(error) } }),
  });
  follower = new Follower(source, {
    span: (batch) => {
      grow(batch);
      player.take(batch);
      // The last rows may arrive after the message that the run is over.
      if (over) player.freeze();
    },
    watching: (position) => {
      const same = epoch === '' || position.epoch === epoch;
      if (same) player.known(position.entry);
      else void anew();
      return same;
    },
    skipped: ({ to }) => player.known(to),
    world: (message) => {
      tell({ is: 'world', message });
      noteEnd(message);
    },
    link: (link) => {
      // After a run ends, losing its server is not a fault.
      const ends = over && link.is === 'lost';
      if (ends) follower.stop();
      tell({ is: 'link', link: ends ? { is: 'finished' } : link });
    },
    since: () => player.since,
  });
  void begin(at);
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    player.tick(now - last);
    last = now;
  }, TICK_MS);
}

/** Returns the progress if the server is still reading the log; null for any other error. */
function makingOf(error: unknown): LinkState | null {
  if (!isBeingMade(error)) return null;
  const { entry = 0, to = 0 } = error.details;
  return { is: 'making', entry: Number(entry), to: Number(to) };
}

/** Retries until the server responds, then follows its network. */
async function begin(at: number | null): Promise<void> {
  try {
    await player.begin(at);
    epoch = player.picture?.epoch ?? '';
  } catch (error) {
    const making = makingOf(error);
    if (making) {
      tell({ is: 'link', link: making });
      setTimeout(() => void begin(at), MADE_AGAIN_MS);
      return;
    }
    // Retrying cannot succeed.
    if (error instanceof PageError && error.problem === 'FILE_DAMAGED') {
      return tell({ is: 'link', link: { is: 'damaged', why: error.message } });
    }
    const since = Date.now();
    tell({ is: 'link', link: { is: 'lost', why: why(error), since, againAt: since + AGAIN_MS } });
    setTimeout(() => void begin(at), AGAIN_MS);
    return;
  }
  for (const command of early?.splice(0) ?? []) act(command);
  early = null;
  void look();
  over = false;
  const told = await source.json<WorldStatus>('/api/v1/control').catch(() => null);
  if (told && isFolder(told)) player.freeze();
  else if (told) noteEnd(told);
  if (source.origin === '') tell({ is: 'link', link: { is: 'finished' } });
  else follower.start();
}

const isFolder = ({ kind }: WorldStatus) => kind === 'folder';

/** Records the end of a run. A folder may grow again, but a finished run does not. */
function noteEnd(world: WorldStatus): void {
  if (isFolder(world) || !world.clock.over) return;
  over = true;
  player.freeze();
}

/** Starts over with the server's new network. */
async function anew(): Promise<void> {
  follower.stop();
  tell({ is: 'notice', notice: { text: pageText('HISTORY_REPLACED') } });
  await begin(null);
}

/** Extends the activity strip, at most once per `STRIP_MS` on the page. */
function grow(batch: RowBatch): void {
  if (!strip.extend(batch)) {
    if (!looksSoon) lookSoon(STRIP_MS);
    looksSoon = true;
  } else if (stripTimer === 0 && !hidden) stripTimer = setTimeout(tellStrip, STRIP_MS);
}

function tellStrip(): void {
  stripTimer = 0;
  if (strip.current) tell({ is: 'overview', overview: strip.current });
}

async function look(): Promise<void> {
  clearTimeout(lookTimer);
  looksSoon = false;
  try {
    const overview = await source.overview(BUCKETS);
    strip.know(overview);
    tellStrip();
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return;
  }
  lookSoon(OVERVIEW_MS);
}

function lookSoon(ms: number): void {
  clearTimeout(lookTimer);
  lookTimer = setTimeout(() => void look(), ms);
}

async function ask(id: number, { name, parameters }: Question): Promise<void> {
  try {
    const answer = answering[name];
    if (!answer) throw new Error(`unknown question: ${name}`);
    const known = { picture: player.picture, source };
    tell({ is: 'answer', id, answer: await answer(known, parameters as never) });
  } catch (error) {
    tell({ is: 'failed', id, why: why(error) });
  }
}

/** Commands received before the first snapshot; null once the snapshot has arrived. */
let early: Command[] | null = [];

/** Starts the worker. `more` adds answers to the ones that every page has. */
export function runWorker(
  sourceOf: CreateSource,
  more: Readonly<Record<string, Answer>> = {},
): void {
  answering = { ...answers, ...more };
  port.onmessage = ({ data }) => {
    if (data.do === 'start') start(sourceOf(data.source), data.at);
    else if (data.do === 'ask') void ask(data.id, data.question);
    else if (data.do === 'calm') calm = data.calm;
    else if (data.do === 'hidden') {
      hidden = data.hidden;
      if (!hidden) player.forgotten();
    } else if (early) early.push(data);
    else act(data);
  };
}

function act(command: Command): void {
  switch (command.do) {
    case 'live':
      return player.live();
    case 'toggle':
      return player.toggle();
    case 'seek':
      return player.seek(command.entry);
    case 'speed':
      return player.speed(command.speed);
    case 'focus':
      return player.focus(command.block);
    case 'step':
      return player.step(command.by, command.forward, strip.current);
  }
}
