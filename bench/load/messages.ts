import {
  defineFailures,
  formatMessage,
  type MessageTable,
  type MessageValues,
} from '../../engine/protocol/messages.js';
import { defineStoreErrors } from '../../engine/store/messages.js';

/** A run cannot start or continue, for a reason that the user or the server must fix. */
export const loadError = defineFailures('server', {
  NO_RESPONSE: 'no response from {url} to {method} {target}: {reason}',
  NO_SERVER: '{message}; start a server, such as folkmoot serve --limits off',
  UNEXPECTED_RESPONSE:
    'unexpected response from {url} to GET {target}: {response} (expected 200 with data)',
  INVALID_HEIGHT: 'invalid block_height from {url}: {height} (expected an integer of 0 or more)',
  NO_VALIDATORS: 'no list of validators from {url} at {target}',
  OTHER_NETWORK: `{url} serves another network than {first}: {other} (expected {expected});
    name servers of one network, or use --workload reads`,
  NOT_REGISTERED:
    'agent {number} of {count} not registered: {response} (expected 201 with an agent_id)',
  REGISTRATION_LIMITED: `agent {number} of {count} not registered: {response};
    use a server without rate limits, such as folkmoot serve --limits off`,
  STATUS_REFUSED: 'agent {number} not set {status}: {response}',
  RATE_LIMITED: `the rate limits of the server (profile {profile}) are too low for this load:
    {limits}; start the server with {option}, or lower the load`,
  BATCH_OUT_OF_RANGE: 'invalid --batch: {batch} (expected 1 to {most} transactions per block)',
  MIX_OF_CHAINS: `cannot mix vote and propose in one run: both build the chain of blocks;
    use vote with a batch, or propose alone`,
  NOT_SHARED: `scenario {name}: several generators cannot share it;
    use an executor of arrivals with reads or proposals`,
  NO_DIGESTS: 'no digests of the log in GET /api/v1/meta of {url}, to which a disclosure is bound',
  NOT_EXPORTED: `cannot export requests of kind {kind}, which depend on responses;
    use --workload reads, or --mix with read, status and meme`,
  IMPORT_INVALID: 'cannot import: {reason}',
  NOT_STARTED: 'cannot start {name}: {command}: {reason}',
  SCRIPT_INVALID: 'cannot use module {file}: {reason}',
  NO_NETWORK_ID: `no network_id in GET /api/v1/network/state or /api/v1/meta to sign transactions
    for; use --workload votes, reads or subscribers`,
  NO_HEAD: `no head hash in GET /api/v1/network/state or /api/v1/blocks, and no proposal seen;
    use a new network`,
  OTHER_VALIDATORS: `{others} other active validators: a block needs {needed} approvals from
    {agents} agents; use --agents {least} or more, a server without other agents, or folkmoot load
    cleanup`,
  OTHERS_MUST_VOTE: `{others} other active validators: with policy {policy}, a block needs {needed}
    votes from {agents} agents; use a server without other agents`,
  STREAM_UNREAD: 'cannot write to the pipe {path}: {reason}; start its reader first',
  STREAM_UNREACHABLE: 'cannot connect to {url}/ws/v1: {reason}',
  AUTHENTICATION_REFUSED: '{url}/ws/v1 refused authentication: {reason}',
  TOPICS_REFUSED: '{url}/ws/v1 refused topics {topics}: {reason}',
  NOTHING_MEASURED: 'nothing was measured: {reason}',
  START_MISSED: 'preparation ended {late} s after --start-at; give a later time to all generators',
  RUN_OVER: 'the run is over',
});

/** An invalid condition or objective: a usage error. */
export const conditionError = defineFailures('user', {
  SYNTAX: 'invalid {option}: {condition} (expected the form p99>200ms or errors>1%)',
  UNKNOWN_FIGURE: 'invalid {option}: {condition}: unknown figure: {figure} (expected {known})',
  WRONG_UNIT:
    'invalid {option}: {condition} ({figure} is {kind}, expected a bound such as {example})',
  NO_COMPARISON: 'invalid {option}: {condition} (expected >, >=, < or <= between figure and bound)',
  NO_BASE: `invalid {option}: {condition} (a bound with a sign compares two results);
    use a bound without a sign, or folkmoot load compare`,
  NOT_IN_PERCENT: 'invalid {option}: {condition} (expected a change in percent, such as {example})',
  NOT_AN_OBJECTIVE: 'invalid {option}: {condition} (expected the form {example})',
});

/** A condition on a figure that the run does not measure. */
export const unmeasuredError = defineFailures('measures', {
  NO_RATE: `cannot measure {option} {condition}: a closed loop has no target rate;
    use --rate, or the figure accepted_per_s`,
  NO_OUTAGES: 'cannot measure {option} {condition}: the run ends in an outage; use --keep-going',
  EMPTY_BLOCKS: `cannot measure {option} {condition}: {workload} with --batch 0 sends no
    transactions; use --batch 10`,
  NO_TRANSACTIONS: `cannot measure {option} {condition}: workload {workload} has no transactions;
    use --workload transactions, or the figure accepted_per_s`,
  NO_SUBSCRIBERS: `cannot measure {option} {condition}: workload {workload} has no subscribers;
    use --workload subscribers`,
  NOT_SCHEDULED: `cannot measure {option} {condition}: workload {workload} does not schedule
    {operation}; use a figure of an operation that it schedules: {scheduled}`,
  UNKNOWN_SCENARIO: `cannot measure {option} {condition}: no scenario {scenario} (expected one of
    {known})`,
  TOO_FEW_SAMPLES: `cannot measure {option} {condition}: {figure} needs {samples} {what}, and this
    run has at most {most}; use --duration {seconds}s`,
});

