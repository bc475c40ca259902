/**
 * Findings of the safety rules, keyed by finding: the rule, the observation (`text`) and the
 * expectation. Tests and reports use the rule; several findings may share one.
 */
export const safetyFindings = {
  EVENT_NUMBER: {
    rule: 'event-number',
    text: 'event numbers are not consecutive',
    expected: 'event {seq}',
  },
  EVENT_TIME: {
    rule: 'event-time',
    text: 'event time out of range: {timestamp}',
    expected: 'a time from {least} to {most}',
  },
  NOT_PROPOSED: {
    rule: 'proposal',
    text: 'block published without a proposal',
    expected: 'an accepted proposal',
  },
  PROPOSED_TWICE: { rule: 'proposal', text: 'block proposed twice', expected: 'one proposal' },
  TWO_OPEN_BLOCKS: {
    rule: 'open-blocks',
    text: 'producer has two blocks in voting',
    expected: 'one block in voting per producer',
  },
  TOO_MANY_OPEN_BLOCKS: {
    rule: 'open-blocks',
    text: '{count} blocks in voting',
    expected: 'at most {limit}',
  },
  VOTE_NOT_ACCEPTED: {
    rule: 'vote',
    text: 'vote of {voter} published, but not accepted',
    expected: 'accepted votes only',
  },
  VOTE_AFTER_END: {
    rule: 'vote-after-end',
    text: 'vote of {voter} counted after {end}',
    expected: 'no vote outside the voting period',
  },
  SECOND_END: {
    rule: 'end-once',
    text: '{status} after {before}',
    expected: 'one final status per block',
  },
  WRONG_FINAL_TALLY: { rule: 'tally', text: 'final tally {tally}', expected: '{counted}' },
  WRONG_ORPHAN: {
    rule: 'orphan',
    text: 'orphaned without a finalized block of the same height',
    expected: 'a finalized sibling, or a proposal that takes the slot',
  },
  SECOND_AT_HEIGHT: {
    rule: 'one-block-a-height',
    text: 'second block finalized at height {height}, after {first}',
    expected: 'one finalized block per height',
  },
  NOT_ON_HEAD: {
    rule: 'extends-head',
    text: 'height {height} with parent {parent}',
    expected: 'height {next} with parent {head}',
  },
  WRONG_HEAD: {
    rule: 'height',
    text: 'height {published}, head {block}',
    expected: 'height {height}, head {head}',
  },
  NOT_ORPHANED: {
    rule: 'orphan',
    text: 'in voting after a sibling was finalized',
    expected: 'orphaned with the finalization',
  },
  OPEN_AFTER_DEADLINE: {
    rule: 'deadline',
    text: 'in voting after its deadline {deadline}',
    expected: 'a final status',
  },
  SECOND_VOTE: {
    rule: 'vote-once',
    text: 'second vote of {voter} counted',
    expected: 'one vote per elector',
  },
  WRONG_TALLY: {
    rule: 'tally',
    text: 'tally {tally} after a vote to {decision}',
    expected: '{before} plus {weight} to {decision}',
  },
  WRONG_STATUS: { rule: 'quorum', text: '{status} with {tally}, {when}', expected: '{allowed}' },
} as const;
