/**
 * Data dictionary: all columns in the tables of runs and sweeps. The tables are written, documented
 * and checked from this dictionary. The measures are in report/shared. Times are milliseconds of
 * virtual time since the start of the run. Shares are fractions of 1. A missing value, such as a
 * share of nothing, is empty.
 */
import type { MeasureName } from '../../report/shared/measures.js';

type Dictionary = Readonly<Record<string, string>>;

/** Measures by name; null if a measure has no value. */
export type Measures = Record<MeasureName, number | null>;

/** Tables for a run. */
export const tables = {
  'blocks.csv': {
    number: 'number of the block in order of proposal, from 0',
    height: 'proposed height',
    block_hash: 'block hash',
    parent_hash: 'parent hash',
    producer: 'agent id of the producer',
    producer_name: 'name of the producer',
    producer_group: 'group of the producer; empty if it is not part of the scenario',
    status: 'finalized, rejected, expired, orphaned, or voting if the run ended before',
    transactions: 'number of transactions',
    soundness:
      'percentage of sound transactions; empty if the producer is not part of the scenario',
    has_meme: '1 if the block has a meme',
    electorate: 'total weight of its electors',
    electors: 'number of electors',
    approve: 'approving weight',
    reject: 'rejecting weight',
    choice: 'option that the rule chose; empty without a choice',
    choice_label:
      'name of the chosen alternative in the election file; empty if the option has this name',
    tied:
      'options that win in some order of the options, as JSON; empty if the order did not ' +
      'decide, and for a run on a server',
    standings: 'scores at the end of voting by name, as JSON; empty if the rule gives none',
    votes: 'number of votes',
    proposed_ms: 'time of the proposal',
    closed_ms: 'time of closing; empty while in voting',
    finality_ms: 'time from proposal to finalization; empty unless finalized',
    warmup: '1 if proposed during the warm-up, which measures exclude; else 0',
  },
  'agents.csv': {
    ordinal: 'ordinal of the agent, from 0',
    agent_id: 'agent id; empty, like status and scores, if the agent never registered',
    name: 'name',
    group: 'group in the scenario',
    personality: 'personality',
    strategy: 'strategy',
    capabilities: 'capabilities, joined by +',
    status: 'status at the end',
    dormant: '1 if dormant at the end',
    blocks_proposed: 'blocks proposed',
    blocks_finalized: 'proposed blocks that were finalized',
    votes: 'votes counted',
    approvals: 'approving votes counted',
    late_votes: 'votes refused because the block had closed',
    equivocations: 'votes taken as evidence of equivocation',
    memes: 'memes posted',
    transactions: 'finalized transactions signed by the agent',
    decider_questions: 'questions to an external decider about the agent',
    decider_calls: 'calls made for these questions',
    decider_failures: 'questions without a usable answer',
    decider_input_tokens: 'input tokens of the decider',
    decider_output_tokens: 'output tokens of the decider',
    alliances: 'alliance memberships at the end',
    overall_score: 'overall reputation at the end, from 0 to 100',
    meme_quality: 'component of the reputation',
    decision_consistency: 'component of the reputation',
    peer_ratings: 'component of the reputation',
    alliance_strength: 'component of the reputation',
    trait_technical: 'weight of the content in votes',
    trait_social: "weight of the neighbours' votes",
    trait_meme: 'weight of memes',
    trait_random: 'weight of whim',
    trait_threshold: 'smallest mean opinion for approval',
    trait_care: 'share of its transactions that are sound',
    trait_memes: 'share of blocks for which it posts a meme',
    trait_remarks: 'share of its votes with a remark',
    trait_invites: 'share of occasions on which it invites an agent',
    trait_accepts: 'share of invitations accepted',
    trait_abstains: 'share of blocks without its vote',
    trait_think_ms: 'longest thinking time before a vote',
  },
  'groups.csv': {
    group: 'name of the group',
    agents: 'number of agents',
    votes: 'votes counted',
    approve_share: 'share of approving votes',
    won_share:
      'share of finalized and rejected blocks that ended as the majority of the group voted, ' +
      'over blocks without a tie in the group',
    agreement: 'probability that two of its voters on a block agree, mean over closed blocks',
    influence: 'share of its votes that would have been the opposite without memes',
    reputation_mean: 'mean overall reputation at the end, from 0 to 100',
    transactions_share: 'share of all finalized transactions, signed by its agents',
    decider_questions: 'questions to an external decider about its agents',
    decider_calls: 'calls made for these questions',
    decider_failures: 'questions without a usable answer',
    decider_input_tokens: 'input tokens of the decider',
    decider_output_tokens: 'output tokens of the decider',
  },
  'edges.csv': {
    a: 'ordinal of an agent',
    b: 'ordinal of its neighbour; each link occurs once, with a < b',
  },
  'reported.csv': {
    group: 'group that the measure covers; empty for the whole run',
    measure: 'name given by the script of the group',
    value: 'value; empty if missing (null or not finite)',
  },
  'series.csv': {
    t_ms:
      'time: each multiple of measure.every_ms, and the end; above 20,000 instants every second ' +
      'one is dropped and the spacing doubles',
    measure:
      'finalized, rejected, expired, orphaned, votes, memes and transactions (cumulative); ' +
      'alliances_active; reputation_mean: of the agents registered so far, from published scores ' +
      '(a score starts at 50 and is published after a change of 0.1 or more)',
    group: 'group of reputation_mean; empty for the whole network',
    value: 'value after all events up to this time',
  },
  'messages.csv': {
    kind:
      'request.*: from an agent to the network; event.*: from the network to an agent; gossip.*: ' +
      'from an agent to a neighbour',
    sent: 'messages sent; a lost event counts each time it is sent',
    delivered: 'messages delivered, including copies',
    lost: 'messages lost, including copies; sent + duplicated = delivered + lost',
    duplicated: 'copies made in transit',
    bytes:
      'bytes sent, including copies: a request has its body, file, target, key, time and ' +
      'signature; an event its type and data as canonical JSON; gossip the request that it ' +
      'forwards',
  },
  'votes.csv': {
    block: 'number of the block',
    agent: 'ordinal of the voter; empty if it is not part of the scenario',
    group: 'group of the voter; empty if it is not part of the scenario',
    personality: 'personality of the voter',
    decision: 'approve or reject',
    voted_ms: 'arrival of the vote',
    after_ms: 'time since the proposal',
    memes_heard: 'number of memes about the block that the voter had received',
    meme_references: 'number of memes referenced by the vote',
    without_memes: 'decision without memes; empty if the strategy does not give it',
    warmup: '1 if the block was proposed during the warm-up, which measures exclude; else 0',
  },
  'calls.csv': {
    agent: 'ordinal of the agent that an external decider decides for',
    group: 'group of the agent',
    kind: 'kind of the question',
    number: 'index among the questions of this kind to the agent, from 0',
    block: 'number of the block that the question is about; empty without one',
    at_ms: 'time of the question',
    calls: 'number of calls, including retries',
    cached: '1 if the answer came from the cache',
    failure: 'reason why the decider gave no usable answer; empty if it answered',
    input_tokens: 'tokens read, including those of unusable answers',
    output_tokens: 'tokens written, likewise',
    view: 'SHA-256 of the view that the decider was shown, as in the cassette',
    thought: 'explanation in the answer, which no agent saw; empty without one',
  },
  'samples.csv': {
    block: 'number of the block about which the agents deliberated',
    question: 'question; empty if the scenario has none',
    truth: 'right value as JSON; empty for a question without a right value',
    agents: 'participants that were called',
    honest: 'participants with the role honest or injected',
    outcome:
      'valid: all honest agents end with one value, with which one of them began; timeout: the ' +
      'rounds ran out without the end in until, or, without until, with different values; else ' +
      'invalid',
    value: 'common value of the honest agents as JSON; empty without one',
    majority_value_first:
      'most frequent first value of the participants as JSON; empty if values are tied',
    majority_value_last:
      'most frequent last value of the participants as JSON; empty if values are tied',
    rounds: 'rounds before the last honest agent ended',
    statements: 'number of statements',
    contradictions: 'statements by an agent that had made one in the same round',
    spread_first: 'number: difference of the largest and smallest initial value of honest agents',
    spread_last: 'number: difference of their last values',
    gap_factor: 'number: spread of the last round, divided by that of the round before',
    in_hull: 'number: 1 if all last values lie between initial values of honest agents',
    order: 'two options: mean size of the lead of one option in the second half of the rounds',
    infected: 'share of the injected agents that saw the trigger; empty without such agents',
    right_first: 'honest agents whose first statement is right; empty without a right value',
    right_last: 'honest agents whose last value is right',
    majority_first: '1 if the most frequent first value is right',
    majority_last: '1 if the most frequent last value is right',
    flips_right: 'share of the honest agents with a wrong first value that end with the right one',
    flips_wrong: 'share of the honest agents with the right first value that end with a wrong one',
    referee:
      'reached; missed: the classical algorithm would reach agreement with these faults; or ' +
      'impossible',
    referee_value:
      'number: mean result of W-MSR with the same initial values and faults; else the most ' +
      'frequent first value',
  },
  'statements.csv': {
    block: 'number of the block',
    round: 'round, from 0',
    agent: 'ordinal of the agent',
    group: 'group of the agent',
    role: 'role of the agent',
    value: 'stated value as JSON',
    reason: 'public reason; empty without one',
    note: 'private note of the decider, which no agent saw; empty without one',
    stop: '1 if the agent wanted to end the deliberation',
    right: '1 if the value is right; empty without a right value',
    seen: 'ordinals of the agents whose statements the agent had seen, separated by spaces',
    at_ms: 'time of the statement',
  },
} as const satisfies Record<string, Dictionary>;

