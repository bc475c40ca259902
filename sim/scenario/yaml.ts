/**
 * Reads a YAML or JSON file that may be hostile: with a size limit, in linear time, and with the
 * line of every value. Scenarios and configuration files use it.
 */
import { readFileSync, statSync } from 'node:fs';
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

/** Size limit. Such files are a few kilobytes. */
const LARGEST_BYTES = 1_048_576;

export interface YamlFile {
  /** Plain data. Aliases share their anchor's object. */
  value: unknown;
  /** Returns the line for a path, or for its nearest existing parent. */
  lineOf(path: readonly string[]): number;
}

/** Creates the errors that `readYaml` throws. */
interface YamlErrors {
  unreadable(detail: string): Error;
  invalid(at: { line: number; column: number; detail: string }): Error;
}

/** Parses a file. @throws the error that `errors` creates, for the first problem. */
export function readYaml(file: string, errors: YamlErrors): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(textOf(file, errors), {
    lineCounter: lines,
    prettyErrors: false,
    // In YAML 1.1, sets, ordered maps and merge keys take quadratic time.
    schema: 'core',
    resolveKnownTags: false,
    // The library's check is quadratic. `toMembers` checks with a hash table instead.
    uniqueKeys: false,
  });
  const refuse: Refuse = (at, detail) => {
    const { line, col: column } = lines.linePos(at);
    throw errors.invalid({ line, column, detail });
  };
  const [error] = document.errors;
  if (error) refuse(error.pos[0], textOfError(error));
  return {
    value: toValue(document.contents, { refuse, anchors: new Map() }),
    lineOf: (path) => lineOf(document, lines, path),
  };
}

/** Throws on bytes that are not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(file: string, errors: YamlErrors): string {
  try {
    const { size } = statSync(file);
    if (size > LARGEST_BYTES) throw new Error(`${size} bytes; expected at most ${LARGEST_BYTES}`);
    return utf8.decode(readFileSync(file));
  } catch (error) {
    const isText = (error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA';
    throw errors.unreadable(isText ? describeSystemError(error) : 'not a UTF-8 text file');
  }
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
