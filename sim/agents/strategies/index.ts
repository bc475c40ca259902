/** The built-in strategies by name; `script` is loaded, and what is outside is asked. */
import type { External, StrategyOf, Strategy as Wanted } from '../../scenario/schema/strategies.js';
import type { Strategy } from '../port/agent.js';
import { bloc, censor, equivocator, memeSpammer, sybil } from './adversaries.js';
import { slotHolder, voteExhauster } from './flooders.js';
import { byPersonality } from './personality.js';
import { contrarian, flipFlop, follower, honest, lazy, silent } from './plain.js';

type Kind = Exclude<Wanted['kind'], 'script' | External['kind']>;
type Makers = { [K in Kind]: (parameters: StrategyOf<K>) => Strategy };

const makers: Makers = {
  personality: () => byPersonality,
  honest,
  equivocator,
  bloc,
  contrarian: () => contrarian,
  follower,
  lazy,
  flip_flop: () => flipFlop,
  meme_spammer: memeSpammer,
  sybil,
  silent: () => silent,
  censor,
  vote_exhauster: voteExhauster,
  slot_holder: slotHolder,
};

export function builtIn(wanted: StrategyOf<Kind>): Strategy {
  const make = makers[wanted.kind] as (parameters: StrategyOf<Kind>) => Strategy;
  return make(wanted);
}
