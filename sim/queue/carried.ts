/** The files that travel with a queue: scripts and data that its scenarios name, by hashes. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileBounds, readBounded } from '../../engine/internal.js';
import { fileInside } from '../scenario/files/inside.js';
import type { CarriedFile } from './head.js';
import { QueueError } from './told.js';

/** Files of a queue, together. */
const LARGEST_BYTES = 32 * 1_048_576;

/** What a sweep knows of the files of its scenarios. */
export interface NamedFiles {
  folder: string;
  /** sha256 of each, by its path. */
  modules: Readonly<Record<string, string>>;
  /** Those of them that are programs. */
  scripts: readonly string[];
}

/** What a script takes from a file beside it, types aside: it does not travel. */
const beside = [
  /(?:^|[\n;])\s*(?:im|ex)port(?!\s+type\b)[^'";]*?['"](\.{1,2}\/[^'"]*)['"]/,
  /\b(?:require|import)\(\s*['"](\.{1,2}\/[^'"]*)['"]/,
];

/** @throws {QueueError} for what cannot be carried. */
export function readFiles({
  folder,
  modules,
  scripts,
}: NamedFiles): (CarriedFile & { body: Buffer })[] {
  let total = 0;
  return Object.entries(modules).map(([path, expected]) => {
    const found = fileInside(path, folder, 'a file');
    if ('why' in found) throw new QueueError(`a file of the scenario ${found.why}`);
    const body = readBounded(found.file, fileBounds.result);
    const sha256 = sha256Of(body);
    if (sha256 !== expected) throw new QueueError(`${path} has changed since the sweep was begun`);
    total += body.length;
    if (total > LARGEST_BYTES) {
      throw new QueueError(
        `the files of the scenario are larger than ${LARGEST_BYTES} bytes, which is what a queue ` +
          'carries; run the sweep in shards: --shard i/n',
      );
    }
    if (scripts.includes(path)) refuseNeighbours(path, body.toString('utf8'));
    return { path: posix.normalize(path), sha256, bytes: body.length, body };
  });
}

function refuseNeighbours(path: string, text: string): void {
  const neighbour = beside.map((pattern) => pattern.exec(text)?.[1]).find(Boolean);
  if (neighbour === undefined) return;
  throw new QueueError(
    `script ${path} imports ${neighbour}, which does not travel with a queue: put it into one ` +
      'file, or run the sweep in shards: --shard i/n',
  );
}

/** Why a file of somebody else's queue is not written; null when it may be. */
export function pathProblem({ path }: CarriedFile): string | null {
  const parts = path.split('/');
  const plain = parts.every((part) => /^[^\\:\0]+$/.test(part) && part !== '.' && part !== '..');
  return plain ? null : `the path ${JSON.stringify(path)} leads elsewhere`;
}

/** @throws {QueueError} when it is not what was announced. */
export function writeFile(folder: string, { path, sha256 }: CarriedFile, body: Buffer): void {
  if (sha256Of(body) !== sha256) throw new QueueError(`${path} is not as the queue announced it`);
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, body);
}

const sha256Of = (body: Buffer): string => createHash('sha256').update(body).digest('hex');
