/** Every limit of the live API in one place: how much, in what time, and for whom it is counted. */
import { limits as bounds } from '../../engine/protocol/limits.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';

/**
 * How strict a server is: `spec` as the protocol has it, `bench` 10,000 times that, `off` without
 * rate limits.
 */
export type Profile = 'spec' | 'bench' | 'off';

/** `claim` is an address together with the known key that a request names, whoever sent it. */
type CountedFor = 'agent' | 'address' | 'claim';

interface Limit {
  /** By the profile `spec`. */
  quota: number;
  seconds: number;
  per: CountedFor;
  unit: 'requests' | 'units' | 'bytes';
}

const perAgent = (quota: number): Limit => ({ quota, seconds: 60, per: 'agent', unit: 'requests' });
const per = (who: CountedFor, quota: number, unit: Limit['unit'] = 'requests'): Limit => ({
  quota,
  seconds: 60,
  per: who,
  unit,
});

const KIB = 1024;
const MIB = 1024 * KIB;
const DAY_S = 86_400;

const table = {
  register: per('address', 1),
  vote: perAgent(10),
  propose: perAgent(5),
  meme: perAgent(20),
  status: perAgent(30),
  discuss: perAgent(20),
  alliance_propose: perAgent(5),
  alliance_respond: perAgent(30),
  alliance_leave: perAgent(30),
  read: per('address', 600),
  failed_signature: per('claim', 60),
  /** Over all known keys that were claimed; one whose signature held lately is not asked. */
  failed_signature_total: per('address', 600),
  /** Failures whose mistake is looked for. */
  explained: per('claim', 5, 'units'),
  /** What no signature vouched for, in units of REFUSED_UNIT_BYTES begun. */
  refused: per('claim', 600, 'units'),
  refused_total: per('address', 1_200, 'units'),
  /** Of any kind, but health and metrics. */
  requests: { ...per('address', 1_000), seconds: 1 },
  request_bytes: { ...per('address', 16 * MIB, 'bytes'), seconds: 1 },
  connections: { ...per('address', 2_000), seconds: 10 },
  /** What is written to the log and beside it, memes and proposals apart. */
  bytes: per('agent', 256 * KIB, 'bytes'),
  address_bytes: per('address', MIB, 'bytes'),
  /** Memes and proposals, which are too large for a minute's share. */
  day_bytes: { ...per('agent', 64 * MIB, 'bytes'), seconds: DAY_S },
  address_day_bytes: { ...per('address', 256 * MIB, 'bytes'), seconds: DAY_S },
} as const satisfies Record<string, Limit> & Record<CommandKind, Limit>;

/**
 * The name of a limit.
 *
 * @useDeclaredType
 */
export type LimitName = keyof typeof table;
/** The quota of each limit in its window: requests, units or bytes. */
export type Figures = Readonly<Record<LimitName, number>>;

export const limitTable: Readonly<Record<LimitName, Limit>> = table;
/** The names of all limits, as a file of `--limits-file` may have them. */
export const limitNames = Object.keys(table) as LimitName[];

/** A refusal costs one unit, and one more for each of these begun beyond the first. */
export const REFUSED_UNIT_BYTES = 32 * KIB;
/** What a request writes beside its body and file: its entry's head, records and events. */
export const WRITTEN_BESIDE_BYTES = 512;

/** Bounds of the server itself, whatever the profile. */
export const serverBounds = {
  /** Body of a request, by what it carries; `small` of any whose key is not registered. */
  body: {
    small: 8 * KIB,
    propose: bounds.proposalBytes,
    /** The file, and the form around it. */
    meme: bounds.memeFileBytes + 64 * KIB,
    /** A request inside a JSON text is larger than by itself. */
    debug_verify: 2 * bounds.proposalBytes,
  },
  /** Bodies that are being received or dealt with, all together and of one address. */
  bodiesInFlightBytes: 256 * MIB,
  bodiesOfAddressBytes: 64 * MIB,
  /** Values of one JSON body, counted before it is parsed. */
  jsonValues: 65_536,
  /** Canonical JSON of members that the protocol does not know, all together. */
  unknownMembersBytes: 512,
  /**
   * Proposals that wait for the end of the block that they build on: in all, as many as there are
   * blocks in voting at most; of one producer, one and the same again of a client that lost its
   * connection; and for how long, which is less than a request may take.
   */
  earlyProposals: { most: 8, most_of_one: 2, ms: 10_000 },
  /** What a page that looks at the network is given at a time. */
  view: {
    columnRows: 8_192,
    columnBytes: MIB,
    /** Texts that were said: votes may all have reasons. */
    columnSaid: 500,
    logBytes: MIB,
    buckets: 2_000,
    defaultBuckets: 240,
    /** Rows of the index that one page of memes goes through. */
    memeRows: 2_000,
    /** Blocks that one page of an agent's votes goes through. */
    voteBlocks: 1_000,
    /** Links of the graph that a scenario is shown with. */
    graphEdges: 10_000,
    /** Links among the neighbours of one page. */
    neighbourLinks: 5_000,
  },
  /** One page of a list read. */
  pageBytes: MIB,
  /** Rows of a page where none are asked for. */
  defaultPageRows: 100,
} as const;

const BENCH_FACTOR = 10_000;

/** What a profile allows, with an operator's own figures in place of some. */
export function resolveLimits(profile: Profile, own: Partial<Figures> = {}): Figures | null {
  if (profile === 'off') return null;
  const factor = profile === 'bench' ? BENCH_FACTOR : 1;
  const rows = limitNames.map((name) => [name, own[name] ?? limitTable[name].quota * factor]);
  return Object.fromEntries(rows) as Figures;
}

/** Operations a minute by the profile `spec`. */
export const perMinute = operationsOf(resolveLimits('spec')!);

/** Of all figures those a minute that count operations. */
function operationsOf(figures: Figures) {
  const { failed_signature_total: _, ...own } = figures;
  const rows = limitNames
    .filter((name) => name in own && limitTable[name].seconds === 60)
    .filter((name) => limitTable[name].unit === 'requests')
    .map((name) => [name, figures[name]]);
  return Object.fromEntries(rows) as Record<CommandKind | 'read' | 'failed_signature', number>;
}

/** The limits in force, as `/api/v1/meta` shows them; null: only the server's own bounds. */
export function describeLimits(figures: Figures | null) {
  const rows = limitNames.map((name) => {
    const { seconds, per: counted_for, unit } = limitTable[name];
    return [name, { quota: figures?.[name], window_s: seconds, counted_for, unit }];
  });
  const { body, bodiesInFlightBytes, bodiesOfAddressBytes } = serverBounds;
  return {
    per_minute: figures ? operationsOf(figures) : {},
    windows: figures ? Object.fromEntries(rows) : {},
    body_bytes: body,
    bodies_under_way_bytes: bodiesInFlightBytes,
    bodies_of_address_bytes: figures ? bodiesOfAddressBytes : bodiesInFlightBytes,
    json_values: serverBounds.jsonValues,
    unknown_members_bytes: serverBounds.unknownMembersBytes,
    page_bytes: serverBounds.pageBytes,
    early_proposals: serverBounds.earlyProposals,
  };
}
