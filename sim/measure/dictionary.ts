/**
 * The data dictionary: every column of the tables of runs and sweeps, as data; the measures are in
 * report/shared. The tables are written, documented and checked from it. Times are milliseconds of
 * the run's virtual time, from its start; shares are fractions of one; what cannot be said (a share
 * of nothing) is empty.
 */
import type { MeasureName } from '../../report/shared/measures.js';

type Dictionary = Readonly<Record<string, string>>;

/** Null where a measure cannot be said. */
export type Measures = Record<MeasureName, number | null>;

/** The tables of a run. */
export const tables = {
  'blocks.csv': {
    number: 'counts the blocks of the run, from 0, by proposal',
    height: 'height it was proposed for',
    block_hash: 'its hash',
    parent_hash: "its parent's hash",
    producer: "the producer's agent id",
    producer_name: "the producer's name",
    producer_group: "the producer's group; empty when it is not of the scenario",
    status: 'finalized, rejected, expired, orphaned, or voting when the run ended before',
    transactions: 'how many it carries',
    soundness: 'percent of them that add up; empty when its producer is not of the scenario',
    has_meme: '1 when it carries a meme',
    electorate: 'weight of all its electors together',
    electors: 'how many electors there are',
    approve: 'approving weight',
    reject: 'rejecting weight',
    votes: 'how many voted',
    proposed_ms: 'when it was proposed',
    closed_ms: 'when it closed; empty while in voting',
    finality_ms: 'time from proposal to finalization; empty unless finalized',
    warmup: '1 when it was proposed in the warm-up, and so is in no measure; else 0',
  },
  'agents.csv': {
    ordinal: 'counts the agents, from 0',
    agent_id: 'its id; empty, like status and scores, when it never got itself registered',
    name: 'its name',
    group: 'its group in the scenario',
    personality: 'its personality',
    strategy: 'its strategy',
    capabilities: 'joined by +',
    status: 'at the end',
    dormant: '1 when dormant at the end',
    blocks_proposed: 'blocks it proposed',
    blocks_finalized: 'of these, finalized',
    votes: 'its votes that counted',
    approvals: 'of these, approving',
    late_votes: 'its votes refused because the block had closed',
    equivocations: 'its votes taken as evidence of equivocation',
    memes: 'memes it posted',
    transactions: 'finalized transactions that it signed',
    decider_questions: 'questions about it to an external decider',
    decider_calls: 'calls that these took',
    decider_failures: 'of the questions, those without an answer that could be used',
    decider_input_tokens: 'tokens that the decider read',
    decider_output_tokens: 'tokens that it wrote',
    alliances: 'alliances it was a member of at the end',
    overall_score: 'reputation at the end, 0 to 100',
    meme_quality: 'part of it',
    decision_consistency: 'part of it',
    peer_ratings: 'part of it',
    alliance_strength: 'part of it',
    trait_technical: 'weight of the content when it votes',
    trait_social: "of the neighbours' votes",
    trait_meme: 'of memes',
    trait_random: 'of a whim',
    trait_threshold: 'approves at this mean opinion and above',
    trait_care: 'share of its transactions that are sound',
    trait_memes: 'share of blocks it makes a meme about',
    trait_remarks: 'share of its votes that it argues for',
    trait_invites: 'share of occasions on which it invites',
    trait_accepts: 'share of invitations that it accepts',
    trait_abstains: 'share of blocks on which it does not vote',
    trait_think_ms: 'the most it thinks before it votes',
  },
  'groups.csv': {
    group: 'its name',
    agents: 'how many',
    votes: 'their votes that counted',
    approve_share: 'approving of these',
    won_share:
      'share of finalized and rejected blocks that ended as most of the group voted, of those on ' +
      'which it was not split evenly',
    agreement: 'chance that two voters of it on one block agree, mean over closed blocks',
    influence: 'share of its votes that would have been the other one without memes',
    reputation_mean: 'mean overall reputation at the end, 0 to 100',
    transactions_share: 'share of all finalized transactions that it signed',
    decider_questions: 'questions about its agents to an external decider',
    decider_calls: 'calls that these took',
    decider_failures: 'of the questions, those without an answer that could be used',
    decider_input_tokens: 'tokens that the decider read',
    decider_output_tokens: 'tokens that it wrote',
  },
  'edges.csv': {
    a: 'ordinal of one agent',
    b: 'ordinal of its neighbour, the higher one: each link is there once',
  },
  'reported.csv': {
    group: 'whose measure; empty for the run',
    measure: "the name that the group's script gave it",
    value: 'the value; empty where it cannot be said',
  },
  'series.csv': {
    t_ms:
      'time: each multiple of measure.every_ms, and the end; of more than 20,000 instants every ' +
      'second one is dropped and the spacing doubles',
    measure:
      'finalized, rejected, expired, orphaned, votes, memes, alliances_active, transactions ' +
      '(all since the start but the active ones); reputation_mean: of the agents registered so ' +
      'far, by the scores last told (each starts at 50, a move of 0.1 or more is told)',
    group: 'whose reputation; empty for the whole network',
    value: 'the value after all that happened up to that time',
  },
  'messages.csv': {
    kind:
      'request.* from an agent to the network, event.* from the network to an agent, gossip.* ' +
      'from an agent to a neighbour',
    sent: 'messages sent, an event that was lost as often as it was sent',
    delivered: 'of these and of the copies, those that arrive',
    lost: 'of these and of the copies, those that do not; sent + duplicated = delivered + lost',
    duplicated: 'copies that were made on their way',
    bytes:
      'of what was sent and copied: a request is its body, file, target, key, time and ' +
      'signature; an event its type and data as canonical JSON; gossip the request that it ' +
      'passes on',
  },
  'votes.csv': {
    block: 'number of the block',
    agent: 'ordinal of the voter; empty when it is not of the scenario',
    group: 'its group; empty likewise',
    personality: 'its personality',
    decision: 'approve or reject',
    voted_ms: 'when the vote arrived',
    after_ms: 'time since the proposal',
    memes_heard: 'memes about the block that it had heard of when it decided',
    meme_references: 'memes that it referred to',
    without_memes: 'what it would have decided without memes; empty for strategies that cannot say',
    warmup: '1 when its block was proposed in the warm-up, and so it is in no measure; else 0',
  },
} as const satisfies Record<string, Dictionary>;