/** File name of a table in a saved run. @useDeclaredType */
export type TableName = keyof typeof tables;
/** Row of a table, keyed by column. */
export type Row<T extends TableName> = Record<keyof (typeof tables)[T], string | number | null>;

/** Tables for a sweep. Columns for factors and measures are inserted. */
export const sweepTables = {
  'runs.csv': {
    run: 'number of the run, from 1',
    cell: 'number of the cell, from 1',
    replicate: 'number of the run in its cell, from 1',
    seed:
      'seed of the run: shared by the cells of a grid or a list, by the points of a ' +
      'trajectory (morris) and of a block (sobol); different for each sample of lhs',
    verdict: 'pass, no_progress, conflict, safety, or error',
    ended_by: 'rule that ended the run; blocks, virtual_ms and until are regular ends',
    digest: 'digest of the log; empty without a log (sweep.log: none) and after an error',
    trace_digest: 'digest of all commands and outcomes; empty after an error',
    file: 'file of the run record in runs/; its name depends on the scenario and seeds of the cell',
  },
  'run_groups.csv': {
    cell: 'number of the cell, from 1',
    replicate: 'number of the run in its cell, from 1',
    group: 'name of the group',
  },
  'summary.csv': {
    cell: 'number of the cell, from 1',
    measure:
      'name of the measure, with the prefix reported. for measures of scripts; passed: share of ' +
      'runs with the verdict pass; ended_by.RULE: share of runs ended by the rule',
    n: 'number of runs with a value',
    mean: 'mean over these runs',
    sd: 'standard deviation (n - 1); empty if n < 2',
    low:
      'lower end of the 95 % interval of the mean (97.5 % with sweep.until, which corrects for ' +
      'repeated tests); empty if n < 2, or if all values are equal and the measure is not a share',
    high: 'upper end of the interval',
    interval:
      'interval method: share (Wilson, with the effective number of trials), ' +
      't_log (Student, of the mean and of its logarithm, with Hall for negative skew; ' +
      'non-negative), t_skew (Student and Hall; any sign); empty without an interval',
    missing: 'number of runs without a value, such as finality if no block was finalized',
    mean_least:
      'lower bound of the mean over all runs, with each missing value at the minimum of the ' +
      'measure; empty if the measure has no minimum',
    mean_most: 'upper bound of the mean over all runs; empty if the measure has no maximum',
  },
  'differences.csv': {
    cell: 'number of the cell, from 1; without the baseline',
    measure: 'measure, as in summary.csv',
    n: 'number of replicates with a value in both cells',
    mean: 'mean difference, cell minus baseline, paired by seed',
    sd: 'standard deviation of the differences; empty if n < 2',
    low: 'lower end of the 95 % interval of the mean difference; empty without variation',
    high: 'upper end of the interval',
    interval: 't_skew; empty without an interval',
    missing: 'number of replicates without a value in one of the cells',
    mean_least: 'lower bound of the mean difference over all replicates; empty if unbounded',
    mean_most: 'upper bound of the mean difference over all replicates; empty if unbounded',
  },
  'indices.csv': {
    response: 'response, from sweep.responses',
    factor: 'column of the factor',
    index:
      'sobol: first (share of the variance that the factor explains alone) and ' +
      'total (with its interactions); morris: mean, mean_absolute and deviation of the ' +
      'elementary effects, per full range of the factor',
    n: 'number of blocks or effects used',
    value: 'index; empty if the variance is zero',
    low:
      'lower end of the 95 % interval: bootstrap over samples, or for means as in summary.csv; ' +
      'empty without an interval',
    high: 'upper end of the interval',
    missing: 'number of blocks or effects excluded because a cell has no value',
    with_least:
      'index with each missing value set to the minimum of the measure or, if it has ' +
      'none, to the smallest value in any cell',
    with_most: 'index with each missing value set to the maximum, likewise',
  },
} as const satisfies Record<string, Dictionary>;

