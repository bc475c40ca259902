/** Response types, derived from the route schemas. */
import type { reads } from '../contract/reads.js';
import type { AnswerOf as DataOf, Sent } from '../contract/route.js';
import type { serverRoutes } from '../contract/server.js';
import type { shownReads } from '../contract/views.js';

type Declared = typeof reads & typeof shownReads & typeof serverRoutes;

/** Response data for each unsigned JSON read, by path. @interface */
export type ReadAnswers = { [N in keyof Declared as PathOf<Declared[N]>]: DataOf<Declared[N]> };

/** Path and query parameters for each read, by path. @interface */
export type ReadParameters = {
  [N in keyof Declared as PathOf<Declared[N]>]: Record<
    NamesIn<Declared[N]['path']>,
    string | number
  > &
    Sent<Declared[N]> &
    (N extends keyof typeof reads ? { readonly at?: number } : unknown);
};

type PathOf<R> = R extends { method: string } | { signed: true }
  ? never
  : R extends { answer: object; path: infer P extends string }
    ? P
    : never;

type NamesIn<P> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

export type {
  AgentList,
  AgentView,
  AnswerOf,
  BlockView,
  NetworkState,
  ReputationView,
} from '../../engine/protocol/schema/view.js';

/** A page in a list. `next_cursor` is null on the last page. */
export interface Paged {
  next_cursor: string | null;
}

/** A page of blocks, newest first. @interface */
export type BlockPage = ReadAnswers['/api/v1/blocks'];

/** A block with the signed proposal, the producer's public key and the log entry. @interface */
export type BlockDetail = ReadAnswers['/api/v1/blocks/{hash}'];

/** A page of signed votes. Together with the electorate, the votes prove the outcome. @interface */
export type VotePage = ReadAnswers['/api/v1/blocks/{hash}/votes'];

/** A finalized transaction. `signers` has an item per key with a finalized signature. @interface */
export type FinalTransaction = ReadAnswers['/api/v1/transactions/{hash}'];

/** The value of a state key. `block_hash` names the block that wrote the value. @interface */
export type StateValue = ReadAnswers['/api/v1/state/{key}'];

/** A page of alliances, ascending by id. @interface */
export type AlliancePage = ReadAnswers['/api/v1/social/alliances'];

/** A page of events, ascending. `last_seq` is the last event in the history `epoch`. @interface */
export type EventPage = ReadAnswers['/api/v1/events'];

/**
 * A page of agents in order of registration. `number` identifies an agent in snapshots and batches.
 *
 * @interface
 */
export type RosterPage = ReadAnswers['/api/v1/agents'];

/** An agent's counted votes, newest block first. `at` is in milliseconds since 1970. @interface */
export type AgentVotePage = ReadAnswers['/api/v1/agents/{id}/votes'];

/** Memes, newest first. `size` is in bytes, `at` in milliseconds since 1970. @interface */
export type MemePage = ReadAnswers['/api/v1/memes'];

/**
 * A log entry as sent, with its events. `agent_id` is empty if no agent sent the entry. `at` is in
 * milliseconds since 1970.
 *
 * @interface
 */
export type EntryView = ReadAnswers['/api/v1/entries/{entry}'];

/** Network parameters, current position and limits. @interface */
export type Meta = ReadAnswers['/api/v1/meta'];
