/** Limits of the live API, each with its quota, window and scope. */
import { limits as bounds } from '../../engine/protocol/limits.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';

/** Strictness: `spec` applies the protocol's limits, `bench` 10,000 times those, `off` none. */
export type Profile = 'spec' | 'bench' | 'off';

type CountedFor = 'agent' | 'address';

interface Limit {
  /** In profile `spec`. */
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
  /** Failed signatures that the server diagnoses. */
  explained: per('address', 20, 'units'),
  /**
   * Writes without a valid signature and with small bodies, in units of WRITE_UNIT_BYTES. Agents
   * that sent a valid signature from the address recently are exempt.
   */
  refused: { ...per('address', 128, 'units'), seconds: 1 },
  /** Larger bodies without a valid signature. */
  refused_large: { ...per('address', 8 * MIB, 'bytes'), seconds: 10 },
  /** All requests except health checks, metrics and signed requests. */
  requests: { ...per('address', 1_000), seconds: 1 },
  /** Writes that name a registered key, in units of WRITE_UNIT_BYTES of a small body. */
  signed_requests: { ...per('address', 1_000, 'units'), seconds: 1 },
  request_bytes: { ...per('address', 16 * MIB, 'bytes'), seconds: 1 },
  connections: { ...per('address', 2_000), seconds: 10 },
  /** Bytes written to the log and its indexes, excluding memes and proposals. */
  bytes: per('agent', 256 * KIB, 'bytes'),
  address_bytes: per('address', MIB, 'bytes'),
  /** Memes and proposals, which are too large for a quota per minute. */
  day_bytes: { ...per('agent', 64 * MIB, 'bytes'), seconds: DAY_S },
  address_day_bytes: { ...per('address', 256 * MIB, 'bytes'), seconds: DAY_S },
} as const satisfies Record<string, Limit> & Record<CommandKind, Limit>;

/** Name of a limit. @useDeclaredType */
export type LimitName = keyof typeof table;
/** Quota per window for each limit, in requests, units or bytes. */
export type Figures = Readonly<Record<LimitName, number>>;

export const limitTable: Readonly<Record<LimitName, Limit>> = table;
/** All limit names, as `--limits-file` accepts them. */
export const limitNames = Object.keys(table) as LimitName[];

/** Size of a unit of writes. Malformed JSON of this size costs as much as a false signature. */
export const WRITE_UNIT_BYTES = KIB;
export const DEBUG_UNIT_BYTES = 32 * KIB;
/** Bytes that a request writes besides its body and file: entry head, records and events. */
export const WRITTEN_BESIDE_BYTES = 512;

/** Server limits that do not depend on the profile. */
export const serverBounds = {
  /** Maximum body sizes by content. `small` applies to unregistered keys. */
  body: {
    small: 8 * KIB,
    propose: bounds.proposalBytes,
    /** The file and the surrounding form. */
    meme: bounds.memeFileBytes + 64 * KIB,
    debug_verify: bounds.describedRequestBytes,
  },
  /** Bodies in flight (received or processed), in total and per address. */
  bodiesInFlightBytes: 256 * MIB,
  bodiesOfAddressBytes: 64 * MIB,
  /**
   * The same by class of bodies, so that one class cannot exclude the other classes: small bodies
   * or large bodies, with or without an earlier valid signature of the agent from the address.
   */
  bodyClasses: {
    small: { total: 32 * MIB, ofAddress: 4 * MIB },
    large: { total: 96 * MIB, ofAddress: 16 * MIB },
    provenSmall: { total: 32 * MIB, ofAddress: 8 * MIB },
    provenLarge: { total: 96 * MIB, ofAddress: 64 * MIB },
    /** All bodies, while limits are off. */
    unlimited: { total: 256 * MIB, ofAddress: 256 * MIB },
  },
  /** Values in one JSON body, counted before parsing. */
  jsonValues: 65_536,
  /** Canonical JSON size of all unknown members together. */
  unknownMembersBytes: 512,
  /**
   * Proposals that may wait for their parent block to close. In total, the maximum number of blocks
   * in voting; per producer, one proposal and its retry after a lost connection. The wait in
   * milliseconds is shorter than the request timeout.
   */
  earlyProposals: { most: 8, most_of_one: 2, ms: 10_000 },
  /** Limits for one response to a view read. */
  view: {
    columnRows: 4_096,
    columnBytes: MIB,
    /** Message texts. Each vote may include a reason. */
    columnSaid: 500,
    logBytes: MIB,
    buckets: 2_000,
    defaultBuckets: 240,
    /** Index rows scanned per page of memes. */
    memeRows: 2_000,
    /** Blocks scanned per page of an agent's votes. */
    voteBlocks: 1_000,
    /** Graph links that the scenario includes. */
    graphEdges: 50_000,
    /** Links among the neighbours on one page. */
    neighbourLinks: 5_000,
  },
  /** Maximum size of a list page. */
  pageBytes: MIB,
  defaultPageRows: 100,
} as const;

const BENCH_FACTOR = 10_000;

/** Returns a profile's limits with the operator's overrides; null for `off`. */
export function resolveLimits(profile: Profile, own: Partial<Figures> = {}): Figures | null {
  if (profile === 'off') return null;
  const factor = profile === 'bench' ? BENCH_FACTOR : 1;
  const rows = limitNames.map((name) => [name, own[name] ?? limitTable[name].quota * factor]);
  return Object.fromEntries(rows) as Figures;
}

/** Operations per minute in profile `spec`. */
export const perMinute = operationsOf(resolveLimits('spec')!);

/** Selects the limits on operations per minute. */
function operationsOf(figures: Figures) {
  const rows = limitNames
    .filter((name) => limitTable[name].seconds === 60)
    .filter((name) => limitTable[name].unit === 'requests')
    .map((name) => [name, figures[name]]);
  return Object.fromEntries(rows) as Record<CommandKind | 'read', number>;
}

/** Describes the limits in effect for `/api/v1/meta`; with null, only the server's own limits. */
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
