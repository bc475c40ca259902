/**
 * Resolves the names of blocks, agents and alliances. Live networks, folders and printed logs use
 * one syntax: a hash or an id, a prefix of 8 or more digits, a height, or an agent name.
 */
import { statSync } from 'node:fs';
import type { AgentClient, NetworkClient } from '../../api/client/index.js';
import type { RangeOptions, Store } from '../../engine/store/store.js';
import { UsageError } from '../output/exit.js';

export const blockSyntax = 'block hash, prefix of 8 or more digits, or height';
export const agentSyntax = 'agent id, prefix of 8 or more digits, or name';
export const allianceSyntax = 'alliance id, or prefix of 8 or more digits';

const LEAST_DIGITS = 8;
const HASH_DIGITS = 64;
const ID_DIGITS = 32;
/** Pattern for a height. A number with more digits is a hash prefix. */
const HEIGHT = /^\d{1,7}$/;

export type BlockName = { hash: string } | { prefix: string } | { height: number };

/** @throws {UsageError} */
export function blockName(text: string): BlockName {
  const lower = text.toLowerCase();
  if (HEIGHT.test(lower)) return { height: Number(lower) };
  if (!/^[0-9a-f]{8,64}$/.test(lower)) {
    throw new UsageError('INVALID_VALUE', {
      option: 'block',
      value: text.slice(0, 100),
      expected: blockSyntax,
    });
  }
  return lower.length === HASH_DIGITS ? { hash: lower } : { prefix: lower };
}

interface Listed {
  block_hash: string;
  height: number;
  status: string;
}

interface Stored {
  state: string;
  context: Omit<Listed, 'status'>;
}

type Blocks = AsyncIterable<Listed> | Iterable<Listed>;

/** Blocks of a network, for errors that name some of them. */
interface Existing {
  /** Reads all blocks, or the newest ones. */
  blocks: () => Blocks;
  /** Command that lists all blocks, if there is one. */
  command?: string;
}

/**
 * Finds a block's hash among all blocks in a network. A height means the finalized block, if there
 * is one.
 *
 * @throws {UsageError} unless exactly one block matches.
 */
async function blockAmong(
  name: Exclude<BlockName, { hash: string }>,
  blocks: Blocks,
  existing: Existing,
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
  const advice = hashes.length === 0 ? await adviceOn(existing) : '';
  return onlyOne('block', shown, hashes, advice);
}

/** Number of blocks, agents or alliances that an error names. */
const MOST_NAMED = 3;

async function adviceOn({ blocks, command }: Existing): Promise<string> {
  let newest: Listed[] = [];
  for await (const block of blocks()) {
    newest.push(block);
    newest = newest.sort((a, b) => b.height - a.height).slice(0, MOST_NAMED);
  }
  return adviceOf('newest blocks', newest.map(blockLabel), command);
}

/** Formats a block as its height and the prefix of its hash, both of which name the block. */
export const blockLabel = ({ block_hash, height }: Pick<Listed, 'block_hash' | 'height'>): string =>
  `height ${height} (${block_hash.slice(0, LEAST_DIGITS)})`;

/** Names what exists, and the command that lists all of it. */
export function adviceOf(what: string, names: readonly string[], command?: string): string {
  const shown = names.length === 0 ? 'none' : names.slice(0, MOST_NAMED).join(', ');
  return command === undefined
    ? `${what}: ${shown}`
    : `${what}: ${shown}; list all with ${command}`;
}

const MOST_MATCHES = 5;

function onlyOne(kind: string, name: string, found: readonly string[], advice: string): string {
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new UsageError('NOT_FOUND', { kind, name, advice });
  const matches = found.slice(0, MOST_MATCHES).join(', ');
  throw new UsageError('AMBIGUOUS_NAME', { kind, name, count: found.length, matches });
}

