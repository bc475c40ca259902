/** The strategies of agents: how a group acts, and the parameters of each. */
import { type Static, type TProperties, Type } from '../../../engine/internal.js';
import { exec } from './deciders/exec.js';
import { http } from './deciders/http.js';
import { mcp } from './deciders/mcp.js';
import { GroupName, Share, whole } from './terms.js';

const strategy = <K extends string, P extends TProperties>(kind: K, text: string, own: P) =>
  Type.Object({ kind: Type.Literal(kind), ...own } as const, {
    additionalProperties: false,
    description: text,
  });

export const Strategy = Type.Union(
  [
    strategy('personality', 'votes by its personality: content, neighbours, memes and whim', {}),
    strategy('honest', 'approves every sound block and rejects every other', {
      soundness: whole(0, 100, 'percent of transactions that must add up', 100),
    }),
    strategy('equivocator', 'votes one way, then the other way too', {
      rate: Share('of blocks on which it does', 1),
      gap_ms: whole(0, 600_000, 'between its two votes', 200),
    }),
    strategy(
      'bloc',
      'approves what its own group proposes and rejects all else; its blocks are bad',
      {
        honest_blocks: Type.Boolean({
          default: false,
          description: 'its blocks are sound after all',
        }),
      },
    ),
    strategy('contrarian', 'votes against the majority of what it heard, else against content', {}),
    strategy('follower', 'votes as most neighbours did, and waits until it has heard some', {
      hears: whole(1, 1_000, 'votes that it waits for', 2),
      patience_ms: whole(0, 600_000, 'then votes by its personality', 5_000),
    }),
    strategy('lazy', 'approves without looking, now and then', {
      effort: Share('of blocks on which it votes', 0.3),
    }),
    strategy('flip_flop', 'approves one block and rejects the next', {}),
    strategy('meme_spammer', 'floods each block with memes and votes as they say', {
      memes: whole(1, 100, 'memes a block', 5),
      stance: Type.Enum(['approve', 'reject'], {
        default: 'reject',
        description: 'what they say, and vote',
      }),
    }),
    strategy('sybil', 'one operator behind many keys: all vote alike, at once, and ally', {
      approves: Share('of blocks, the same ones for the whole group', 0.5),
    }),
    strategy('silent', 'never votes', {}),
    strategy('censor', 'leaves the transactions of a group out of its blocks', {
      against: GroupName('whose transactions it leaves out'),
    }),
    strategy(
      'vote_exhauster',
      'floods the network with blocks that never add up, so that all others run out of votes, ' +
        'and votes for those of its own group only',
      { every_ms: whole(100, 600_000, 'between its attempts to propose', 1_000) },
    ),
    strategy(
      'slot_holder',
      'takes each place for a block in voting as soon as it is free, with blocks that never add ' +
        'up, and never votes',
      { every_ms: whole(100, 600_000, 'between its attempts to propose', 200) },
    ),
    strategy('script', 'a module of your own', {
      module: Type.String({
        minLength: 1,
        maxLength: 500,
        description: "path from the scenario's folder, inside it",
      }),
      parameters: Type.Record(Type.String(), Type.Unknown(), {
        default: {},
        description: 'handed to the module',
      }),
    }),
    strategy('http', 'is decided by whoever answers at a URL: see deciders.md', http),
    strategy('exec', 'is decided by a program that it starts: see deciders.md', exec),
    strategy('mcp', 'is decided by a tool of an MCP server: see deciders.md', mcp),
  ],
  { default: { kind: 'personality' } },
);

export type Strategy = Static<typeof Strategy>;
export type StrategyOf<K extends Strategy['kind']> = Extract<Strategy, { kind: K }>;

/** Decided outside of this process. */
export type External = StrategyOf<'http' | 'exec' | 'mcp'>;
const external: ReadonlySet<string> = new Set<External['kind']>(['http', 'exec', 'mcp']);

export const isExternal = <S extends { kind: string }>(
  strategy: S,
): strategy is Extract<S, { kind: External['kind'] }> => external.has(strategy.kind);
