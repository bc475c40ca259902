/**
 * Entry point of the page of a run in one file: places are in the query, and a worker of the file
 * answers what the page asks.
 */
import type { RunSummary } from '../../api/view/run-data.js';
import { format } from '../../report/shared/format.js';
import { cleanText } from '../components/labels.js';
import { askWorker } from '../data/connect.js';
import { createTrustedRules, type Home, type Place, setHome } from '../home.js';
import { begin } from '../shell.js';
import type { ArchiveResponse } from './run.js';
import { showFailure, takeBytes, unpack } from './unpack.js';

async function start(): Promise<void> {
  const about = JSON.parse(new TextDecoder().decode(await unpack('about'))) as RunSummary;
  const player = new Blob([await unpack('player')], { type: 'text/javascript' });
  setHome(homeIn(about, { player, run: takeBytes('run').buffer }));
  begin();
}

start().catch(showFailure);

/** What of the file is there when the page begins. */
interface FileParts {
  /** The worker's script. */
  player: Blob;
  run: ArrayBuffer;
}

/** @param about the run */
function homeIn(about: RunSummary, { player, run }: FileParts): Home {
  const policy = createTrustedRules('folkmoot', { createScriptURL: (url: string) => url });
  return {
    placeIn: placeOf,
    addressOf,
    startWorker(name) {
      if (name !== 'player') throw new TypeError(`a file has no worker ${name}`);
      return new Worker(policy.createScriptURL(URL.createObjectURL(player)), { name });
    },
    source: () => run,
    async ask(path, init) {
      const { status, body } = await askWorker<ArchiveResponse>('kept', {
        path,
        method: init?.method ?? 'GET',
      });
      return new Response(body, { status });
    },
    docs: null,
    lacks: lacksOf(about),
  };
}

function placeOf({ origin, pathname, search }: Pick<URL, 'origin' | 'pathname' | 'search'>) {
  if (origin !== location.origin || pathname !== location.pathname) return null;
  const query = new URLSearchParams(search);
  const [view, item] = [query.get('view') ?? '', query.get('item')];
  query.delete('view');
  query.delete('item');
  return { view, item, query };
}

function addressOf({ view, item, query }: Place): string {
  const whole = new URLSearchParams();
  if (view !== '') whole.set('view', view);
  if (item !== null) whole.set('item', item);
  for (const [name, value] of query) whole.set(name, value);
  return whole.size === 0 ? location.pathname : `${location.pathname}?${whole}`;
}

function lacksOf({ folder, proven }: RunSummary): Home['lacks'] {
  const made = `the folder “${cleanText(folder, 80)}” that the file was made of`;
  return {
    server: `This asks a server, and a file is none: npx folkmoot explore is one, for ${made}.`,
    log:
      'What was sent, signatures and digests are in the log, which this file does not hold: ' +
      `npx folkmoot explore shows them, with ${made}.`,
    proof:
      `When this file was made, the first ${format(proven.entries)} entries of the log were ` +
      `recomputed, and all that was stored followed from them, to the digest ${proven.digest}. ` +
      'The file does not hold the log: npx folkmoot explore --verify recomputes it in a browser, ' +
      `with ${made}.`,
  };
}