/** Finds a block in a store. @throws {UsageError} */
export async function findStoredBlock(store: Store, folder: string, text: string): Promise<string> {
  const name = blockName(text);
  const existing = { blocks: () => storedBlocks(store, {}), command: listCommand(folder) };
  if ('hash' in name) {
    if (store.get('blocks', name.hash) !== undefined) return name.hash;
    return onlyOne('block', name.hash, [], await adviceOn(existing));
  }
  const final = 'height' in name ? store.get('heights', name.height) : undefined;
  if (final !== undefined) return (JSON.parse(final) as { block_hash: string }).block_hash;
  // The letter "g" sorts after every hexadecimal digit.
  const range = 'prefix' in name ? { from: name.prefix, to: `${name.prefix}g` } : {};
  return blockAmong(name, storedBlocks(store, range), existing);
}

const listCommand = (folder: string) => `folkmoot events ${folder} --type block_proposal`;

function* storedBlocks(store: Store, range: RangeOptions): Generator<Listed> {
  for (const { json } of store.range('blocks', range)) {
    const { state: status, context } = JSON.parse(json) as Stored;
    yield { ...context, status };
  }
}

/** Finds a block in a printed log by reading the log once more. @throws {UsageError} */
export async function blockInFile(file: string, text: string): Promise<string> {
  const name = blockName(text);
  if ('hash' in name) return name.hash;
  if (!statSync(file).isFile()) throw new UsageError('FULL_HASH_REQUIRED', { source: file });
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
  return blockAmong(name, blocks.values(), { blocks: () => blocks.values() });
}

/** Rows per page and pages per search, which together limit the search time. */
const ROWS = 1_000;
const PAGES = 20;

/** Reads the pages in a list, up to the limit. */
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

/** Finds a block among the newest 20,000 blocks in a live network. @throws {UsageError} */
export async function findBlock(client: NetworkClient, text: string): Promise<string> {
  const name = blockName(text);
  if ('hash' in name) return name.hash;
  const blocks = rowsOf(
    (query) => client.blocks(query),
    (page) => page.blocks,
  );
  const { blocks: newest } = await client.blocks({ limit: MOST_NAMED });
  const existing = { blocks: () => newest, command: 'folkmoot network blocks' };
  return blockAmong(name, blocks, existing);
}

/** Finds the id of an agent in a live network. @throws {UsageError} */
export async function findAgent(client: AgentClient, text: string): Promise<string> {
  if (isId(text, 'agent')) return text;
  const prefix = prefixOf(text, 'agent');
  const found: string[] = [];
  const names: string[] = [];
  const roster = rowsOf(
    (query) => client.roster(query),
    (page) => page.agents,
  );
  for await (const { id, name } of roster) {
    if (names.length < MOST_NAMED) names.push(name);
    if (name === text || (prefix !== null && id.startsWith(prefix))) found.push(id);
  }
  const advice = adviceOf('registered', names, 'folkmoot network agents');
  return onlyOne('agent', text.slice(0, 100), found, advice);
}

/** Finds the id of an alliance in a live network. @throws {UsageError} */
export async function findAlliance(client: AgentClient, text: string): Promise<string> {
  if (isId(text, 'ally')) return text;
  const prefix = prefixOf(text, 'ally');
  if (prefix === null) {
    throw new UsageError('INVALID_VALUE', {
      option: 'alliance',
      value: text.slice(0, 100),
      expected: allianceSyntax,
    });
  }
  const found: string[] = [];
  const alliances = rowsOf(
    (query) => client.alliances(query),
    (page) => page.alliances,
  );
  const ids: string[] = [];
  for await (const { alliance_id: id } of alliances) {
    if (ids.length < MOST_NAMED) ids.push(id);
    if (id.startsWith(prefix)) found.push(id);
  }
  const advice = adviceOf('alliances', ids, 'GET /api/v1/social/alliances');
  return onlyOne('alliance', prefix, found, advice);
}

const isId = (text: string, kind: string) =>
  text.startsWith(`${kind}_`) && /^[0-9a-f]{32}$/.test(text.slice(kind.length + 1));

/** Parses an id prefix, with or without its kind. Returns null for an invalid prefix. */
function prefixOf(text: string, kind: string): string | null {
  const digits = (text.startsWith(`${kind}_`) ? text.slice(kind.length + 1) : text).toLowerCase();
  const fits = /^[0-9a-f]+$/.test(digits) && digits.length >= LEAST_DIGITS;
  return fits && digits.length <= ID_DIGITS ? `${kind}_${digits}` : null;
}
