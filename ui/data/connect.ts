/** The page's connection to its player worker. */
import { home } from '../home.js';
import { pageText } from '../messages.js';
import type { FromWorker, ToWorker } from './messages.js';
import { apply, clock, link, notice, overview, world } from './store.js';

const AGAIN_MS = 2_000;

let worker: Worker | null = null;
/**
 * Messages sent before the worker's first reply. The page resends these messages if the worker
 * fails to load.
 */
let unheard: ToWorker[] | null = [];
let silentSince = 0;
let questions = 0;
const waiting = new Map<
  number,
  { resolve: (answer: unknown) => void; reject: (error: Error) => void }
>();

export function connect(at: number | null): void {
  const source = home.source();
  const start = { do: 'start', source, at } satisfies ToWorker;
  if (typeof source === 'string') {
    unheard = [start];
    startWorker();
  } else {
    // The worker's program is embedded in the page, so loading cannot fail.
    unheard = null;
    startWorker().postMessage(start, [source]);
  }
  const visibility = () => postToWorker({ do: 'hidden', hidden: document.hidden });
  document.addEventListener('visibilitychange', visibility);
  if (document.hidden) visibility();
  const motion = matchMedia('(prefers-reduced-motion: reduce)');
  const calm = () => postToWorker({ do: 'calm', calm: motion.matches });
  motion.addEventListener('change', calm);
  calm();
}

/** Starts the worker, and retries if its program fails to load. */
function startWorker(): Worker {
  const made = home.startWorker('player');
  worker = made;
  made.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    unheard = null;
    hear(data);
  };
  made.onerror = () => {
    if (!unheard) return;
    made.terminate();
    const now = Date.now();
    silentSince ||= now;
    const why = pageText('PLAYER_NOT_LOADED');
    link.value = { is: 'lost', why, since: silentSince, againAt: now + AGAIN_MS };
    setTimeout(startWorker, AGAIN_MS);
  };
  for (const message of unheard ?? []) made.postMessage(message);
  return made;
}

export function postToWorker(message: ToWorker): void {
  unheard?.push(message);
  worker?.postMessage(message);
}

/** Asks the worker about the network at the current entry. @see ../player/answers.ts */
export function askWorker<T>(name: string, parameters: unknown = null): Promise<T> {
  questions += 1;
  const id = questions;
  postToWorker({ do: 'ask', id, question: { name, parameters } });
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject });
  });
}

function hear(message: FromWorker): void {
  if (message.is === 'patch') apply(message.patch);
  else if (message.is === 'clock') clock.value = message.clock;
  else if (message.is === 'link') link.value = message.link;
  else if (message.is === 'overview') overview.value = message.overview;
  else if (message.is === 'notice') notice.value = message.notice;
  else if (message.is === 'world') world.value = message.message;
  else {
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.is === 'answer') asked?.resolve(message.answer);
    else asked?.reject(new Error(message.why));
  }
}
