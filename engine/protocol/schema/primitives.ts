/** Schemas for hex, identifiers, enumerations and times. */
import { type Static, type TSchema, Type } from '../bundled/typebox.js';
import {
  allianceStatuses,
  blockStatuses,
  decisions,
  sentiments,
  statuses,
} from '../event-types.js';
import { definePattern, hexPattern, idPattern } from '../patterns.js';
import { TAG_PATTERN, UNICODE_VERSION } from '../text.js';

/** Hex is accepted in any case and sent in lower case. */
const hex = (characters: number, what: string) =>
  Type.String({ pattern: hexPattern(characters), description: what });

export const PublicKey = hex(64, 'Ed25519 public key, hex');
export const Signature = hex(128, 'Ed25519 signature, hex');
export const Hash = hex(64, 'sha256, hex');

const identifier = (prefix: string) => Type.String({ pattern: idPattern(prefix), maxLength: 64 });
export const AgentId = identifier('agent');
export const MemeId = identifier('meme');
export const AllianceId = identifier('ally');

/** RFC 3339 with an offset. `parseInstant` checks the calendar. */
export const Timestamp = Type.String({ maxLength: 64, format: 'date-time' });
/** ISO 8601 duration. `isDuration` and `durationMs` validate the text. */
export const Duration = Type.String({
  maxLength: 64,
  format: 'duration',
  description: 'ISO 8601 duration, such as PT2H',
});

export const Capability = Type.Enum(['validator', 'producer']);
/** Personalities that scripted agents use. A registration may name any personality. */
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
  pattern: definePattern(TAG_PATTERN, '1 to 32 letters, digits, underscores or hyphens'),
  maxLength: 32,
  description: `Letters, marks and numbers of Unicode ${UNICODE_VERSION}, _ or -`,
});
export const Tags = Type.Array(Tag, { maxItems: 10 });
export const MemeReferences = Type.Array(MemeId, {
  maxItems: 16,
  description: 'memes that influenced the agent',
});

/** Engine time, milliseconds since 1970. */
export const Milliseconds = Type.Integer({ minimum: 0 });
export const Count = Type.Integer({ minimum: 0 });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Agent capability: to vote (`validator`) or to propose blocks (`producer`). */
export type Capability = Static<typeof Capability>;
/** Agent status. Only `active` agents are in electorates. */
export type Status = Static<typeof Status>;
/** Decision of a vote. */
export type Decision = Static<typeof Decision>;
/** The tone of a message about a block. */
export type Sentiment = Static<typeof Sentiment>;
/** Meme type, detected from the bytes of the file. */
export type MemeType = Static<typeof MemeType>;
/**
 * Block status. A block is `orphaned` when a different block is finalized at its height, or when a
 * newer block takes its place because too many blocks are open.
 */
export type BlockStatus = Static<typeof BlockStatus>;
/**
 * Alliance status. An alliance is `lapsed` if no agent accepted in time, `dissolved` if its founder
 * or all members but one left, and `expired` after its duration.
 */
export type AllianceStatus = Static<typeof AllianceStatus>;
/** An agent's role in an alliance. */
export type Role = Static<typeof Role>;

/** `parent_hash` of the first block: 64 zeros, the head of a network without blocks. */
export const GENESIS_HASH = '0'.repeat(64);

let lastInstant = { milliseconds: 0, text: '1970-01-01T00:00:00.000Z' };
/** The most recent second, and its text up to the decimal point. */
let lastSecond = { second: 0, text: '1970-01-01T00:00:00.' };
const thousandths = Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`);

/**
 * Formats milliseconds since 1970 as RFC 3339 in UTC with milliseconds. Caches the most recent
 * second, because consecutive calls are mostly within one second.
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
