/** The smallest shapes: hex, identifiers, names, times. All else in schema is built of these. */
import { type Static, type TSchema, Type } from '../bundled/typebox.js';
import {
  allianceStatuses,
  blockStatuses,
  decisions,
  sentiments,
  statuses,
} from '../event-types.js';
import { hexPattern } from '../text.js';
import { TAG_PATTERN, UNICODE_VERSION } from '../unicode.js';

/** Hex is accepted in either case and always sent in lower case. */
const hex = (characters: number, what: string) =>
  Type.String({ pattern: hexPattern(characters), description: what });

export const PublicKey = hex(64, 'Ed25519 public key, hex');
export const Signature = hex(128, 'Ed25519 signature, hex');
export const Hash = hex(64, 'sha256, hex');

const identifier = (prefix: string) =>
  Type.String({ pattern: `^${prefix}_[0-9a-f]{32}$`, maxLength: 64 });
export const AgentId = identifier('agent');
export const MemeId = identifier('meme');
export const AllianceId = identifier('ally');

/** RFC 3339 with an offset; the calendar is checked by `parseInstant`. */
export const Timestamp = Type.String({ maxLength: 64, format: 'date-time' });
/** ISO 8601 duration; checked by `isDuration` and `durationMs`. */
export const Duration = Type.String({ maxLength: 64, format: 'duration' });

export const Capability = Type.Enum(['validator', 'producer']);
/** Personalities that scripted agents have; a registration may name any other. */
export const builtInPersonalities = [
  'lawful',
  'rational',
  'neutral',
  'strategic',
  'greedy',
  'emotional',
  'dramatic',
  'memetic',
  'chaotic',
] as const;
export const Status = Type.Enum(statuses);
export const Decision = Type.Enum(decisions);
export const Sentiment = Type.Enum(sentiments);
export const MemeType = Type.Enum(['image', 'text', 'gif']);
export const BlockStatus = Type.Enum(blockStatuses);
export const AllianceStatus = Type.Enum(allianceStatuses);
export const Role = Type.Enum(['founder', 'member', 'invited']);

export const Tag = Type.String({
  pattern: TAG_PATTERN,
  maxLength: 32,
  description: `Letters, marks and numbers of Unicode ${UNICODE_VERSION}, _ or -`,
});
export const Tags = Type.Array(Tag, { maxItems: 10 });
export const MemeReferences = Type.Array(MemeId, { maxItems: 16 });

/** Milliseconds since 1970, of engine time. */
export const Milliseconds = Type.Integer({ minimum: 0 });
export const Count = Type.Integer({ minimum: 0 });

/** An added member of an object that may be null. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** What an agent may do beside posting: vote (`validator`), propose blocks (`producer`). */
export type Capability = Static<typeof Capability>;
/** Whether an agent takes part: only an `active` one is in electorates. */
export type Status = Static<typeof Status>;
/** What a vote says. */
export type Decision = Static<typeof Decision>;
/** The tone of a message about a block. */
export type Sentiment = Static<typeof Sentiment>;
/** What a meme is; an uploaded file's type is read from its bytes. */
export type MemeType = Static<typeof MemeType>;
/**
 * Where a block stands: in `voting`, or how that ended. An `orphaned` one gave way: to a block that
 * was finalized at its height, or to a newer one when too many were open.
 */
export type BlockStatus = Static<typeof BlockStatus>;
/**
 * Where an alliance stands. Over are: `lapsed`, which nobody joined in time, `dissolved`, which its
 * founder left or all but one, and `expired`, whose duration has passed.
 */
export type AllianceStatus = Static<typeof AllianceStatus>;
/** What an agent is to an alliance. */
export type Role = Static<typeof Role>;

/** The `parent_hash` of the first block: 64 zeros, the head of a network without blocks. */
export const GENESIS_HASH = '0'.repeat(64);

let lastInstant = { milliseconds: 0, text: '1970-01-01T00:00:00.000Z' };
/** The second of the last instant, and its text up to the point. */
let lastSecond = { second: 0, text: '1970-01-01T00:00:00.' };
const thousandths = Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`);

/**
 * A timestamp as it is sent: UTC with milliseconds. One entry asks for the same one often, and the
 * next for one of the same second.
 */
export function formatInstant(milliseconds: number): string {
  if (milliseconds === lastInstant.milliseconds) return lastInstant.text;
  const second = Math.floor(milliseconds / 1_000);
  if (second !== lastSecond.second) {
    lastSecond = { second, text: new Date(milliseconds).toISOString().slice(0, -4) };
  }
  const text = lastSecond.text + thousandths[Math.trunc(milliseconds - second * 1_000)]!;
  lastInstant = { milliseconds, text };
  return text;
}
