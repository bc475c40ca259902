/** Each route with its handler: all that one request needs to know of its path, in one object. */
import { type CommandKind, carriage } from '../../engine/internal.js';
import type { ReadName } from '../contract/answers.js';
import { createMatcher } from '../contract/match.js';
import { type DocumentName, type RouteName, routes, type SpecialName } from '../contract/routes.js';
import type { HandledRoute, Handler } from './handler.js';
import { live, metrics, ready } from './operator.js';
import { committed, counted } from './reads/counted.js';
import { debugSocket } from './reads/debug-socket.js';
import { debugVerify } from './reads/debug-verify.js';
import { document } from './reads/documents.js';
import { memeContent } from './reads/meme-content.js';
import { meta } from './reads/meta.js';
import * as reads from './reads/reads.js';
import { root } from './reads/root.js';
import { write } from './writes/write.js';

const commands = Object.fromEntries(
  (Object.keys(carriage) as CommandKind[]).map((kind) => [kind, write(kind)]),
) as Record<CommandKind, Handler>;

const reading: Record<ReadName, Handler> = {
  state: committed(reads.state),
  agents: committed(reads.agents),
  reputation: committed(reads.reputation),
  agent: committed(reads.agent),
  blocks: committed(reads.blocks),
  block: committed(reads.block),
  votes: committed(reads.votes),
  transactions: committed(reads.transactions),
  stateValue: committed(reads.stateValue),
  alliances: committed(reads.alliances),
  events: committed(reads.events),
};

const documents: Record<DocumentName, Handler> = {
  openapi: counted(document('openapi')),
  asyncapi: counted(document('asyncapi')),
  docs: counted(document('docs')),
  docs_theme: counted(document('docs_theme')),
  docs_viewer: counted(document('docs_viewer')),
};

const specials: Record<Exclude<SpecialName, DocumentName>, Handler> = {
  root: counted(root),
  meta: counted(meta),
  meme_content: counted(memeContent),
  debug_ws: counted(debugSocket),
  debug_verify: counted(debugVerify),
  live,
  ready,
  metrics,
};

const handlers: Record<RouteName, Handler> = { ...commands, ...reading, ...documents, ...specials };

const handled: HandledRoute[] = routes.map((route) => ({
  ...route,
  handle: handlers[route.name],
}));

/** The route of a request, with its handler. */
export const match = createMatcher(handled);
