import type { MessageTable } from '../../engine/protocol/messages.js';

/** Errors in a scenario, or in the files, scripts and deciders that it names. */
export const scenarioMessages = {
  INVALID: '{problem}',
  INVALID_AT: '{problem}',
  NOT_FOUND: 'scenario not found: {name}; name a file, or one of {names}',
  IS_FOLDER: 'not a scenario: {name} is a folder; name a file, such as {name}/town.yaml',
  UNREADABLE: 'cannot read {file}: {detail}',
  NOT_YAML: '{file}:{line}:{column}: {detail}',
  NO_MEMBERS: 'unknown path: {path} ({step} has no members)',
  UNKNOWN_ITEM: 'unknown path: {path} ({step}, expected one of {names})',
  UNKNOWN_FOLDER: "cannot find {file}: the scenario's folder is unknown; set the option folder",

  SCRIPT_FAILED: 'script {call}: {detail}',
  SCRIPT_TIMEOUT: 'script {call}: stopped after {seconds} s',
  SCRIPT_FORBIDDEN: 'script in {folder}: {detail}',
  SCRIPT_ENDLESS: 'script in {folders}: promises never finish; use no async functions',
  INVALID_REPORT: 'script {call}: invalid result: {value} (expected numbers by name)',
  INVALID_MEASURE_NAME: 'script {call}: invalid measure name: {name} (expected {pattern})',
  MEASURE_EXISTS: 'script {call}: measure already exists: {name}',
  INVALID_MEASURE:
    'script {call}: invalid value of measure {name}: {value} (expected a number or null)',
  TYPE_CHECK_FAILED: 'TypeScript {version} cannot check the scripts: {detail}',

  NEEDS_VIRTUAL_TIME: `group {group}: the strategy {kind} runs in virtual time only;
    simulate the scenario, or connect the deciders to the server as agents`,
  DECIDERS_NEED_SOURCE: `external deciders without answers: {groups};
    ask them with --record, or replay recorded answers with --cassette RUN`,
  RECORD_NEEDS_OUT: '--record has no folder for the answers; add --out',
  INVALID_PROMPT: 'group {group}: the prompt {name} {problem}',
  VARIABLE_NOT_SET: 'environment variable not set: {name}; the decider of group {group} needs it',
  CANNOT_START: 'cannot start decider {program}: {detail}',
  UNKNOWN_TOOL: 'unknown MCP tool: {tool} (expected {expected})',
  SDK_NOT_INSTALLED: 'group {group} has an MCP decider: {problem}',

  INTERVENTION_MISSING: 'missing {option} (expected {expected})',
  INVALID_INTERVENTION: 'invalid {option} {number} (expected {expected})',
  NOT_IN_RUN: '{label}: {what} not found in {folder} (expected {expected})',
  SEED_SPECIFIC:
    '--replicates: {id} exists for one seed only; name it by number, which exists for each seed',
  FORK_NEEDS_RECORD:
    'external deciders in the fork: {groups}; ask them about new situations with --record',
  PROGRAM_NEEDS_FOLDER: `the decider of group {group} is a program: {command};
    name its working directory with --folder`,
  SOURCE_NOT_FOUND: 'run file not found: {file}; name its folder with --folder',
  SOURCE_CHANGED: `file changed since the run: {file} (expected SHA-256 {sha256});
    use --folder to name a folder with the original file`,
  INVALID_SOURCE: 'a file of the run {problem}',

  INTERVENTIONS_ON_SERVER: `interventions are not supported on a server;
    simulate the scenario, or remove its interventions`,
  UNSIGNED_ON_SERVER: `a server needs signed requests, and the scenario has signatures:
    {signatures}; set signatures: verified`,
  SERVER_LIMITS: `{url} limits each address to one registration a minute (limits: spec);
    restart that server with --limits bench or off`,
} as const satisfies MessageTable;

/** Problems with a scenario's values. Each text follows the value's path. */
export const problemMessages = {
  INVALID_VALUE: 'is {value}; expected {expected}',
  MISSING: 'is missing; expected {expected}',
  UNKNOWN_KEY: 'is an unknown key; expected {expected}',
  EXPECTED_ONE: 'has {given}; expected exactly one of {names}',
  ONLY_WITH: 'is only allowed with {condition}',
  DUPLICATE: 'is {value}, which is already used; expected a unique name',
  TOO_MANY_ITEMS: 'has {count} items; expected {expected}',
  TOO_MANY_VALUES: 'has more than {limit} values; expected fewer',
  TOO_DEEP: 'is nested too deeply; expected at most {limit} levels',
  TOO_DENSE: 'is {value}, or {neighbours} neighbours per agent; expected at most {limit}',
  TOO_LARGE: 'is {kind} with {population} agents; expected at most {limit}',
  WRONG_SUM: 'add up to {sum}; expected {population}, the population',
  SECOND_REST: 'has neither count nor share; only one group can take the rest',
  NO_PRODUCER: 'include no producer; set `producers`, or give a group the capability `producer`',
  NO_AGENTS: 'selects no agents',
  NO_CHANGE: 'changes nothing; expected {expected}',
  NOT_VALIDATOR: 'is {name}, which is not a validator; only validators vote',
  HAS_CREDENTIALS: 'contains a user name or password; use key_env instead',
  CONTRADICTION: 'contradicts interventions.{other} at the same moment: {subject}',
  FILE_NOT_FOUND: 'is {file}; file not found',
  FILE_NOT_RELATIVE: "is {file}; expected a path relative to the scenario's folder",
  FILE_OUTSIDE: "is {file}; expected a path inside the scenario's folder",
  NOT_A_FILE: 'is {file}, which is not a file; expected {expected}',
  FILE_TOO_LARGE: 'is {file} of {bytes} bytes; expected at most {limit}',
  INVALID_RULE: '{problem}',
  INVALID_ELECTION: 'is {file}; {detail}',
  WRONG_VOTERS: 'is {file} with {voters} ballots; expected {agents}, one per agent, or take: drawn',
  INVALID_LINE: 'is {file}; line {line} {detail}',
} as const satisfies MessageTable;
