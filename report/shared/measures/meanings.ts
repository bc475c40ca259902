/**
 * Every measure of a run, and what it means: documents, tables, reports and the page say so. Times
 * are milliseconds of the run's virtual time; shares are fractions of one.
 */
/** One number each: in summary.json under `measures`, and a column of a sweep's runs.csv. */
export const measures = {
  proposed: 'blocks proposed',
  finalized: 'blocks finalized',
  rejected: 'blocks rejected',
  expired: 'blocks whose voting period ended without an outcome',
  orphaned: 'blocks that lost against another one of their height',
  open_at_end: 'blocks still in voting when the run ended: in no share or mean of closed blocks',
  finalized_share: 'finalized of all closed blocks',
  rejected_share: 'rejected of all closed blocks',
  expired_share: 'expired of all closed blocks',
  orphaned_share: 'orphaned of all closed blocks',
  sound_finalized_share: 'finalized of the closed blocks whose transactions all add up',
  unsound_finalized_share: 'finalized of the closed blocks with a transaction that does not add up',
  finality_mean_ms: 'mean time from the proposal of a finalized block to its finalization',
  finality_p50_ms: 'median time from proposal to finalization',
  finality_p95_ms: '95th percentile of the time to finality (nearest rank)',
  finality_p99_ms: '99th percentile of the time to finality (nearest rank)',
  transactions: 'transactions in finalized blocks',
  tps: 'finalized transactions a second of virtual time',
  votes: 'votes that counted',
  votes_per_block: 'mean number of votes of a closed block',
  participation: 'mean share of the electors that had voted when their block closed',
  longest_wait_ms:
    'longest time that a producer, other than a vote_exhauster or slot_holder, waited for room: ' +
    'from a proposal refused with TOO_MANY_OPEN or BLOCKS_USED to its next accepted one, or to ' +
    'the end',
  late_votes: 'votes refused because their block had closed',
  equivocations: 'votes taken as evidence of equivocation',
  agreement:
    'chance that two voters on one block agree, mean over closed blocks with two voters or more',
  agreement_within: 'agreement of two voters of one group, over closed blocks with such a pair',
  agreement_between: 'agreement of two voters of different groups, over such blocks likewise',
  reputation_mean: 'mean overall reputation of all registered agents at the end, 0 to 100',
  reputation_gini:
    'Gini coefficient of this reputation: 0 when all have the same, towards 1 when one has all',
  alliances: 'alliances that became active',
  alliance_size_mean: 'mean of the largest number of members that each of these alliances had',
  alliance_lifetime_mean_ms:
    'mean time of an alliance from active to its end, or to the end of the run',
  alliances_at_end: 'alliances still active at the end of the run, where their lifetime is cut',
  memes: 'memes posted',
  meme_reach_mean:
    'mean number of voters, with votes that counted, that had heard a meme when they decided',
  meme_references: 'references to memes in votes that counted',
  influence:
    'share of the votes that counted that would have been the other one without any memes, ' +
    'of those that can say',
  never_joined: 'agents of the scenario that the network did not know at the end',
  messages_sent:
    'messages that agents and the network sent, whoever looks at them: requests, events to each ' +
    'agent, votes and memes to each neighbour; an event that was lost is sent again',
  messages_delivered: 'messages that arrive, copies included, if need be after the end of the run',
  messages_lost:
    'messages that do not arrive, by loss, a partition or a crash before they left an uplink ' +
    'with a limit; copies included',
  messages_duplicated: 'copies of requests that were made on their way',
  message_bytes: 'bytes of all messages sent, and of the copies',
  messages_per_block: 'messages sent for each closed block',
  uplink_wait_mean_ms:
    'mean time that a message waits before it begins to leave, of those that leave an uplink ' +
    'with a limit; empty without any',
  decider_questions: 'questions to external deciders',
  decider_calls: 'calls that these took when they were asked, those that were repeated too',
  decider_failures: 'of the questions, those without an answer that could be used',
  decider_input_tokens: 'tokens that deciders read, as far as their answers say so',
  decider_output_tokens: 'tokens that they wrote, likewise',
} as const satisfies Readonly<Record<string, string>>;

/**
 * The name of a measure.
 *
 * @useDeclaredType
 */
export type MeasureName = keyof typeof measures;
