import {
  defineFailures,
  formatMessage,
  type MessageRow,
  type MessageTable,
  type MessageValues,
} from '../../engine/protocol/messages.js';
import { defineStoreErrors } from '../../engine/store/messages.js';

/** A run cannot start or continue, for a reason that the user or the server must fix. */
export const loadError = defineFailures('server', {
  NO_RESPONSE: { text: 'no response from {url} to {method} {target}: {reason}' },
  NO_SERVER: { text: '{message}', fix: 'start a server, such as folkmoot serve --limits off' },
  UNEXPECTED_RESPONSE: {
    text: 'unexpected response from {url} to GET {target}: {response} (expected 200 with data)',
  },
  INVALID_HEIGHT: {
    text: 'invalid block_height from {url}: {height} (expected an integer of 0 or more)',
  },
  NO_VALIDATORS: { text: 'no list of validators from {url} at {target}' },
  OTHER_NETWORK: {
    text: '{url} serves another network than {first}: {other} (expected {expected})',
    fix: 'name servers of one network, or use --workload reads',
  },
  NOT_REGISTERED: {
    text: 'agent {number} of {count} not registered: {response} (expected 201 with an agent_id)',
  },
  REGISTRATION_LIMITED: {
    text: 'agent {number} of {count} not registered: {response}',
    fix: 'use a server without rate limits, such as folkmoot serve --limits off',
  },
  STATUS_REFUSED: { text: 'agent {number} not set {status}: {response}' },
  RATE_LIMITED: {
    text: 'the rate limits of the server (profile {profile}) are too low for this load: {limits}',
    fix: 'start the server with {option}, or lower the load',
  },
  BATCH_OUT_OF_RANGE: {
    text: 'invalid --batch: {batch} (expected 1 to {most} transactions per block)',
  },
  NO_NETWORK_ID: {
    text: 'no network_id in GET /api/v1/network/state or /api/v1/meta to sign transactions for',
    fix: 'use --workload votes, reads or subscribers',
  },
  NO_HEAD: {
    text: 'no head hash in GET /api/v1/network/state or /api/v1/blocks, and no proposal seen',
    fix: 'use a new network',
  },
  OTHER_VALIDATORS: {
    text: '{others} other active validators: a block needs {needed} approvals from {agents} agents',
    fix: 'use --agents {least} or more, a server without other agents, or folkmoot load cleanup',
  },
  OTHERS_MUST_VOTE: {
    text:
      '{others} other active validators: with policy {policy}, a block needs {needed} votes from ' +
      '{agents} agents',
    fix: 'use a server without other agents',
  },
  STREAM_UNREACHABLE: { text: 'cannot connect to {url}/ws/v1: {reason}' },
  AUTHENTICATION_REFUSED: { text: '{url}/ws/v1 refused authentication: {reason}' },
  TOPICS_REFUSED: { text: '{url}/ws/v1 refused topics {topics}: {reason}' },
  NOTHING_MEASURED: { text: 'nothing was measured: {reason}' },
  START_MISSED: {
    text: 'preparation ended {late} s after --start-at',
    fix: 'give a later time to all generators',
  },
  RUN_OVER: { text: 'the run is over' },
});

/** An invalid condition or objective: a usage error. */
export const conditionError = defineFailures('user', {
  SYNTAX: { text: 'invalid {option}: {condition} (expected the form p99>200ms or errors>1%)' },
  UNKNOWN_FIGURE: {
    text: 'invalid {option}: {condition}: unknown figure: {figure} (expected {known})',
  },
  WRONG_UNIT: {
    text: 'invalid {option}: {condition} ({figure} is {kind}; expected a bound such as {example})',
  },
  NO_COMPARISON: {
    text: 'invalid {option}: {condition} (expected >, >=, < or <= between figure and bound)',
  },
  NO_BASE: {
    text: 'invalid {option}: {condition} (a bound with a sign compares two results)',
    fix: 'use a bound without a sign, or folkmoot load compare',
  },
  NOT_IN_PERCENT: {
    text: 'invalid {option}: {condition} (expected a change in percent, such as {example})',
  },
  NOT_AN_OBJECTIVE: { text: 'invalid {option}: {condition} (expected the form {example})' },
});

