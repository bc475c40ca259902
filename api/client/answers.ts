/** Types of the server's answers, derived from the schemas of its routes. */
import type { reads } from '../contract/reads.js';
import type { AnswerOf as DataOf, Sent } from '../contract/route.js';
import type { serverRoutes } from '../contract/server.js';
import type { shownReads } from '../contract/views.js';

type Declared = typeof reads & typeof shownReads & typeof serverRoutes;

/**
 * The data of each read's answer, by path: of all that answer in JSON and need no signature.
 *
 * @interface
 */
export type ReadAnswers = { [N in keyof Declared as PathOf<Declared[N]>]: DataOf<Declared[N]> };

/**
 * The parameters of each read, of its path and its query, by path.
 *
 * @interface
 */
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

/** One page; `next_cursor` is null on the last one. */
export interface Paged {
  next_cursor: string | null;
}

/**
 * Newest first.
 *
 * @interface
 */
export type BlockPage = ReadAnswers['/api/v1/blocks'];

/**
 * A block with its proposal as it was signed, the producer's key, and its entry in the log.
 *
 * @interface
 */
export type BlockDetail = ReadAnswers['/api/v1/blocks/{hash}'];

/**
 * Signed votes; with the electorate they prove the outcome.
 *
 * @interface
 */
export type VotePage = ReadAnswers['/api/v1/blocks/{hash}/votes'];

/**
 * A transaction that is final, and where: one of `signers` for each key that signed it and had it
 * finalized.
 *
 * @interface
 */
export type FinalTransaction = ReadAnswers['/api/v1/transactions/{hash}'];

/**
 * The value that the finalized blocks left under a key; `block_hash` is the block that wrote it.
 *
 * @interface
 */
export type StateValue = ReadAnswers['/api/v1/state/{key}'];

/**
 * Alliances, ascending by id.
 *
 * @interface
 */
export type AlliancePage = ReadAnswers['/api/v1/social/alliances'];

/**
 * Events of the server's history `epoch`, ascending; `last_seq` is its last one.
 *
 * @interface
 */
export type EventPage = ReadAnswers['/api/v1/events'];

/**
 * Registered agents in order of registration; `number` is what snapshots and spans call one.
 *
 * @interface
 */
export type RosterPage = ReadAnswers['/api/v1/agents'];

/**
 * Votes of one agent that counted, newest block first; `at` in milliseconds since 1970.
 *
 * @interface
 */
export type AgentVotePage = ReadAnswers['/api/v1/agents/{id}/votes'];

/**
 * Memes, newest first; `size` in bytes of its file, `at` in milliseconds since 1970.
 *
 * @interface
 */
export type MemePage = ReadAnswers['/api/v1/memes'];

/**
 * An entry of the log as it was sent, and the events that came of it. `agent_id` asked for it: ''
 * where no agent did. `at` is in milliseconds since 1970.
 *
 * @interface
 */
export type EntryShown = ReadAnswers['/api/v1/entries/{entry}'];

/**
 * The network's parameters and position, and the server's limits.
 *
 * @interface
 */
export type Meta = ReadAnswers['/api/v1/meta'];
