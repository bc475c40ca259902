/** Each route with its handler: all that one request needs to know of its path, in one object. */
import { type CommandKind, carriage } from '../../engine/internal.js';
import type { ReadName } from '../contract/answers.js';
import { createMatcher } from '../contract/match.js';
import {
  type DocumentName,
  type PageName,
  type RouteName,
  routes,
  type ShownName,
  type SpecialName,
} from '../contract/routes.js';
import { operationOf } from '../documents/openapi/operations.js';
import { readControl, writeControl } from './control.js';
import type { HandledRoute, Handler } from './handler.js';
import { live, metrics, ready } from './operator.js';
import { cluster } from './reads/cluster.js';
import { counted } from './reads/counted.js';
import { debugSocket } from './reads/debug-socket.js';
import { debugVerify } from './reads/debug-verify.js';
import { document, page, pageAsset } from './reads/documents.js';
import { load } from './reads/load.js';
import { memeContent } from './reads/meme-content.js';
import { meta } from './reads/meta.js';
import { proof } from './reads/proof.js';
import * as reads from './reads/reads.js';
import { root } from './reads/root.js';
import { agentMemes, agentVotes, memes, roster } from './shown/agents.js';
import { dated } from './shown/dated.js';
import { agentDecisions } from './shown/decisions.js';
import { entry, log } from './shown/entries.js';
import { columns, overview, picture, progress } from './shown/pictures.js';
import { agentNeighbours, scenario } from './shown/scenario.js';
import { shown } from './shown/shown.js';
import { write } from './writes/write.js';

const commands = Object.fromEntries(
  (Object.keys(carriage) as CommandKind[]).map((kind) => [kind, write(kind)]),
) as Record<CommandKind, Handler>;

const reading: Record<ReadName, Handler> = {
  state: dated(reads.state),
  agents: dated(reads.agents),
  reputation: dated(reads.reputation),
  agent: dated(reads.agent),
  blocks: dated(reads.blocks),
  block: dated(reads.block),
  votes: dated(reads.votes),
  transactions: dated(reads.transactions),
  stateValue: dated(reads.stateValue),
  alliances: dated(reads.alliances),
  events: dated(reads.events),
};

const showing: Record<ShownName, Handler> = {
  view: shown(picture),
  view_progress: shown(progress, { cost: 1 }),
  columns: shown(columns),
  overview: shown(overview),
  roster: shown(roster),
  agent_votes: shown(agentVotes),
  agent_memes: shown(agentMemes),
  agent_decisions: shown(agentDecisions),
  agent_neighbours: shown(agentNeighbours),
  memes: shown(memes),
  log: shown(log),
  entry: shown(entry),
  scenario: shown(scenario),
};

const documents: Record<DocumentName, Handler> = {
  openapi: document('openapi'),
  asyncapi: document('asyncapi'),
  docs: document('docs'),
  docs_socket: document('docs_socket'),
  docs_theme: document('docs_theme'),
  docs_viewer: document('docs_viewer'),
};

const pages: Record<PageName, Handler> = {
  page,
  page_bare: page,
  page_view: page,
  page_item: page,
  page_asset: pageAsset,
};

const specials: Record<Exclude<SpecialName, DocumentName | PageName>, Handler> = {
  root: counted(root),
  meta: counted(meta),
  meme_content: counted(memeContent),
  debug_ws: counted(debugSocket),
  debug_verify: counted(debugVerify),
  control: counted(readControl),
  control_write: counted(writeControl),
  proof: counted(proof),
  cluster: counted(cluster),
  load: counted(load),
  live,
  ready,
  metrics,
};

const handlers: Record<RouteName, Handler> = {
  ...commands,
  ...reading,
  ...showing,
  ...documents,
  ...pages,
  ...specials,
};

const handled: HandledRoute[] = routes.map((route) => ({
  ...route,
  handle: handlers[route.name],
}));

const parameters = new Map(
  routes.map((route) => [route.name, (operationOf(route).query ?? []).map(({ name }) => name)]),
);

/** The query parameters that a route reads. */
export const parametersOf = ({ name }: HandledRoute): readonly string[] => parameters.get(name)!;

/** The route of a request, with its handler. */
export const match = createMatcher(handled);
