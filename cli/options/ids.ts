/**
 * How commands name blocks, agents and alliances: a block by its height, its hash or 8 digits of it
 * or more; an agent by its name, an agent or an alliance by its id or a part of it. One syntax for
 * live networks, folders and printed logs.
 */
import { statSync } from 'node:fs';
import type { AgentClient, NetworkClient } from '../../api/client/index.js';
import type { Store } from '../../engine/store/store.js';
import { UsageError } from '../output/exit.js';

/** As help texts say it. */
export const blockSyntax = 'its hash, 8 of its digits or more, or its height';
export const agentSyntax = 'its id, 8 of its digits or more, or its name';
export const allianceSyntax = 'its id, or 8 of its digits or more';

const LEAST_DIGITS = 8;
const HASH_DIGITS = 64;
const ID_DIGITS = 32;
/** More digits are the beginning of a hash. */
const HEIGHT = /^\d{1,7}$/;

/** What a text names a block by. */
export type BlockName = { hash: string } | { prefix: string } | { height: number };

/** @throws {UsageError} where a text can name no block. */
export function blockName(text: string): BlockName {
  const lower = text.toLowerCase();
  if (HEIGHT.test(lower)) return { height: Number(lower) };
  if (!/^[0-9a-f]{8,64}$/.test(lower)) {
    throw new UsageError(`unknown block name: ${text.slice(0, 100)}; expected ${blockSyntax}`);
  }
  return lower.length === HASH_DIGITS ? { hash: lower } : { prefix: lower };
}

/** A block as lists have it. */
interface Listed {
  block_hash: string;
  height: number;
  status: string;
}

/** A block as records have it. */
interface Stored {
  state: string;
  context: Omit<Listed, 'status'>;
}

/**
 * The hash of the block that a text names among all blocks of a network. Of a height the final
 * block is meant, where there is one.
 *
 * @throws {UsageError} where there is none, or more than one.
 */
async function blockAmong(
  name: Exclude<BlockName, { hash: string }>,
  blocks: AsyncIterable<Listed> | Iterable<Listed>,
): Promise<string> {
  const found: Listed[] = [];
  for await (const block of blocks) {
    const fits =
      'height' in name ? block.height === name.height : block.block_hash.startsWith(name.prefix);
    if (!fits) continue;
    if ('height' in name && block.status === 'finalized') return block.block_hash;
    found.push(block);
  }
  const shown = 'height' in name ? `height ${name.height}` : name.prefix;
  const hashes = found.map(({ block_hash }) => block_hash);
  return onlyOne(`block ${shown}`, hashes);
}

function onlyOne(what: string, found: readonly string[]): string {
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new UsageError(`${what} not found; expected one that exists`);
  const some = found.slice(0, 5).join(', ');
  throw new UsageError(`${what} is not unique: ${found.length} match; expected one of ${some}`);
}

/** The block that a text names in a folder's store. */
export async function findStoredBlock(store: Store, text: string): Promise<string> {
  const name = blockName(text);
  if ('hash' in name) return name.hash;
  const final = 'height' in name ? store.get('heights', name.height) : undefined;
  if (final !== undefined) return (JSON.parse(final) as { block_hash: string }).block_hash;
  return blockAmong(name, storedBlocks(store, name));
}

function* storedBlocks(
  store: Store,
  name: Exclude<BlockName, { hash: string }>,
): Generator<Listed> {
  // Of a prefix, up to the last hash that begins so: "g" sorts after every hexadecimal digit.
  const range = 'prefix' in name ? { from: name.prefix, to: `${name.prefix}g` } : {};
  for (const { json } of store.range('blocks', range)) {
    const { state: status, context } = JSON.parse(json) as Stored;
    yield { ...context, status };
  }
}

/** The block that a text names in a printed log, which is read as often as needed. */
export async function blockInFile(file: string, text: string): Promise<string> {
  const name = blockName(text);
  if ('hash' in name) return name.hash;
  if (!statSync(file).isFile()) {
    throw new UsageError(`${file} can be read only once; expected the whole hash of the block`);
  }
  const { fileLines } = await import('../../engine/replay/lines.js');
  const { replay } = await import('../../engine/replay/replay.js');
  const blocks = new Map<string, Listed>();
  await replay({
    lines: fileLines(file),
    onStep({ changes }) {
      for (const { table, json } of changes) {
        if (table !== 'blocks' || json === null) continue;
        const { state: status, context } = JSON.parse(json) as Stored;
        blocks.set(context.block_hash, { ...context, status });
      }
    },
  });
  return blockAmong(name, blocks.values());
}

/** Rows of a page, and pages that are looked through: a name must be found in bounded time. */
const ROWS = 1_000;
const PAGES = 20;

/** All rows of a list of a live network, up to a bound. */
async function* rowsOf<Row, Page extends { next_cursor: string | null }>(
  read: (query: { limit: number; cursor?: string }) => Promise<Page>,
  rows: (page: Page) => readonly Row[],
): AsyncGenerator<Row> {
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const page: Page = await read({ limit: ROWS, ...(cursor === null ? {} : { cursor }) });
    yield* rows(page);
    cursor = page.next_cursor;
    if (cursor === null) return;
  }
}

/** The block that a text names on a live network; of its newest 20,000. */
export async function findBlock(client: NetworkClient, text: string): Promise<string> {
  const name = blockName(text);
  if ('hash' in name) return name.hash;
  const blocks = rowsOf(
    (query) => client.blocks(query),
    (page) => page.blocks,
  );
  return blockAmong(name, blocks);
}

/** The id of the agent that a text names on a live network. */
export async function findAgent(client: AgentClient, text: string): Promise<string> {
  if (isId(text, 'agent')) return text;
  const prefix = prefixOf(text, 'agent');
  const found: string[] = [];
  const roster = rowsOf(
    (query) => client.roster(query),
    (page) => page.agents,
  );
  for await (const { id, name } of roster) {
    if (name === text || (prefix !== null && id.startsWith(prefix))) found.push(id);
  }
  return onlyOne(`agent ${text.slice(0, 100)}`, found);
}

/** The id of the alliance that a text names on a live network. */
export async function findAlliance(client: AgentClient, text: string): Promise<string> {
  if (isId(text, 'ally')) return text;
  const prefix = prefixOf(text, 'ally');
  if (prefix === null) {
    const shown = text.slice(0, 100);
    throw new UsageError(`unknown alliance name: ${shown}; expected ${allianceSyntax}`);
  }
  const found: string[] = [];
  const alliances = rowsOf(
    (query) => client.alliances(query),
    (page) => page.alliances,
  );
  for await (const { alliance_id: id } of alliances) if (id.startsWith(prefix)) found.push(id);
  return onlyOne(`alliance ${prefix}`, found);
}

const isId = (text: string, kind: string) =>
  text.startsWith(`${kind}_`) && /^[0-9a-f]{32}$/.test(text.slice(kind.length + 1));

/** The beginning of an id, with or without its kind; null where a text is none. */
function prefixOf(text: string, kind: string): string | null {
  const digits = (text.startsWith(`${kind}_`) ? text.slice(kind.length + 1) : text).toLowerCase();
  const fits = /^[0-9a-f]+$/.test(digits) && digits.length >= LEAST_DIGITS;
  return fits && digits.length <= ID_DIGITS ? `${kind}_${digits}` : null;
}
