/**
 * Files that are derived from a log and kept beside it, so that nothing is computed twice. A folder
 * may come from another person, and its log proves nothing about the files beside it. So each file
 * is sealed: an HMAC, with a key that this installation keeps outside of the folder, covers the
 * content and what it was derived from (network, genesis, entry, both digests, format). A file with
 * another seal is removed and derived again. Its sizes are sealed too: a reader unpacks only what
 * this installation packed. Where a file cannot be written, or there is no key, what fits is kept
 * in memory.
 *
 * A sealed file: a magic line, the unpacked and the packed length (4 bytes each, big-endian), the
 * sha256 of the packed bytes, the HMAC-SHA256, and the packed bytes (Brotli).
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

/** What a derived file holds, and the point of the log that it was derived from. */
export interface DerivedFrom {
  /** Kind and version of the content: another format is another kind. */
  format: string;
  schema_version: number;
  network_id: string;
  epoch: string;
  /** Log digest of entry 0, which is the digest of the genesis. Hex, as are the other digests. */
  genesis: string;
  seq: number;
  log_digest: string;
  digest: string;
}

/** A file of the folder, or what is kept in memory in place of one. */
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
/** A larger content is not kept. */
const MOST_BYTES = 2 ** 30;
/** Kept in memory where no file can be. */
const MEMORY_BYTES = 64 * 1024 * 1024;
const unfinished = /^\.[0-9a-f-]{36}\.tmp$/;
/** Time after which another process has certainly given up an unfinished file. */
const STALE_MS = 60_000;

/** Derived files in one folder, which may be deleted at any time. */
export class DerivedFolder {
  readonly #folder: string | null;
  readonly #beside: string | null;
  /** Sealed files by name, the oldest first. */
  readonly #memory = new Map<string, Buffer>();
  #memoryBytes = 0;
  #key: Key | null = null;
  /** Why no more files are written, if so: no permission, no room, no key. */
  problem: string | null = null;

  /**
   * @param folder where files are kept; null: in memory only.
   * @param beside the data that they are derived from: no file is written once that is gone.
   */
  constructor(folder: string | null, beside: string | null = null) {
    this.#folder = folder;
    this.#beside = beside;
  }

  /** What is there, by name, ascending. Removes files that a killed process did not finish. */
  list(): DerivedFile[] {
    const files: DerivedFile[] = [];
    for (const [name, { length }] of this.#memory) {
      files.push({ name, bytes: length, inMemory: true });
    }
    const names = namesIn(this.#folder);
    // Files whose seal cannot be checked are left alone.
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
   * The content of a file that this installation wrote, under this name and derived from exactly
   * this; null for any other. Removes a file that another installation wrote, or that is damaged.
   */
  async read(name: string, from: DerivedFrom): Promise<Buffer | null> {
    const key = this.#sealingKey();
    const kept = this.#memory.get(name);
    if (kept) return unsealed(kept, { key, name, from });
    // Without the installation's key no file can be told from a forgery.
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
   * Keeps a content, unless it takes more than `most` bytes, and gives how many it takes. Notes
   * what prevents a file.
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
      const text = `files stay in memory, because ${(error as Error).message}`;
      this.problem ??= `${this.#folder}: ${text}`;
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

  /** Whole or not at all, and durable. */
  async #writeFile(folder: string, name: string, content: Buffer): Promise<boolean> {
    const temporary = join(folder, `.${randomUUID()}.tmp`);
    try {
      // A network whose folder was deleted does not come back as a folder of derived files.
      if (this.#beside !== null && !existsSync(this.#beside)) {
        throw new Error(`${this.#beside} is gone`);
      }
      makeFolder(folder, 0o700);
      if (freeBytes(folder) < limits.freeSpaceBytes + content.length) {
        this.problem = `${folder}: less than ${limits.freeSpaceBytes} bytes are free on its disk`;
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
      this.problem = `${folder}: files cannot be written: ${(error as Error).message}`;
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

/** A regular file, or null: opening a pipe would wait for its writer. */
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

/** The place of a file, with the key that seals it. */
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

/** Looks at the header alone before it reads the rest, however long the file is. */
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

/** Over the place of the file, and the head: magic, both lengths, sha256 of what is packed. */
function macOf(head: Buffer, { key, name, from }: Sealing): Buffer {
  const { format, schema_version, network_id, epoch, genesis, seq, log_digest, digest } = from;
  const parts = [name, format, schema_version, network_id, epoch, genesis, seq, log_digest, digest];
  const place = JSON.stringify(parts);
  return createHmac('sha256', key.bytes).update(head).update(place).digest();
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

interface Key {
  bytes: Buffer;
  /** Whether it is in a file, so that a later process has the same. */
  isKept: boolean;
}

const KEY_BYTES = 32;
const KEY_TEXT = /^[0-9a-f]{64}\n$/;
const KEY_FILE = 'derived.key';

/** Lasts as long as its process. */
const passingKey = (): Key => ({ bytes: randomBytes(KEY_BYTES), isKept: false });

/** By the file that it is in. */
const keys = new Map<string, Key>();

/**
 * The key of this user on this machine: read once a process, and drawn where there is none yet.
 *
 * @throws {Error} saying why it cannot be used.
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

/** Where programs of this user keep what has to outlast them, and no document is. */
function stateFolder(): string {
  const { XDG_STATE_HOME = '', LOCALAPPDATA = '' } = process.env;
  const own = process.platform === 'win32' ? LOCALAPPDATA : XDG_STATE_HOME;
  // A path that is not absolute would lead into the folder that is looked at.
  if (isAbsolute(own)) return join(own, 'folkmoot');
  const home = homedir();
  if (!isAbsolute(home)) throw new Error('this user has no home folder; set XDG_STATE_HOME');
  return join(home, '.local', 'state', 'folkmoot');
}

/** Two processes that do so at a time end up with the same key: only one of them can link it. */
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
    throw new Error(`the key ${file} cannot be made: ${(error as Error).message}`);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Root that runs with the home of another user would leave a key there that nobody else reads. */
function assertOwnGround(folder: string): void {
  if (process.getuid?.() !== 0) return;
  let ground = folder;
  while (!existsSync(ground)) ground = dirname(ground);
  if (statSync(ground).uid === 0) return;
  throw new Error(`${ground} belongs to another user; set XDG_STATE_HOME`);
}

function readKey(file: string): Buffer {
  const refused = (why: string) => new Error(`the key ${file} ${why}; remove it`);
  const fd = openSync(file, flags.O_RDONLY | (flags.O_NONBLOCK ?? 0));
  try {
    const { uid, mode, size } = fstatSync(fd);
    if (process.getuid && uid !== process.getuid()) throw refused('belongs to another user');
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw refused('can be read by other users (its mode must be 0600)');
    }
    const text = size === 2 * KEY_BYTES + 1 ? readFileSync(fd, 'latin1') : '';
    if (!KEY_TEXT.test(text)) throw refused('is not 64 hex digits');
    return Buffer.from(text, 'hex');
  } finally {
    closeSync(fd);
  }
}