/** A condition on a figure that the run does not measure. */
export const unmeasuredError = defineFailures('measures', {
  NO_RATE: {
    text: 'cannot measure {option} {condition}: a closed loop has no target rate',
    fix: 'use --rate, or the figure accepted_per_s',
  },
  NO_OUTAGES: {
    text: 'cannot measure {option} {condition}: the run ends in an outage',
    fix: 'use --keep-going',
  },
  EMPTY_BLOCKS: {
    text: 'cannot measure {option} {condition}: {workload} with --batch 0 sends no transactions',
    fix: 'use --batch 10',
  },
  NO_TRANSACTIONS: {
    text: 'cannot measure {option} {condition}: workload {workload} has no transactions',
    fix: 'use --workload transactions, or the figure accepted_per_s',
  },
  NO_SUBSCRIBERS: {
    text: 'cannot measure {option} {condition}: workload {workload} has no subscribers',
    fix: 'use --workload subscribers',
  },
  NOT_SCHEDULED: {
    text: 'cannot measure {option} {condition}: workload {workload} does not schedule {operation}',
    fix: 'use a figure of an operation that it schedules: {scheduled}',
  },
  TOO_FEW_SAMPLES: {
    text:
      'cannot measure {option} {condition}: {figure} needs {samples} {what}, ' +
      'and this run has at most {most}',
    fix: 'use --duration {seconds}s',
  },
});