/** Reasons and notes for a verdict, as in result.json. */
const verdictMessages = {
  GENERATOR_LATE: 'load generator too slow: lag {lag} ms at p99',
  GENERATOR_BUSY: 'load generator too slow: event loop busy {percent} % of the time',
  GENERATOR_UNSIGNED:
    'load generator too slow: requests waited for signatures {percent} % of the time',
  LAG_INCLUDED: 'response times include generator lag: {lag} ms at p99',
  NOT_ATTRIBUTED: `response times not attributed to the server, because more than {most} % is
    generator lag or waiting for the workload: {parts}; attributed: {attributed}; see service times,
    which exclude both`,
  WORKLOAD_WAITED: `arrivals waited {percent} % of the time for the workload, whose next requests
    depend on responses; response times include this; use more --agents or a larger --batch`,
  BUSY_NOTED: 'load generator nearly overloaded: event loop busy {percent} % of the time',
  UNSIGNED_NOTED: 'requests waited for signatures {percent} % of the time',
  SCENARIO: 'scenario {name}: {reason}',
  SLOW_READERS: 'the server closed {closed} of {opened} connections that read nothing',
  ITERATIONS_FAILED: '{count} iterations of a module failed: {reason}',
  NOTHING_ACCEPTED: 'no request was accepted',
  RATE_MISSED:
    '{accepted} of {target} arrivals/s accepted, {share} % (expected at least {least} %)',
  CONNECTIONS_LIMIT: `all {count} connections in use {percent} % of the time (service time {service}
    ms); use --connections {needed}, if the server is as fast with that many`,
  WORKLOAD_LIMIT: `workload offers {offered} of {target} arrivals/s, and was idle {percent} % of the
    time; use {option} {value}`,
  WORKLOAD_IDLE: `for {percent} % of the time, the workload had fewer requests ready than
    --concurrency; increase --agents or lower --concurrency`,
  TRANSACTIONS_LATE: '{part} of {whole} transactions not final by their deadline',
  SUBSCRIBERS_CLOSED: '{part} of {whole} subscriber connections closed by the server',
  DELIVERIES_LOST: '{part} of {whole} deliveries missing, repeated or out of order',
  HALVES_ACCEPTED: 'halves of the run differ: {first} and {second} arrivals accepted',
  HALVES_SLOWER: 'halves of the run differ: median response {first} and {second} ms',
  SECOND_HALF_FEWER: 'second half of the run accepted fewer arrivals than the first',
  QUEUE_GREW: 'queue grew: median response of the second half is {grown} ms longer',
  SEARCH_ENDED: 'search ended early: {reason}',
  NO_RATE_HELD: 'no rate held',
  GENERATOR_LIMIT: 'load generator was the limit in {count} of {all} brackets',
  WORKLOAD_BRACKETS: 'workload was the limit in {count} of {all} brackets',
  SPEED_CHANGED: 'R changed by more than 10 % in {count} of {all} brackets',
  NO_OVERLAP: 'brackets do not overlap',
  GENERATOR_BOUND: 'generator {number} was the bottleneck: {reason}',
  GENERATOR_ENDED: 'generator {number} did not complete its run: {reason}',
  GENERATOR_DIED: 'generator {number} died: no result',
  GENERATOR_NOTE: 'generator {number}: {reason}',
  CLOCKS_DIFFER: `clocks differ by {spread} ms: generators {first} and {second} (bound {bound} ms,
    measured to within {uncertainty} ms); synchronize the clocks, for example with NTP`,
  CLOCK_MOVED: `clock of generator {number} moved by {moved} ms during the run (bound {bound} ms);
    synchronize the clocks before the run`,
  CLOCK_UNKNOWN: 'clock of generator {number} is unknown: no server_time',
  INTERRUPTED: 'run interrupted',
  THRESHOLD_CROSSED: 'run ended by a threshold after {seconds} s: {reason}',
  OUTAGES: 'server unreachable for {seconds} s in {outages}: {failed} requests failed',
  OUTAGE_LASTS: 'server still unreachable at the end, after {seconds} s: {failed} requests failed',
  FAULT_FAILED: 'fault {name} not carried out: {reason}',
  SERVER_GONE: 'server unreachable for {seconds} s',
  AGENTS_LEFT: `agents of this run may still be active;
    set them inactive with folkmoot load cleanup --seed {seed} --url {url}`,
  EPOCH_CHANGED: 'server changed its epoch from {before} to {after}',
  NO_META: 'cannot check the server after the run: {reason}',
  SIGNING_FAILED: 'signing failed: {reason}',
  STREAM_CLOSED:
    'event stream closed by the server with {code}; finality cannot be measured without it',
  BLOCK_UNDECIDABLE:
    'other validators joined: a block needs {needed} approvals, this run has {agents} agents',
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
): Note => ({ key, text: formatMessage<string>(verdictMessages[key], values) });

export const loadResultError = defineStoreErrors({
  MISSING: {
    LOAD_RESULT_NOT_FOUND:
      'load result not found: {path}; pass the result.json of folkmoot load --out, or its folder',
    LOAD_RESULT_INVALID: `cannot use load result {path}: {reason};
      pass the result.json of folkmoot load --out, or its folder`,
  },
});
