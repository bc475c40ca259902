/** What a server would answer, out of a run in one file; what is not in it is refused in words. */
import type { AgentRow } from '../../api/view/model.js';
import { Refused } from '../player/source.js';
import { blockData, votesOn } from './blocks.js';
import type { Run } from './run.js';
import { bytesOf } from './unpack.js';

export interface Answered {
  status: number;
  /** JSON, or what a meme holds. */
  body: string | Uint8Array<ArrayBuffer>;
}

export interface Asked {
  path: string;
  method: string;
}

export function answerOf(run: Run, asked: Asked): Answered {
  try {
    const found = foundIn(run, asked);
    return { status: 200, body: found instanceof Uint8Array ? found : jsonOf({ data: found }) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { status, message, reason } = error;
    return { status, body: jsonOf({ error: { message, details: { reason } } }) };
  }
}

const jsonOf = JSON.stringify as (value: unknown) => string;

function foundIn(run: Run, { path, method }: Asked): object | Uint8Array<ArrayBuffer> {
  const { pathname, searchParams } = new URL(path, 'http://file');
  for (const [pattern, route] of method === 'GET' ? routes : []) {
    const [whole, item = ''] = pattern.exec(pathname) ?? [];
    if (whole === undefined) continue;
    const found = route(run, decodeURIComponent(item), searchParams);
    if (found !== undefined) return found;
  }
  throw missing('This file does not hold that');
}

const missing = (what: string, reason = 'NOT_IN_FILE') =>
  new Refused(404, reason, `${what}: npx folkmoot explore shows it, with the folder it is of`);

type Route = (
  run: Run,
  item: string,
  query: URLSearchParams,
) => object | Uint8Array<ArrayBuffer> | undefined;

const control: Route = ({ kept }) => ({
  kind: 'folder',
  clock: { holds: 'nothing', paused: false, speed: null },
  can: [],
  knows: kept.groups ? ['scenario'] : [],
});

const scenario: Route = ({ kept: { groups }, agents }) =>
  groups
    ? {
        groups: groups.names.map((name, place) => ({
          name,
          agents: agents.filter(({ number }) => groups.of[number] === place).map(({ id }) => id),
        })),
      }
    : undefined;

/** Of an agent, as of the last entry: of what was before, only the rows tell. */
const standing =
  (shown: (run: Run, agent: AgentRow) => object): Route =>
  (run, id, query) => {
    if (query.has('at')) throw missing('This file has it of the last entry only', 'NO_HISTORY');
    const agent = run.agent(id);
    return agent && shown(run, agent);
  };

const profile = standing(({ kept, registered }, { number }) => ({
  description: kept.agents.description[number],
  reason: kept.agents.reason[number],
  registration_time: new Date(registered[number]!).toISOString(),
}));

const scores = standing(({ kept }, { number }) => {
  const [overall_score, meme_quality, decision_consistency, peer_ratings, alliance_strength] =
    kept.agents.scores[number]!;
  return { overall_score, meme_quality, decision_consistency, peer_ratings, alliance_strength };
});

const content: Route = (run, id) => {
  const meme = run.meme(id);
  const kept = meme && run.kept.memes[meme.number];
  if (!kept) return undefined;
  return 'text' in kept ? new TextEncoder().encode(kept.text) : bytesOf(kept.base64);
};

const routes: readonly (readonly [RegExp, Route])[] = [
  [/^\/api\/v1\/control$/, control],
  [/^\/api\/v1\/scenario$/, scenario],
  [/^\/api\/v1\/agents\/([^/]+)$/, profile],
  [/^\/api\/v1\/social\/reputation\/([^/]+)$/, scores],
  [/^\/api\/v1\/blocks\/([^/]+)$/, blockData],
  [/^\/api\/v1\/blocks\/([^/]+)\/votes$/, votesOn],
  [/^\/api\/v1\/social\/memes\/([^/]+)\/content$/, content],
];
