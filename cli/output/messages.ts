/**
 * Command line messages, with one row per usage error, refusal, and failure to listen or to write.
 * Options appear as the user types them. A value that may be a secret is never repeated.
 */
import type { MessageTable } from '../../engine/protocol/messages.js';

export const usageMessages = {
  INVALID_VALUE: { text: 'invalid {option}: {value} (expected {expected})' },
  /** Omits the value, because it is secret or empty. */
  INVALID_OPTION: { text: 'invalid {option} (expected {expected})' },
  INVALID_ARGUMENT: { text: 'invalid {option} {value}: {problem}' },
  MISSING_OPTION: { text: 'missing {option}', fix: 'give {example}' },
  EXPECTED_ONE_OPTION: { text: 'expected exactly one of {options}' },
  OPTION_REQUIRES: { text: '{option} requires {required}' },
  TOO_MANY_VALUES: { text: 'too many values of {option}: {count} (limit {most})' },
  REPEATED_VALUE: { text: 'repeated value of {option}: {value}', fix: 'name each once' },
  REVERSED_RANGE: { text: '--from {from} is after --to {to}', fix: 'swap them' },
  OPTION_CONFLICT: { text: '{option} cannot be used with {other}', fix: '{advice}' },
  CONFIG_SYNTAX: { text: '{file}:{line}:{column}: {detail}' },
  CONFIG_UNKNOWN_KEY: { text: '{place}: unknown key: {key} (expected one of {names})' },
  CONFIG_INVALID: { text: '{place}: invalid {key}: {value} (expected {expected})' },
  CONFIG_CONFLICT: { text: '{place}: {key} cannot be used with {other}', fix: 'remove one' },
  CONFIG_SECRET: {
    text: '{place}: {key} is a secret',
    fix: 'name its file in {key}_file, or set {variable}',
  },
  CONFIG_AT: { text: '{place}: {problem}' },
  SECRET_TWICE: { text: '{variable} and {variable}_FILE are both set', fix: 'remove one' },
  SECRET_IS_PATH: {
    text: '{variable} holds the path of a file, not a secret',
    fix: 'set {variable}_FILE',
  },
  FILE_NOT_FOUND: { text: 'file not found: {path}', fix: 'check the path' },
  FILE_EXISTS: { text: 'file already exists: {path}', fix: 'choose a new name' },
  FILE_NOT_READABLE: { text: 'cannot read {path}: {reason}' },
  FILE_NOT_WRITABLE: { text: 'cannot write {path}: {reason}' },
  FOLDER_NOT_FOUND: { text: 'folder not found: {path}', fix: 'create it first' },
  KEY_FILE_TOO_LARGE: {
    text: '{option} {file}: file too large for a key ({bytes} bytes)',
    fix: 'give a file written by folkmoot keygen --out',
  },
  TOO_MANY_KEYS: { text: 'too many --key options: {count} (limit {limit})' },
  DUPLICATE_KEY: { text: 'duplicate --key: {file}', fix: 'give each key once' },
  DUPLICATE_KEY_NAME: { text: 'duplicate key name: {name}', fix: 'give --key NAME={file}' },
  NOT_FOUND: { text: '{kind} not found: {name}', fix: '{advice}' },
  AMBIGUOUS_NAME: {
    text: 'ambiguous {kind}: {name} has {count} matches',
    fix: 'give one of {matches}',
  },
  FULL_HASH_REQUIRED: {
    text: 'cannot search {source} for a block, because it can be read only once',
    fix: 'give the full block hash',
  },
  UNKNOWN_TOPIC: {
    text: 'unknown help topic: {topic}',
    fix: 'use exit-codes, or one of the commands {names}',
  },
  UNKNOWN_CASE: {
    text: 'unknown case: {name}',
    fix: 'list the cases with folkmoot conformance --list',
  },
  NOT_A_RUN: {
    text: 'not a saved run: {folder}',
    fix: 'name the output file too, for example --export run.html',
  },
  NOT_FOR_LOAD_RUN: {
    text: '{option} does not apply to a load run: {folder}',
    fix: 'open the folder without {option}, or read its report.html',
  },
  TOO_MANY_EVENTS: {
    text: 'too many events for one file: {events} in {folder} (limit {limit})',
    fix: 'use folkmoot explore without --export',
  },
  SAVED_RUN: {
    text: '{folder} holds a run, a sweep or a load run, not a data folder',
    fix: 'choose another --data folder, or browse the run with folkmoot explore',
  },
  UNSIGNED_NETWORK: {
    text: 'cannot serve {folder}: its log has no signatures (signatures: none)',
    fix: 'choose another --data folder',
  },
  MODULE_REQUIRES_RULE: {
    text: '{where} decides by a module, which a server runs only with its text',
    fix: 'add --rule FILE with the same text',
  },
} as const satisfies MessageTable;

export const refusedMessages = {
  NOT_REGISTERED: {
    text: 'the key in {file} is not registered at {url}',
    fix: 'register it with folkmoot agent register --name NAME',
  },
  NO_NODES: { text: 'no nodes in etcd for network: {network}', fix: 'check --network-id' },
  UNKNOWN_NODE: {
    text: 'unknown node: {node}',
    fix: 'list the nodes with folkmoot cluster status',
  },
} as const satisfies MessageTable;

export const listenMessages = {
  /** Repeats the reason that the server or a missing package states. */
  CANNOT_SERVE: { text: '{reason}' },
  CANNOT_LISTEN_FOR_PEERS: { text: '--peer-listen: {reason}' },
  CANNOT_SERVE_PAGE: { text: 'cannot serve the page', fix: 'run again without --watch' },
} as const satisfies MessageTable;

export const outputMessages = {
  STDOUT_NOT_WRITABLE: { text: 'cannot write standard output: {reason}' },
} as const satisfies MessageTable;