/** Type of a column. A flag is 1 or 0. */
export type ColumnType = 'text' | 'integer' | 'number' | 'flag';

/** Columns by type; all others are integers. */
const columnTypes: Readonly<Record<Exclude<ColumnType, 'integer'>, readonly string[]>> = {
  text: [
    ...['block_hash', 'parent_hash', 'producer', 'producer_name', 'producer_group', 'status'],
    ...['choice', 'choice_label', 'tied', 'standings', 'agent_id', 'name', 'group', 'personality'],
    ...['strategy', 'capabilities', 'measure', 'kind', 'decision', 'without_memes', 'seed'],
    ...['verdict', 'ended_by', 'digest', 'trace_digest', 'file', 'interval', 'response', 'factor'],
    ...['index', 'question', 'truth', 'outcome', 'referee', 'referee_value', 'role', 'reason'],
    ...['note', 'seen', 'failure', 'view', 'thought'],
  ],
  number: [
    ...['soundness', 'value', 'mean', 'sd', 'low', 'high', 'mean_least', 'mean_most'],
    ...['with_least', 'with_most', 'approve_share', 'won_share', 'agreement', 'influence'],
    ...['reputation_mean', 'transactions_share', 'overall_score', 'meme_quality'],
    ...['decision_consistency', 'peer_ratings', 'alliance_strength', 'spread_first', 'infected'],
    ...['spread_last', 'gap_factor', 'order', 'flips_right', 'flips_wrong'],
  ],
  flag: ['has_meme', 'dormant', 'warmup', 'stop', 'right', 'in_hull', 'cached'],
};

const typeByColumn = new Map(
  Object.entries(columnTypes).flatMap(([type, names]) =>
    names.map((name) => [name, type as ColumnType]),
  ),
);

export const columnType = (name: string): ColumnType =>
  typeByColumn.get(name) ?? (name.startsWith('trait_') ? 'number' : 'integer');
