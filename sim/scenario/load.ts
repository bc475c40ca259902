/**
 * Loads YAML or JSON scenario files, and the scenarios shipped with the package. Problems are
 * reported with file, line and path.
 */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { complete } from './complete.js';
import { type Change, problemError, problemText, scenarioError, withValues } from './problem.js';
import type { Scenario } from './schema/scenario.js';

/** Size limit. Scenarios are a few kilobytes. */
const LARGEST_BYTES = 1_048_576;

/** Scenario loaded from a file. */
export interface Loaded {
  /** Scenario with all defaults. */
  scenario: Scenario;
  /** Scenario as written in the file, with the changes applied. */
  raw: unknown;
  /** Base folder for scripts and data files. */
  folder: string;
}

/**
 * Reads a YAML or JSON scenario file, checks it and fills in all defaults.
 *
 * @param named file, or the name of a shipped scenario.
 * @param changes values that replace those in the file, by path.
 * @throws {ScenarioError} with file, line, path and what is expected, in one line.
 *
 * @example
 * ```ts
 * import { loadScenario, ScenarioError, simulate } from 'folkmoot/sim';
 *
 * const { scenario, folder } = loadScenario('two-blocs', [['length', { blocks: 2 }]]);
 * const { entries, measures } = await simulate(scenario, { folder, store: 'memory' });
 * console.log(entries > scenario.population, measures.proposed !== null); // true true
 * try {
 *   loadScenario('two-blocs', [['consensus.policy', 'lottery']]);
 * } catch (error) {
 *   console.log(error instanceof ScenarioError); // true
 * }
 * ```
 */
export function loadScenario(named: string, changes: readonly Change[] = []): Loaded {
  const file = fileOf(named);
  const { document, lines, value: given } = parse(file);
  const folder = dirname(resolve(file));
  const raw = withValues(given, changes);
  const found = complete(raw, folder);
  if ('scenario' in found) return { scenario: found.scenario, raw, folder };
  const changed = atFault(given, changes, folder);
  const place = changed ?? `${file}:${lineOf(document, lines, found.problem.path)}`;
  throw problemError(found.problem, place);
}

/** Returns the change that caused the problem, or null if the file itself did. */
function atFault(given: unknown, changes: readonly Change[], folder?: string): string | null {
  const problemAfter = (count: number): string | null => {
    const found = complete(withValues(given, changes.slice(0, count)), folder);
    return 'problem' in found ? problemText(found.problem) : null;
  };
  let [before, blamed] = [problemAfter(0), null as string | null];
  for (const [index, [path]] of changes.entries()) {
    const after = problemAfter(index + 1);
    if (after !== before) blamed = after === null ? null : `--set ${path}`;
    before = after;
  }
  return blamed;
}

function fileOf(named: string): string {
  const file = findScenario(named);
  if (file !== null) return file;
  if (existsSync(named)) throw scenarioError('IS_FOLDER', { name: named });
  const names = shippedScenarios().map(({ name }) => name);
  throw scenarioError('NOT_FOUND', { name: named, names: names.join(', ') });
}

interface Parsed {
  document: Document;
  lines: LineCounter;
  /** Plain data. Aliases share their anchor's object. */
  value: unknown;
}

function parse(file: string): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(textOf(file), {
    lineCounter: lines,
    prettyErrors: false,
    // In YAML 1.1, sets, ordered maps and merge keys take quadratic time.
    schema: 'core',
    resolveKnownTags: false,
    // The library's check is quadratic. `toMembers` checks with a hash table instead.
    uniqueKeys: false,
  });
  const refuse: Refuse = (at, what) => {
    const { line, col: column } = lines.linePos(at);
    throw scenarioError('NOT_YAML', { file, line, column, detail: what });
  };
  const [error] = document.errors;
  if (error) refuse(error.pos[0], textOfError(error));
  return { document, lines, value: toValue(document.contents, { refuse, anchors: new Map() }) };
}