/**
 * The file name of a table that a kept run has.
 *
 * @useDeclaredType
 */
export type TableName = keyof typeof tables;
/** A row of a table, by its columns. */
export type Row<T extends TableName> = Record<keyof (typeof tables)[T], string | number | null>;

/** Tables of a sweep; the factors' and measures' own columns come between these. */
export const sweepTables = {
  'runs.csv': {
    run: 'counts the runs of the sweep, from 1',
    cell: 'counts the combinations of factors, from 1',
    replicate: 'counts the runs of a cell, from 1',
    seed:
      "the run's seed: the same ones in each cell of a grid or a list, in the points of one " +
      'trajectory (morris) and of one block (sobol); of its own in each sample of lhs',
    verdict: 'pass, no_progress, safety, or error',
    ended_by: 'which rule ended it: what was not cut short is blocks, virtual_ms or until',
    digest: 'digest of the whole run; empty after an error',
    file: 'what is kept of it, in runs/; its name follows from scenario and seeds of the cell',
  },
  'run_groups.csv': {
    cell: 'counts the combinations of factors, from 1',
    replicate: 'counts the runs of a cell, from 1',
    group: 'its name',
  },
  'summary.csv': {
    cell: 'counts the combinations of factors, from 1',
    measure:
      'the measure, of scripts with reported. before its name; passed: the share of runs with ' +
      'the verdict pass; ended_by. and a rule: the share of runs that it ended',
    n: 'runs of the cell in which it could be said',
    mean: 'their mean',
    sd: 'their standard deviation (n - 1); empty when n < 2',
    low:
      'lower end of the 95 % interval of the mean (made at 97.5 % with sweep.until, whose looks ' +
      'cost coverage); empty when n < 2, and without spread, unless the measure is a share',
    high: 'upper end of it',
    interval:
      'how it is made: share (Wilson, of as many trials as the spread between runs allows), ' +
      't_log (Student, of the mean and of its logarithm, and Hall where numbers lean down: never ' +
      'negative), t_skew (Student and Hall: of either sign); empty where there is none',
    missing: 'runs of the cell without a value, as of finality where no block was finalized',
    mean_least:
      'lower bound of the mean over all runs of the cell, if each missing value is the least ' +
      'that the measure can be; empty where it has no least value',
    mean_most: 'upper bound of it; empty where the measure has no largest value',
  },
  'differences.csv': {
    cell: 'counts the combinations of factors, from 1; without the baseline',
    measure: 'the measure, as in summary.csv',
    n: 'replicates in which it could be said in both cells',
    mean: 'mean difference, of the cell less the baseline, with the same seeds',
    sd: 'standard deviation of the differences; empty when n < 2',
    low: 'lower end of the 95 % interval of the mean difference; empty without spread',
    high: 'upper end of it',
    interval: 't_skew, or empty where there is none',
    missing: 'replicates without a value in one of the two cells',
    mean_least: 'lower bound of the mean difference over all replicates; empty where it has none',
    mean_most: 'upper bound of it; empty where it has none',
  },
  'indices.csv': {
    response: 'of sweep.responses',
    factor: 'its column',
    index:
      'sobol: first, the share of the variance that the factor accounts for by itself, and ' +
      'total, with all that it has to do with; morris: mean, mean_absolute and deviation of the ' +
      'elementary effects, per whole range of the factor',
    n: 'blocks, or effects, that it is made of',
    value: 'the index; empty without any variance',
    low:
      'lower end of its 95 % interval: by bootstrap over samples, of means as in summary.csv; ' +
      'empty where there is none',
    high: 'upper end of it',
    missing: 'blocks, or effects, that were left out because a cell has no value',
    with_least:
      'the index if each missing value is the least that the measure can be, or, without such a ' +
      'bound, the least of all cells',
    with_most: 'the index if each missing value is the largest, likewise',
  },
} as const satisfies Record<string, Dictionary>;
