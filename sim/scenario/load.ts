/**
 * Loads a scenario file, YAML or JSON, of the user's or shipped with the package. A problem is
 * reported with file, line and path.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
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
import { complete } from './complete.js';
import { type Change, problemText, ScenarioError, withValues } from './problem.js';
import type { Scenario } from './schema/scenario.js';

/** A scenario is some kilobytes; what is larger is something else. */
const LARGEST_BYTES = 1_048_576;

/** A scenario that was read from a file. */
export interface Loaded {
  /** With all defaults. */
  scenario: Scenario;
  /** As it was read, changes made. */
  raw: unknown;
  /** From where the modules of scripts are found. */
  folder: string;
}

/**
 * Reads a scenario file, YAML or JSON, checks it and fills in all defaults.
 *
 * @param named a file, or the name of a shipped scenario.
 * @param changes values that replace those of the file, by path.
 * @throws {ScenarioError} one line that names file, line, path and what is allowed.
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
  const where = changed ?? `${file}:${lineOf(document, lines, found.problem.path)}`;
  throw new ScenarioError(`${where}: ${problemText(found.problem)}`);
}

/** The change with which the problem came, or null when the file has it itself. */
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
  const names = shippedScenarios().map(({ name }) => name);
  const expected = `expected a file, or one of the scenarios ${names.join(', ')}`;
  throw new ScenarioError(`${named} does not exist; ${expected}`);
}

interface Parsed {
  document: Document;
  lines: LineCounter;
  /** Plain data; places that share an anchor share an object. */
  value: unknown;
}

function parse(file: string): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(textOf(file), {
    lineCounter: lines,
    prettyErrors: false,
    // Sets, ordered maps and merge keys of YAML 1.1 take time quadratic in their size.
    schema: 'core',
    resolveKnownTags: false,
    // The library compares each key with every other key of its map; `toMembers` uses a hash table.
    uniqueKeys: false,
  });
  const refuse: Refuse = (at, what) => {
    throw new ScenarioError(`${file}:${lines.linePos(at).line}: ${what}`);
  };
  const [error] = document.errors;
  if (error) refuse(error.pos[0], textOfError(error));
  return { document, lines, value: toValue(document.contents, { refuse, anchors: new Map() }) };
}

function textOfError({ code, message }: YAMLParseError): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins; expected one';
  return code === 'RESOURCE_EXHAUSTION' ? 'the scenario is nested too deeply' : message;
}

type Refuse = (at: number, what: string) => never;

interface Converting {
  refuse: Refuse;
  /** The values of the anchors so far; null while the anchored node is being converted. */
  anchors: Map<string, { value: unknown } | null>;
}

/** Converts a node in one pass. The library searches the whole document for each alias. */
function toValue(node: unknown, converting: Converting): unknown {
  if (!isNode(node)) return null;
  const { refuse, anchors } = converting;
  if (isAlias(node)) {
    const { source } = node;
    const anchored = anchors.get(source);
    if (anchored) return anchored.value;
    const expected = `expected the anchor &${source} before it`;
    if (anchored === undefined) refuse(startOf(node), `Unresolved alias *${source}; ${expected}`);
    return refuse(startOf(node), `Circular alias *${source}; ${expected}, not around it`);
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
      converting.refuse(at, 'a key is a list or has members; expected a text');
    }
    const text = String(name ?? '');
    if (members.has(text)) {
      converting.refuse(at, `Map keys must be unique; repeated key: ${shortened(text)}`);
    }
    members.set(text, toValue(value, converting));
  }
  return Object.fromEntries(members);
}

const startOf = (node: Node): number => node.range?.[0] ?? 0;

const shortened = (text: string) =>
  text.length <= 60 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, 57))}...`;

/** Refuses what is no text. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > LARGEST_BYTES) throw new Error(`it has ${size} bytes, at most ${LARGEST_BYTES}`);
    return utf8.decode(readFileSync(file));
  } catch (error) {
    throw new ScenarioError(`${file} cannot be read: ${firstLine(error)}`);
  }
}

const firstLine = (error: unknown) => (error as Error).message.split('\n')[0];

/** The line of a path, or of the nearest thing around it that is there. */
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

/** The same from the built files of a checkout and of an installed package. */
const folder = fileURLToPath(new URL('../../../sim/scenarios/', import.meta.url));

const ENDING = '.yaml';

/** A scenario that comes with folkmoot. */
export interface Shipped {
  name: string;
  path: string;
}

/** The scenarios that come with folkmoot, by name. */
export function shippedScenarios(): Shipped[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(ENDING));
  return files.sort().map((file) => ({
    name: file.slice(0, -ENDING.length),
    path: join(folder, file),
  }));
}

/** The path of what a user names, a file or a shipped scenario; null where it is neither. */
export function findScenario(named: string): string | null {
  const found = statSync(named, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) return named;
  return shippedScenarios().find(({ name }) => name === named)?.path ?? null;
}
