/**
 * Assertions that stay on in production. Two independent parts of the program compute a value, and
 * an assertion compares both. A violation is a bug, or damaged memory: it stops the network before
 * anything is committed, and the process exits with code 13. A restart recovers the network from
 * its folder. The engine refuses an invalid request; that is no violation.
 */

/** Texts of violations. `{found}` and `{expected}` are the values that should agree. */
const invariants = {
  // Entries, time and deadlines.
  ENTRY_SEQUENCE: 'entry {found} follows {expected}',
  TIME_BACKWARD: 'an entry goes back in time to {found} (expected {expected} or later)',
  TICK_MISSING: 'an entry at {found} needs a tick first: a deadline is due at {expected}',
  DEADLINE_ORDER: 'deadline {found} is due again, or before one that has fired at {expected}',
  DEADLINE_WITHOUT_BLOCK: 'a deadline belongs to no block: {found}',
  DEADLINE_UNDECIDED: 'block {found} outlived its deadline',
  ACTOR_FAULT: 'an actor failed: {found}',
  // Blocks and votes.
  OPEN_BLOCKS: '{found} open blocks (limit {expected})',
  ELECTORATE_SIZE: 'a block has {found} electors (expected {expected})',
  ELECTORATE_ORDER: 'electorate with {found} weights or unordered agents (expected {expected})',
  ELECTORATE_CHANGED: 'electorate {found} of a block changed (expected {expected})',
  ELECTORATE_WEIGHT: 'a block was opened with the weight {found}, and closes with {expected}',
  VOTER_POSITION: 'position of a voter is of agent {found} (expected {expected})',
  VOTE_TWICE: 'elector {found} votes a second time on {expected}',
  VOTE_LATE: 'a vote at {found} is counted after the deadline {expected}',
  VOTE_WEIGHT: 'weight of an elector is {found} (expected {expected} or more)',
  TALLY_WEIGHT: 'votes have the weight {found}, more than their electorate: {expected}',
  TALLY_VOTES: '{found} votes by {expected} electors',
  TALLY_STORED: 'record of a closed block has the weight {found} (counted {expected})',
  BLOCK_STATE: 'block is {found} after its end as {expected}',
  BLOCK_END_TIME: 'a block ends at {found}, before its proposal at {expected}',
  CHAIN_HEIGHT: 'final block has height {found} (expected {expected})',
  CHAIN_PARENT: 'final block has parent {found} (expected {expected})',
  RESTORED_VOTER: 'stored vote of agent {found}, who is not in the electorate {expected}',
  SCORE_RANGE: 'score of an agent is {found} (expected 0 to {expected})',
  // The log, its digests and its commits.
  LOGGED_ENTRY: 'entry {found} is logged, but the engine is at entry {expected}',
  LOGGED_TIME: 'an entry is logged at {found}, but the engine is at {expected}',
  LOGGED_EVENTS: 'events are logged up to {found}, but the engine is at event {expected}',
  LOG_HEAD: 'last entry of a batch has the log digest {found} (expected {expected})',
  STATE_HEAD: 'last entry of a batch has the digest {found} (expected {expected})',
  STORED_LENGTH: 'a committed entry has {found} bytes in the store (expected {expected})',
  COMMIT_ORDER: 'a commit ends at entry {found}, after a commit to entry {expected}',
  PUBLISHED_EVENT: 'event {found} is published (expected {expected})',
  BATCH_SEQUENCE: '{found} does not follow {expected}',
  BATCH_END: 'a batch ends at {found}, but its meta at {expected}',
  INDEX_ROW: 'index row of entry {found} is outside its batch (expected an entry after {expected})',
  // Clusters.
  ORDER_POSITION: 'batch {found} of the order is applied after batch {expected}',
  ORDER_REVISION: 'batch of the order has revision {found} (expected more than {expected})',
  ORDER_TIME: 'order goes back in time to {found} (expected {expected} or later)',
  ORDER_ANSWERS: 'a batch with {expected} requests has {found} outcomes',
  ORDER_OWN: 'own batch {found} came back, but the last one sent is {expected}',
  ORDER_WAITING: 'waiting requests have {found} bytes (expected {expected} or more)',
} as const satisfies Readonly<Record<string, string>>;

export type Invariant = keyof typeof invariants;

type Value = string | number | null | undefined;

/** Two values that should agree do not. */
export class Violation extends Error {
  override name = 'Violation';

  constructor(
    /** Stable key of the message. */
    readonly problem: Invariant,
    found: Value,
    expected: Value,
  ) {
    const values = { found, expected };
    super(
      invariants[problem].replace(/\{(found|expected)\}/g, (_, name: keyof typeof values) =>
        String(values[name]),
      ),
    );
  }
}

/** @throws {Violation} unless the invariant holds. */
export function assertInvariant(
  holds: boolean,
  problem: Invariant,
  found?: Value,
  expected?: Value,
): void {
  if (!holds) throw new Violation(problem, found, expected);
}
