/**
 * A cache of files derived from a log, such as indexes. A data folder can come from a different
 * person, and its log proves nothing about the cached files alongside it. So each file is sealed
 * with an HMAC. The key belongs to this installation and is stored outside the data folder. The
 * HMAC covers the content, the unpacked and packed sizes, and the source (network, genesis, entry,
 * both digests, format). A file whose seal does not match is deleted and derived again. A reader
 * therefore decompresses only data that this installation compressed. If no file can be written, or
 * no key is available, the cache is kept in memory, up to a limit.
 *
 * File format: magic line, unpacked and packed length (4 bytes each, big-endian), SHA-256 of the
 * packed bytes, HMAC-SHA256, packed bytes (Brotli).
 */
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  existsSync,
  constants as flags,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { limits } from '../protocol/limits.js';
import { freeBytes, makeFolder } from './folder.js';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** Identifies a derived file's content and the log position from which it was derived. */
export interface DerivedFrom {
  /** Kind and version of the content. */
  format: string;
  schema_version: number;
  network_id: string;
  epoch: string;
  /** Log digest of entry 0 (the genesis digest). All digests are hex. */
  genesis: string;
  seq: number;
  log_digest: string;
  digest: string;
}

/** A file in the folder, or its replacement in memory. */
export interface DerivedFile {
  name: string;
  bytes: number;
  inMemory: boolean;
}

const MAGIC = Buffer.from('folkmoot derived 1\n');
const SHA256_BYTES = 32;
/** Both lengths. */
const SIZES_BYTES = 8;
const HEADER_BYTES = MAGIC.length + SIZES_BYTES + 2 * SHA256_BYTES;
/** Largest content that is stored. */
const MOST_BYTES = 2 ** 30;
/** Size limit of the in-memory cache. */
const MEMORY_BYTES = 64 * 1024 * 1024;
const unfinished = /^\.[0-9a-f-]{36}\.tmp$/;
/** Age after which an unfinished file is abandoned. */
const STALE_MS = 60_000;

/** Derived files in one folder. The files can be deleted at any time. */
export class DerivedFolder {
  readonly #folder: string | null;
  readonly #beside: string | null;
  /** Sealed files by name, oldest first. */
  readonly #memory = new Map<string, Buffer>();
  #memoryBytes = 0;
  #key: Key | null = null;
  /** Reason why files are no longer written, such as a missing permission; otherwise null. */
  problem: string | null = null;

  /**
   * @param folder for the files; null keeps the files in memory.
   * @param beside path of the source data. No file is written after that path has been deleted.
   */
  constructor(folder: string | null, beside: string | null = null) {
    this.#folder = folder;
    this.#beside = beside;
  }