/** Texts for errors whose text in the library needs knowledge of YAML. */
const errorTexts: Readonly<Record<string, string>> = {
  BAD_INDENT: 'wrong indentation; indent all members of an object by the same number of spaces',
  BLOCK_AS_IMPLICIT_KEY: 'two keys in one line; put a value that contains ": " in quotes',
  MULTIPLE_DOCS: 'second document; expected one',
  RESOURCE_EXHAUSTION: 'nested too deeply',
  TAB_AS_INDENT: 'tab in the indentation; indent with spaces',
};

const textOfError = ({ code, message }: YAMLParseError): string => errorTexts[code] ?? message;

type Refuse = (at: number, what: string) => never;

interface Converting {
  refuse: Refuse;
  /** Anchors' values. A value is null while its node is being converted. */
  anchors: Map<string, { value: unknown } | null>;
}

/** Converts a node in one pass. The library would search the whole document for each alias. */
function toValue(node: unknown, converting: Converting): unknown {
  if (!isNode(node)) return null;
  const { refuse, anchors } = converting;
  if (isAlias(node)) {
    const { source } = node;
    const anchored = anchors.get(source);
    if (anchored) return anchored.value;
    const problem = anchored === undefined ? 'unresolved' : 'circular';
    return refuse(startOf(node), `${problem} alias: *${source}; expected an earlier &${source}`);
  }
  const { anchor } = node as { anchor?: string };
  if (anchor !== undefined) anchors.set(anchor, null);
  const value = isMap(node)
    ? toMembers(node, converting)
    : isSeq(node)
      ? node.items.map((item) => toValue(item, converting))
      : (node as Scalar).value;
  if (anchor !== undefined) anchors.set(anchor, { value });
  return value;
}

function toMembers(map: YAMLMap, converting: Converting): object {
  const members = new Map<string, unknown>();
  for (const { key, value } of map.items) {
    const name = toValue(key, converting);
    const at = isNode(key) ? startOf(key) : startOf(map);
    if (typeof name === 'object' && name !== null) {
      converting.refuse(at, 'invalid key; expected a text');
    }
    const text = String(name ?? '');
    if (members.has(text)) {
      converting.refuse(at, `duplicate key: ${shortened(text)}`);
    }
    members.set(text, toValue(value, converting));
  }
  return Object.fromEntries(members);
}

const startOf = (node: Node): number => node.range?.[0] ?? 0;

const shortened = (text: string) =>
  text.length <= 60 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, 57))}...`;

/** Throws on bytes that are not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > LARGEST_BYTES) throw new Error(`${size} bytes; expected at most ${LARGEST_BYTES}`);
    return utf8.decode(readFileSync(file));
  } catch (error) {
    const isText = (error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA';
    const detail = isText ? describeSystemError(error) : 'not a UTF-8 text file';
    throw scenarioError('UNREADABLE', { file, detail });
  }
}

/** Returns the line for a path, or for its nearest existing parent. */
function lineOf(document: Document, lines: LineCounter, path: readonly string[]): number {
  let at = 0;
  let node: unknown = document.contents;
  for (const step of path) {
    if (!isCollection(node)) break;
    const pair = isMap(node)
      ? node.items.find((item) => isPair(item) && String(item.key) === step)
      : undefined;
    const key = pair?.key as { range?: [number] } | undefined;
    node = isMap(node) ? pair?.value : node.items[Number(step)];
    const range = key?.range ?? (node as { range?: [number] } | undefined)?.range;
    if (!range) break;
    at = range[0];
  }
  return lines.linePos(at).line;
}

/** The relative path is valid in a checkout and in an installed package. */
const folder = fileURLToPath(new URL('../../../sim/scenarios/', import.meta.url));

const ENDING = '.yaml';

/** Scenario shipped with the package. */
export interface Shipped {
  name: string;
  path: string;
}

/** Returns the shipped scenarios, sorted by name. */
export function shippedScenarios(): Shipped[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(ENDING));
  return files.sort().map((file) => ({
    name: file.slice(0, -ENDING.length),
    path: join(folder, file),
  }));
}

/** Returns the path to a file or shipped scenario, or null if neither exists. */
export function findScenario(named: string): string | null {
  const found = statSync(named, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) return named;
  return shippedScenarios().find(({ name }) => name === named)?.path ?? null;
}