/** Reasons and notes for a verdict, as in result.json. */
const verdictMessages = {
  GENERATOR_LATE: { text: 'load generator too slow: lag {lag} ms at p99' },
  GENERATOR_BUSY: { text: 'load generator too slow: event loop busy {percent} % of the time' },
  GENERATOR_UNSIGNED: {
    text: 'load generator too slow: requests waited for signatures {percent} % of the time',
  },
  LAG_INCLUDED: { text: 'response times include generator lag: {lag} ms at p99' },
  NOT_ATTRIBUTED: {
    text:
      'response times not attributed to the server, because more than {most} % is generator lag ' +
      'or waiting for the workload: {parts}; attributed: {attributed}',
    fix: 'see service times, which exclude both',
  },
  WORKLOAD_WAITED: {
    text:
      'arrivals waited {percent} % of the time for the workload, whose next requests depend on ' +
      'responses; response times include this',
    fix: 'use more --agents or a larger --batch',
  },
  BUSY_NOTED: { text: 'load generator nearly overloaded: event loop busy {percent} % of the time' },
  UNSIGNED_NOTED: { text: 'requests waited for signatures {percent} % of the time' },
  NOTHING_ACCEPTED: { text: 'no request was accepted' },
  RATE_MISSED: {
    text: '{accepted} of {target} arrivals/s accepted, {share} % (expected at least {least} %)',
  },
  CONNECTIONS_LIMIT: {
    text: 'all {count} connections in use {percent} % of the time (service time {service} ms)',
    fix: 'use --connections {needed}, if the server is as fast with that many',
  },
  WORKLOAD_LIMIT: {
    text: 'workload offers {offered} of {target} arrivals/s, and was idle {percent} % of the time',
    fix: 'use {option} {value}',
  },
  WORKLOAD_IDLE: {
    text: 'for {percent} % of the time, the workload had fewer requests ready than --concurrency',
    fix: 'increase --agents or lower --concurrency',
  },
  TRANSACTIONS_LATE: { text: '{part} of {whole} transactions not final by their deadline' },
  SUBSCRIBERS_CLOSED: { text: '{part} of {whole} subscriber connections closed by the server' },
  DELIVERIES_LOST: { text: '{part} of {whole} deliveries missing, repeated or out of order' },
  HALVES_ACCEPTED: { text: 'halves of the run differ: {first} and {second} arrivals accepted' },
  HALVES_SLOWER: { text: 'halves of the run differ: median response {first} and {second} ms' },
  SECOND_HALF_FEWER: { text: 'second half of the run accepted fewer arrivals than the first' },
  QUEUE_GREW: { text: 'queue grew: median response of the second half is {grown} ms longer' },
  SEARCH_ENDED: { text: 'search ended early: {reason}' },
  NO_RATE_HELD: { text: 'no rate held' },
  GENERATOR_LIMIT: { text: 'load generator was the limit in {count} of {all} brackets' },
  WORKLOAD_BRACKETS: { text: 'workload was the limit in {count} of {all} brackets' },
  SPEED_CHANGED: { text: 'R changed by more than 10 % in {count} of {all} brackets' },
  NO_OVERLAP: { text: 'brackets do not overlap' },
  GENERATOR_BOUND: { text: 'generator {number} was the bottleneck: {reason}' },
  GENERATOR_ENDED: { text: 'generator {number} did not complete its run: {reason}' },
  GENERATOR_DIED: { text: 'generator {number} died: no result' },
  GENERATOR_NOTE: { text: 'generator {number}: {reason}' },
  CLOCKS_DIFFER: {
    text:
      'clocks differ by {spread} ms: generators {first} and {second} (bound {bound} ms, ' +
      'measured to within {uncertainty} ms)',
    fix: 'synchronize the clocks, for example with NTP',
  },
  CLOCK_MOVED: {
    text: 'clock of generator {number} moved by {moved} ms during the run (bound {bound} ms)',
    fix: 'synchronize the clocks before the run',
  },
  CLOCK_UNKNOWN: { text: 'clock of generator {number} is unknown: no server_time' },
  INTERRUPTED: { text: 'run interrupted' },
  OUTAGES: { text: 'server unreachable for {seconds} s in {outages}: {failed} requests failed' },
  OUTAGE_LASTS: {
    text: 'server still unreachable at the end, after {seconds} s: {failed} requests failed',
  },
  SERVER_GONE: { text: 'server unreachable for {seconds} s' },
  AGENTS_LEFT: {
    text: 'agents of this run may still be active',
    fix: 'set them inactive with folkmoot load cleanup --seed {seed} --url {url}',
  },
  EPOCH_CHANGED: { text: 'server changed its epoch from {before} to {after}' },
  NO_META: { text: 'cannot check the server after the run: {reason}' },
  SIGNING_FAILED: { text: 'signing failed: {reason}' },
  STREAM_CLOSED: {
    text: 'event stream closed by the server with {code}; finality cannot be measured without it',
  },
  BLOCK_UNDECIDABLE: {
    text: 'other validators joined: a block needs {needed} approvals, this run has {agents} agents',
  },
} as const satisfies MessageTable;

type VerdictKey = keyof typeof verdictMessages;

/** A reason for a verdict or a note on it, with the row of the message table. */
export interface Note {
  key: VerdictKey;
  text: string;
}

export const note = <Key extends VerdictKey>(
  key: Key,
  values: MessageValues<(typeof verdictMessages)[Key]>,
): Note => ({ key, text: formatMessage<MessageRow>(verdictMessages[key], values) });

/** Errors of a load result. */
export const loadResultError = defineStoreErrors({
  LOAD_RESULT_NOT_FOUND: {
    code: 'MISSING',
    text: 'load result not found: {path}',
    fix: 'pass the result.json of folkmoot load --out, or its folder',
  },
  LOAD_RESULT_INVALID: {
    code: 'MISSING',
    text: 'cannot use load result {path}: {reason}',
    fix: 'pass the result.json of folkmoot load --out, or its folder',
  },
});
