/** Drafts of the requests about agents: register and status. */
import type { Capability, RequestBody, Status } from '../protocol/schema/index.js';
import { agentId } from '../protocol/signing.js';
import { isDuration, parseInstant } from '../protocol/time.js';
import { lowerAscii } from '../protocol/unicode/unicode.js';
import { badTimestampHeader } from './credentials.js';
import { type Around, type Drafted, refused } from './draft.js';

export function draftRegister(body: RequestBody['register']): Drafted {
  return {
    command: ({ publicKey }) => ({
      kind: 'register',
      public_key: publicKey,
      agent_id: agentId(publicKey),
      personality: lowerAscii(body.personality),
      name: body.name,
      description: body.description ?? '',
      capabilities: body.capabilities as Capability[],
    }),
  };
}

export function draftStatus(body: RequestBody['status'], around: Around): Drafted {
  const expected = body.expected_duration;
  // '' says as much as nothing.
  if (expected && !isDuration(expected)) {
    return refused('SCHEMA', 'expected_duration is not an ISO 8601 duration', '/expected_duration');
  }
  const signedAt = parseInstant(around.timestamp);
  if (signedAt === null) return { refusal: badTimestampHeader(around.timestamp) };
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'status',
      public_key: publicKey,
      agent_id: around.id,
      status: body.status as Status,
      reason: body.reason ?? '',
      expected_duration: expected ?? '',
      signed_at: signedAt,
      input_sha256: inputSha256(),
    }),
  };
}
