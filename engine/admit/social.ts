/** Drafts of the requests about memes and alliances. */
import type { RequestBody } from '../protocol/schema/index.js';
import { allianceId, memeId, requestId, sha256Hex } from '../protocol/signing.js';
import { durationMs } from '../protocol/time.js';
import { lowerAscii } from '../protocol/unicode/unicode.js';
import { type Around, cleanTags, type Drafted, refused } from './draft.js';

const SHORTEST_MS = 60_000;
const LONGEST_MS = 30 * 86_400_000;

export function draftMeme(body: RequestBody['meme'], around: Around): Drafted {
  const { file, media, timestamp } = around;
  if (!file) return refused('SCHEMA', 'the file meme_file is missing', '/meme_file');
  const content_sha256 = lowerAscii(body.content_sha256);
  if (sha256Hex(file) !== content_sha256) {
    return refused('HASH_MISMATCH', 'content_sha256 is not that of the file', '/content_sha256');
  }
  if (!media) {
    const accepted = 'PNG, JPEG, WebP, GIF or plain UTF-8 text that does not begin with <';
    return refused('MEDIA_TYPE', `the file is not of an accepted type: ${accepted}`, '/meme_file');
  }
  const { caption, tags } = body;
  return {
    command: ({ publicKey }) => ({
      kind: 'meme',
      public_key: publicKey,
      meme_id: memeId(publicKey, { ...body, timestamp }),
      caption,
      tags: cleanTags(tags),
      content_sha256,
      ...media,
      size: file.length,
    }),
  };
}

export function draftAlliancePropose(body: RequestBody['alliance_propose']): Drafted {
  const duration = body.duration ?? 'PT1H';
  const milliseconds = durationMs(duration);
  if (milliseconds === null || milliseconds < SHORTEST_MS || milliseconds > LONGEST_MS) {
    const message = 'duration is not PT1M..P30D in weeks, days, hours, minutes, seconds';
    return refused('SCHEMA', message, '/duration');
  }
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'alliance_propose',
      public_key: publicKey,
      request_id: requestId(publicKey, inputSha256()),
      alliance_id: allianceId(publicKey, inputSha256()),
      target_ids: body.target_ids,
      purpose: body.purpose,
      duration,
      duration_ms: milliseconds,
    }),
  };
}

export function draftAllianceRespond(
  body: RequestBody['alliance_respond'],
  around: Around,
): Drafted {
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'alliance_respond',
      public_key: publicKey,
      request_id: requestId(publicKey, inputSha256()),
      alliance_id: around.id,
      accepted: body.accepted,
    }),
  };
}

export function draftAllianceLeave(_: RequestBody['alliance_leave'], around: Around): Drafted {
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'alliance_leave',
      public_key: publicKey,
      request_id: requestId(publicKey, inputSha256()),
      alliance_id: around.id,
    }),
  };
}
