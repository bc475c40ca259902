/**
 * Command line messages, with one row per usage error, refusal, and failure to listen or to write.
 * Options appear as the user types them. A value that may be a secret is never repeated.
 */
import type { MessageTable } from '../../engine/protocol/messages.js';

export const usageMessages = {
  INVALID_VALUE: 'invalid {option}: {value} (expected {expected})',
  /** Omits the value, because it is secret or empty. */
  INVALID_OPTION: 'invalid {option} (expected {expected})',
  INVALID_ARGUMENT: 'invalid {option} {value}: {problem}',
  MISSING_OPTION: 'missing {option}; give {example}',
  EXPECTED_ONE_OPTION: 'expected exactly one of {options}',
  OPTION_REQUIRES: '{option} requires {required}',
  TOO_MANY_VALUES: 'too many values of {option}: {count} (limit {most})',
  REPEATED_VALUE: 'repeated value of {option}: {value}; name each once',
  REVERSED_RANGE: '--from {from} is after --to {to}; swap them',
  OPTION_CONFLICT: '{option} cannot be used with {other}; {advice}',
  CONFIG_SYNTAX: '{file}:{line}:{column}: {detail}',
  CONFIG_UNKNOWN_KEY: '{place}: unknown key: {key} (expected one of {names})',
  CONFIG_INVALID: '{place}: invalid {key}: {value} (expected {expected})',
  CONFIG_CONFLICT: '{place}: {key} cannot be used with {other}; remove one',
  CONFIG_SECRET: '{place}: {key} is a secret; name its file in {key}_file, or set {variable}',
  CONFIG_AT: '{place}: {problem}',
  SECRET_TWICE: '{variable} and {variable}_FILE are both set; remove one',
  SECRET_IS_PATH: '{variable} holds the path of a file, not a secret; set {variable}_FILE',
  FILE_NOT_FOUND: 'file not found: {path}; check the path',
  FILE_EXISTS: 'file already exists: {path}; choose a new name',
  FILE_NOT_READABLE: 'cannot read {path}: {reason}',
  FILE_NOT_WRITABLE: 'cannot write {path}: {reason}',
  FOLDER_NOT_FOUND: 'folder not found: {path}; create it first',
  KEY_FILE_TOO_LARGE: `{option} {file}: file too large for a key ({bytes} bytes);
    give a file written by folkmoot keygen --out`,
  TOO_MANY_KEYS: 'too many --key options: {count} (limit {limit})',
  DUPLICATE_KEY: 'duplicate --key: {file}; give each key once',
  DUPLICATE_KEY_NAME: 'duplicate key name: {name}; give --key NAME={file}',
  NOT_FOUND: '{kind} not found: {name}; {advice}',
  AMBIGUOUS_NAME: 'ambiguous {kind}: {name} has {count} matches; give one of {matches}',
  FULL_HASH_REQUIRED: `cannot search {source} for a block, because it can be read only once;
    give the full block hash`,
  UNKNOWN_TOPIC: 'unknown help topic: {topic}; use exit-codes, or one of the commands {names}',
  UNKNOWN_CASE: 'unknown case: {name}; list the cases with folkmoot conformance --list',
  NOT_A_RUN: 'not a saved run: {folder}; name the output file too, for example --export run.html',
  NOT_FOR_LOAD_RUN: `{option} does not apply to a load run: {folder};
    open the folder without {option}, or read its report.html`,
  TOO_MANY_EVENTS: `too many events for one file: {events} in {folder} (limit {limit});
    use folkmoot explore without --export`,
  SAVED_RUN: `{folder} holds a run, a sweep or a load run, not a data folder;
    choose another --data folder, or browse the run with folkmoot explore`,
  UNSIGNED_NETWORK: `cannot serve {folder}: its log has no signatures (signatures: none);
    choose another --data folder`,
  MODULE_REQUIRES_RULE: `{where} decides by a module, which a server runs only with its text;
    add --rule FILE with the same text`,
} as const satisfies MessageTable;

export const refusedMessages = {
  NOT_REGISTERED: `the key in {file} is not registered at {url};
    register it with folkmoot agent register --name NAME`,
  NO_NODES: 'no nodes in etcd for network: {network}; check --network-id',
  UNKNOWN_NODE: 'unknown node: {node}; list the nodes with folkmoot cluster status',
} as const satisfies MessageTable;

export const listenMessages = {
  /** Repeats the reason that the server or a missing package states. */
  CANNOT_SERVE: '{reason}',
  CANNOT_LISTEN_FOR_PEERS: '--peer-listen: {reason}',
  CANNOT_SERVE_PAGE: 'cannot serve the page; run again without --watch',
} as const satisfies MessageTable;

export const outputMessages = {
  STDOUT_NOT_WRITABLE: 'cannot write standard output: {reason}',
} as const satisfies MessageTable;
