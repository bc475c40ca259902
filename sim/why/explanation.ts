/** Why a block ended as it did, as far as its votes say: power, swing votes, what is left out. */
import type { Decision, Store } from '../../engine/internal.js';
import { type Evidence, evidenceOf } from './evidence.js';
import { type LeftOut, leftOut } from './mechanical/left-out.js';
import { type Recounted, recount } from './mechanical/recount.js';
import { type Swing, swingsOf } from './mechanical/swings.js';
import { decisionGame, type Game, turnoutGame } from './power/game.js';
import { powerOf } from './power/indices.js';

/** Indices of a game, by elector; null where one was refused. */
export interface PowerTable {
  /** Weight that wins, out of `total`. */
  quota: number;
  total: number;
  electors: {
    agent_id: string;
    /** Coalitions of the others that it turns from losing to winning, as a decimal number. */
    swings: string | null;
    decisive: number | null;
    banzhaf: number | null;
    shapley_shubik: number | null;
  }[];
  refused: string[];
}

export interface Explanation {
  block: {
    block_hash: string;
    height: number;
    status: string;
    policy: string;
    weights: string;
    /** Weights. */
    approve: number;
    reject: number;
    total: number;
  };
  electors: {
    agent_id: string;
    name: string;
    personality: string;
    weight: number;
    vote: Decision | null;
  }[];
  /** Of the votes as they were cast: the block's status. */
  outcome: Recounted;
  power: { decision: PowerTable; turnout: PowerTable | null };
  swings: Swing[];
  /** The same votes counted again: nobody was asked what it would have done. */
  mechanical: LeftOut[];
}

/** @throws {StoreError} as `evidenceOf`. */
export function explain(store: Store, folder: string, named: string): Explanation {
  const evidence = evidenceOf(store, folder, named);
  const { genesis, block, status, electors, votes } = evidence;
  const cast = new Map(votes.map(({ elector, decision }) => [elector, decision]));
  const tally = { approve: 0, reject: 0 };
  for (const { elector, decision } of votes) tally[decision] += electors[elector]!.weight;
  const weights = electors.map(({ weight }) => weight);
  const personalities = electors.map(({ personality }) => personality);
  const turnout = turnoutGame(genesis, weights);
  return {
    block: {
      block_hash: block.block_hash,
      height: block.height,
      status,
      policy: genesis.policy,
      weights: genesis.weights,
      ...tally,
      total: block.total,
    },
    electors: electors.map((elector, at) => ({ ...elector, vote: cast.get(at) ?? null })),
    outcome: recount(evidence),
    power: {
      decision: tableOf(evidence, decisionGame(genesis, weights, personalities)),
      turnout: turnout && tableOf(evidence, turnout),
    },
    swings: swingsOf(evidence),
    mechanical: leftOut(evidence),
  };
}

function tableOf({ electors, block }: Evidence, game: Game): PowerTable {
  const { swings, decisive, banzhaf, shapley_shubik, refused } = powerOf(game);
  return {
    quota: game.quota,
    total: block.total,
    electors: electors.map(({ agent_id }, at) => ({
      agent_id,
      swings: swings ? `${swings[at]}` : null,
      decisive: decisive ? decisive[at]! : null,
      banzhaf: banzhaf ? banzhaf[at]! : null,
      shapley_shubik: shapley_shubik ? shapley_shubik[at]! : null,
    })),
    refused,
  };
}