  /** Lists files by name, ascending. Removes files that a killed process left unfinished. */
  list(): DerivedFile[] {
    const files: DerivedFile[] = [];
    for (const [name, { length }] of this.#memory) {
      files.push({ name, bytes: length, inMemory: true });
    }
    const names = namesIn(this.#folder);
    // Without the key, no seal can be verified, so the files are neither listed nor removed.
    if (names.length > 0 && !this.#sealingKey().isKept) return files;
    for (const name of names) {
      const found = statOf(join(this.#folder!, name));
      if (!found || this.#memory.has(name)) continue;
      if (!unfinished.test(name)) files.push({ name, bytes: found.size, inMemory: false });
      else if (Date.now() - found.mtimeMs > STALE_MS) this.remove(name);
    }
    return files.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Returns a file's content if this installation wrote the file under this name and derived it
   * from exactly this source; otherwise null. Removes a file that is damaged or was written
   * elsewhere.
   */
  async read(name: string, from: DerivedFrom): Promise<Buffer | null> {
    const key = this.#sealingKey();
    const kept = this.#memory.get(name);
    if (kept) return unsealed(kept, { key, name, from });
    // Without the installation's key, a forged file cannot be detected.
    if (this.#folder === null || !key.isKept) return null;
    const file = await opened(join(this.#folder, name));
    if (!file) return null;
    try {
      const content = await contentOf(file, { key, name, from }).catch(() => null);
      if (content === null) this.remove(name);
      return content;
    } finally {
      await file.close();
    }
  }

  /**
   * Stores content unless its sealed size exceeds `most` bytes. Returns the sealed size. Sets
   * `problem` if the file cannot be written.
   */
  async write(
    name: string,
    from: DerivedFrom,
    content: Uint8Array,
    most = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    if (content.length > MOST_BYTES) return content.length;
    const key = this.#sealingKey();
    const file = await sealed(content, { key, name, from });
    if (file.length > most) return file.length;
    const folder = this.problem === null ? this.#folder : null;
    if (folder !== null && (await this.#writeFile(folder, name, file))) this.#forget(name);
    else this.#remember(name, file);
    return file.length;
  }

  remove(name: string): void {
    this.#forget(name);
    if (this.#folder === null) return;
    try {
      rmSync(join(this.#folder, name), { force: true });
    } catch (error) {
      this.problem ??= `${this.#folder}: ${(error as Error).message}`;
    }
  }

  #sealingKey(): Key {
    if (this.#key) return this.#key;
    try {
      this.#key = this.#folder === null ? passingKey() : installationKey();
    } catch (error) {
      this.problem ??= `${this.#folder}: files kept in memory: ${(error as Error).message}`;
      this.#key = passingKey();
    }
    return this.#key;
  }

  #forget(name: string): void {
    this.#memoryBytes -= this.#memory.get(name)?.length ?? 0;
    this.#memory.delete(name);
  }

  #remember(name: string, file: Buffer): void {
    this.#forget(name);
    this.#memory.set(name, file);
    this.#memoryBytes += file.length;
    for (const oldest of this.#memory.keys()) {
      if (this.#memoryBytes <= MEMORY_BYTES) return;
      this.#forget(oldest);
    }
  }

  /** Writes a file atomically and durably. Returns false and sets `problem` on failure. */
  async #writeFile(folder: string, name: string, content: Buffer): Promise<boolean> {
    const temporary = join(folder, `.${randomUUID()}.tmp`);
    try {
      // Must not recreate the folder of a deleted network.
      if (this.#beside !== null && !existsSync(this.#beside)) {
        throw new Error(`${this.#beside} was deleted`);
      }
      makeFolder(folder, 0o700);
      if (freeBytes(folder) < limits.freeSpaceBytes + content.length) {
        this.problem = `${folder}: less than ${limits.freeSpaceBytes} bytes of disk space free`;
        return false;
      }
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, join(folder, name));
      return true;
    } catch (error) {
      this.problem = `${folder}: cannot write files: ${(error as Error).message}`;
      await rm(temporary, { force: true }).catch(() => undefined);
      return false;
    }
  }
}

function namesIn(folder: string | null): string[] {
  try {
    return folder === null ? [] : readdirSync(folder);
  } catch {
    return [];
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Opens a regular file. Returns null for anything else, and does not block on a pipe. */
async function opened(path: string): Promise<FileHandle | null> {
  try {
    const file = await open(path, flags.O_RDONLY | (flags.O_NONBLOCK ?? 0));
    if ((await file.stat()).isFile()) return file;
    await file.close();
    return null;
  } catch {
    return null;
  }
}

interface Sealing {
  key: Key;
  name: string;
  from: DerivedFrom;
}

async function sealed(content: Uint8Array, sealing: Sealing): Promise<Buffer> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };
  const packed = await compress(content, { params });
  const sizes = Buffer.alloc(SIZES_BYTES);
  sizes.writeUInt32BE(content.length);
  sizes.writeUInt32BE(packed.length, 4);
  const head = Buffer.concat([MAGIC, sizes, sha256(packed)]);
  return Buffer.concat([head, macOf(head, sealing), packed]);
}

/** Checks the header before reading further, so that a large foreign file costs little. */
async function contentOf(file: FileHandle, sealing: Sealing): Promise<Buffer | null> {
  const header = Buffer.alloc(HEADER_BYTES);
  const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
  if (bytesRead < HEADER_BYTES || !isSealed(header, sealing)) return null;
  const length = HEADER_BYTES + header.readUInt32BE(MAGIC.length + 4);
  if ((await file.stat()).size !== length) return null;
  const whole = Buffer.alloc(length);
  await file.read(whole, 0, length, 0);
  return unsealed(whole, sealing);
}

async function unsealed(file: Buffer, sealing: Sealing): Promise<Buffer | null> {
  const packed = file.subarray(HEADER_BYTES);
  if (!isSealed(file, sealing)) return null;
  const digestAt = MAGIC.length + SIZES_BYTES;
  if (!sha256(packed).equals(file.subarray(digestAt, digestAt + SHA256_BYTES))) return null;
  return decompress(packed, { maxOutputLength: file.readUInt32BE(MAGIC.length) });
}

function isSealed(file: Buffer, sealing: Sealing): boolean {
  if (!file.subarray(0, MAGIC.length).equals(MAGIC)) return false;
  const macAt = HEADER_BYTES - SHA256_BYTES;
  return timingSafeEqual(
    file.subarray(macAt, HEADER_BYTES),
    macOf(file.subarray(0, macAt), sealing),
  );
}

/** HMAC over the head (magic, lengths, SHA-256 of the packed bytes), the name and the source. */
function macOf(head: Buffer, { key, name, from }: Sealing): Buffer {
  const { format, schema_version, network_id, epoch, genesis, seq, log_digest, digest } = from;
  const parts = [name, format, schema_version, network_id, epoch, genesis, seq, log_digest, digest];
  const place = JSON.stringify(parts);
  return createHmac('sha256', key.bytes).update(head).update(place).digest();
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

interface Key {
  bytes: Buffer;
  /** True if the key is in a file, so that a later process uses the same key. */
  isKept: boolean;
}

const KEY_BYTES = 32;
const KEY_TEXT = /^[0-9a-f]{64}\n$/;
const KEY_FILE = 'derived.key';

/** Creates a key for this process only. */
const passingKey = (): Key => ({ bytes: randomBytes(KEY_BYTES), isKept: false });

const keys = new Map<string, Key>();

/**
 * Returns this user's key on this machine. Creates the key if it does not exist. Reads the key file
 * once per process.
 *
 * @throws {Error} with the reason if the key cannot be used.
 */
function installationKey(): Key {
  const file = join(stateFolder(), KEY_FILE);
  const known = keys.get(file);
  if (known) return known;
  if (!existsSync(file)) drawKey(file);
  const key = { bytes: readKey(file), isKept: true };
  keys.set(file, key);
  return key;
}

/** This user's state folder, as in the XDG Base Directory specification. */
function stateFolder(): string {
  const { XDG_STATE_HOME = '', LOCALAPPDATA = '' } = process.env;
  const own = process.platform === 'win32' ? LOCALAPPDATA : XDG_STATE_HOME;
  // A relative path would depend on the working directory.
  if (isAbsolute(own)) return join(own, 'folkmoot');
  const home = homedir();
  if (!isAbsolute(home)) throw new Error('no home folder; set XDG_STATE_HOME');
  return join(home, '.local', 'state', 'folkmoot');
}

/** Creates the key. If two processes do so, `link` succeeds for one, and both use its key. */
function drawKey(file: string): void {
  const temporary = join(dirname(file), `.${randomUUID()}.tmp`);
  try {
    assertOwnGround(dirname(file));
    makeFolder(dirname(file), 0o700);
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      writeSync(fd, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new Error(`cannot create key ${file}: ${(error as Error).message}`);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Throws if root runs with another user's home folder, where that user could not read the key. */
function assertOwnGround(folder: string): void {
  if (process.getuid?.() !== 0) return;
  let ground = folder;
  while (!existsSync(ground)) ground = dirname(ground);
  if (statSync(ground).uid === 0) return;
  throw new Error(`${ground} is owned by another user; set XDG_STATE_HOME`);
}

function readKey(file: string): Buffer {
  const refused = (why: string) => new Error(`key ${file} ${why}; remove it`);
  const fd = openSync(file, flags.O_RDONLY | (flags.O_NONBLOCK ?? 0));
  try {
    const { uid, mode, size } = fstatSync(fd);
    if (process.getuid && uid !== process.getuid()) throw refused('is owned by another user');
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw refused('is readable by other users (expected mode 0600)');
    }
    const text = size === 2 * KEY_BYTES + 1 ? readFileSync(fd, 'latin1') : '';
    if (!KEY_TEXT.test(text)) throw refused('is not 64 hex digits');
    return Buffer.from(text, 'hex');
  } finally {
    closeSync(fd);
  }
}
