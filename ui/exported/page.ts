/**
 * Entry point of the page in an exported file. Places are in the query, and the file's worker
 * answers requests.
 */
import type { RunSummary } from '../../api/view/row-table.js';
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

interface FileParts {
  /** Script for the worker. */
  player: Blob;
  run: ArrayBuffer;
}

function homeIn(about: RunSummary, { player, run }: FileParts): Home {
  const policy = createTrustedRules('folkmoot', { createScriptURL: (url: string) => url });
  return {
    placeIn: placeOf,
    addressOf,
    startWorker(name) {
      if (name !== 'player') throw new TypeError(`unknown worker: ${name}`);
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
  const source = cleanText(folder, 80);
  return {
    server: `This needs a server. Run npx folkmoot explore on the folder “${source}”.`,
    log:
      'This file does not contain the log with its requests, signatures and digests. ' +
      `Run npx folkmoot explore on the folder “${source}” to see them.`,
    proof:
      `When this file was exported, the first ${format(proven.entries)} entries of the log were ` +
      `replayed, and the stored data matched, up to the digest ${proven.digest}. ` +
      'To replay the log in a browser, run npx folkmoot explore --verify on the folder ' +
      `“${source}”.`,
  };
}
