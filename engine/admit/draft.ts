/** What admission works with: a checked body that becomes a command once its signer is known. */
import type { VerifyJob } from '../crypto/verifier.js';
import {
  type Command,
  type CommandKind,
  type Reason,
  type Refusal,
  type RequestBody,
  refuse,
} from '../protocol/schema/index.js';
import { lowerCase } from '../protocol/unicode/unicode.js';
import type { Media } from './content.js';

/** Who signed what. */
export interface Signer {
  /** Hex, lower case. */
  publicKey: string;
  /** sha256 of the signing input, hex. */
  inputSha256(): string;
}

/** A good body. `jobs` are signatures inside it, beside the request's own. */
export interface Draft {
  command(signer: Signer): Command;
  jobs?(signer: Signer): VerifyJob[];
}

export type Drafted = Draft | { refusal: Refusal };

/** The request around a body, as far as a command needs it. */
export interface Around {
  networkId: string;
  /** The path parameter, where the kind has one. */
  id: string;
  /** The X-Timestamp header. */
  timestamp: string;
  /** The raw body, parsed: unknown members included. */
  raw: Readonly<Record<string, unknown>>;
  file: Uint8Array | undefined;
  media: Media | null;
}

export type Drafter<K extends CommandKind> = (body: RequestBody[K], around: Around) => Drafted;

/** A refusal in the place of a draft. */
export function refused(reason: Reason, message: string, pointer?: string): { refusal: Refusal } {
  return { refusal: refuse(reason, message, pointer === undefined ? {} : { pointer }) };
}

/** Lower-cased tags, the first of each kept. */
export function cleanTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(lowerCase))];
}

/** Repeated references count once. */
export function cleanReferences(references: readonly string[] | undefined): string[] {
  const once: string[] = [];
  for (const one of references ?? []) if (!once.includes(one)) once.push(one);
  return once;
}
