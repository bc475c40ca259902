import type { MessageTable } from '../../engine/protocol/messages.js';

/** Errors in a scenario, or in the files, scripts and deciders that it names. */
export const scenarioMessages = {
  INVALID: { text: '{problem}' },
  INVALID_AT: { text: '{place}: {problem}' },
  NOT_FOUND: { text: 'scenario not found: {name}', fix: 'name a file, or one of {names}' },
  IS_FOLDER: {
    text: 'not a scenario: {name} is a folder',
    fix: 'name a file, such as {name}/town.yaml',
  },
  UNREADABLE: { text: 'cannot read {file}: {detail}' },
  NOT_YAML: { text: '{file}:{line}:{column}: {detail}' },
  NO_MEMBERS: { text: 'unknown path: {path} ({step} has no members)' },
  UNKNOWN_ITEM: { text: 'unknown path: {path} ({step}, expected one of {names})' },
  UNKNOWN_FOLDER: {
    text: "cannot find {file}: the scenario's folder is unknown",
    fix: 'set the option folder',
  },

  SCRIPT_FAILED: { text: 'script {call}: {detail}' },
  SCRIPT_TIMEOUT: { text: 'script {call}: stopped after {seconds} s' },
  SCRIPT_FORBIDDEN: { text: 'script in {folder}: {detail}' },
  SCRIPT_ENDLESS: {
    text: 'script in {folders}: promises never finish',
    fix: 'use no async functions',
  },
  INVALID_REPORT: { text: 'script {call}: invalid result: {value} (expected numbers by name)' },
  INVALID_MEASURE_NAME: {
    text: 'script {call}: invalid measure name: {name} (expected {pattern})',
  },
  MEASURE_EXISTS: { text: 'script {call}: measure already exists: {name}' },
  INVALID_MEASURE: {
    text: 'script {call}: invalid value of measure {name}: {value} (expected a number or null)',
  },
  TYPE_CHECK_FAILED: { text: 'TypeScript {version} cannot check the scripts: {detail}' },

  NEEDS_VIRTUAL_TIME: {
    text: 'group {group}: the strategy {kind} runs in virtual time only',
    fix: 'simulate the scenario, or connect the deciders to the server as agents',
  },
  DECIDERS_NEED_SOURCE: {
    text: 'external deciders without answers: {groups}',
    fix: 'ask them with --record, or replay recorded answers with --cassette RUN',
  },
  RECORD_NEEDS_OUT: { text: '--record has no folder for the answers', fix: 'add --out' },
  INVALID_PROMPT: { text: 'group {group}: the prompt {name} {problem}' },
  VARIABLE_NOT_SET: {
    text: 'environment variable not set: {name}',
    fix: 'the decider of group {group} needs it',
  },
  CANNOT_START: { text: 'cannot start decider {program}: {detail}' },
  UNKNOWN_TOOL: { text: 'unknown MCP tool: {tool} (expected {expected})' },
  SDK_NOT_INSTALLED: { text: 'group {group} has an MCP decider: {problem}' },

  INTERVENTION_MISSING: { text: 'missing {option} (expected {expected})' },
  INVALID_INTERVENTION: { text: 'invalid {option} {number} (expected {expected})' },
  NOT_IN_RUN: { text: '{label}: {what} not found in {folder} (expected {expected})' },
  SEED_SPECIFIC: {
    text: '--replicates: {id} exists for one seed only',
    fix: 'name it by number, which exists for each seed',
  },
  FORK_NEEDS_RECORD: {
    text: 'external deciders in the fork: {groups}',
    fix: 'ask them about new situations with --record',
  },
  PROGRAM_NEEDS_FOLDER: {
    text: 'the decider of group {group} is a program: {command}',
    fix: 'name its working directory with --folder',
  },
  SOURCE_NOT_FOUND: { text: 'run file not found: {file}', fix: 'name its folder with --folder' },
  SOURCE_CHANGED: {
    text: 'file changed since the run: {file} (expected SHA-256 {sha256})',
    fix: 'use --folder to name a folder with the original file',
  },
  INVALID_SOURCE: { text: 'a file of the run {problem}' },

  INTERVENTIONS_ON_SERVER: {
    text: 'interventions are not supported on a server',
    fix: 'simulate the scenario, or remove its interventions',
  },
  UNSIGNED_ON_SERVER: {
    text: 'a server needs signed requests, and the scenario has signatures: {signatures}',
    fix: 'set signatures: verified',
  },
  SERVER_LIMITS: {
    text: '{url} limits each address to one registration a minute (limits: spec)',
    fix: 'restart that server with --limits bench or off',
  },
} as const satisfies MessageTable;

/** Problems with a scenario's values. Each text follows the value's path. */
export const problemMessages = {
  INVALID_VALUE: { text: 'is {value}; expected {expected}' },
  MISSING: { text: 'is missing; expected {expected}' },
  UNKNOWN_KEY: { text: 'is an unknown key; expected {expected}' },
  EXPECTED_ONE: { text: 'has {given}; expected exactly one of {names}' },
  ONLY_WITH: { text: 'is only allowed with {condition}' },
  DUPLICATE: { text: 'is {value}, which is already used; expected a unique name' },
  TOO_MANY_ITEMS: { text: 'has {count} items; expected {expected}' },
  TOO_MANY_VALUES: { text: 'has more than {limit} values; expected fewer' },
  TOO_DEEP: { text: 'is nested too deeply; expected at most {limit} levels' },
  TOO_DENSE: { text: 'is {value}, or {neighbours} neighbours per agent; expected at most {limit}' },
  TOO_LARGE: { text: 'is {kind} with {population} agents; expected at most {limit}' },
  WRONG_SUM: { text: 'add up to {sum}; expected {population}, the population' },
  SECOND_REST: { text: 'has neither count nor share; only one group can take the rest' },
  NO_PRODUCER: {
    text: 'include no producer; set `producers`, or give a group the capability `producer`',
  },
  NO_AGENTS: { text: 'selects no agents' },
  NO_CHANGE: { text: 'changes nothing; expected {expected}' },
  NOT_VALIDATOR: { text: 'is {name}, which is not a validator; only validators vote' },
  HAS_CREDENTIALS: { text: 'contains a user name or password; use key_env instead' },
  CONTRADICTION: { text: 'contradicts interventions.{other} at the same moment: {subject}' },
  FILE_NOT_FOUND: { text: 'is {file}; file not found' },
  FILE_NOT_RELATIVE: { text: "is {file}; expected a path relative to the scenario's folder" },
  FILE_OUTSIDE: { text: "is {file}; expected a path inside the scenario's folder" },
  NOT_A_FILE: { text: 'is {file}, which is not a file; expected {expected}' },
  FILE_TOO_LARGE: { text: 'is {file} of {bytes} bytes; expected at most {limit}' },
  INVALID_RULE: { text: '{problem}' },
  INVALID_ELECTION: { text: 'is {file}; {detail}' },
  WRONG_VOTERS: {
    text: 'is {file} with {voters} ballots; expected {agents}, one per agent, or take: drawn',
  },
  INVALID_LINE: { text: 'is {file}; line {line} {detail}' },
} as const satisfies MessageTable;
