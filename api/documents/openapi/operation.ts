/** What is written down by hand of an operation: names, words, and the reasons of refusal. */
import type { Reason } from '../../../engine/internal.js';

export interface Parameter {
  name: string;
  text: string;
  schema: object;
  extension?: true;
}

export interface Operation {
  id: string;
  tag: Tag;
  summary: string;
  text?: string;
  /** Beyond the interface. */
  extension?: true;
  /** Names of the path's parameters, in order, instead of those in the route table. */
  path?: readonly Parameter[];
  query?: readonly Parameter[];
  /** `data` of the answer. */
  answer?: object;
  /** The answer where it is not in an envelope: media type to schema, null for bytes. */
  content?: Record<string, object | null>;
  /** The first time is answered 201, a repeat 200. */
  created?: true;
  /** Who does not ask for JSON is sent on, 302. */
  redirects?: true;
  /** Reasons of its own; those of its way of travelling are added. */
  reasons: readonly Reason[];
  /** Signed by header although it changes nothing. */
  signed?: true;
  /** Asked with the token of whoever runs the server. */
  token?: true;
}

export const tags = {
  agents: 'Registration and availability',
  consensus: 'Proposing blocks, voting, discussing',
  network: 'State of the network and its history',
  social: 'Memes, alliances, reputation',
  control: 'The clock of the world that is shown',
  debug: 'What the server would have verified, and what it knows of a connection',
  operations: 'For whoever runs the server',
  documents: 'These documents',
} as const;

export type Tag = keyof typeof tags;
