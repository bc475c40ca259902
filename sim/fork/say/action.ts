/** What an intervention does, as it is said on the command line: `mute meme 17`. */
import { parse } from 'yaml';
import { traitNames } from '../../scenario/schema/traits.js';
import { settablePaths } from '../../scenario/settable.js';
import { Words } from './words.js';

export type Raw = Record<string, unknown>;

const verbs = ['mute', 'silence', 'remove', 'dissolve', 'drop', 'set'] as const;
type Verb = (typeof verbs)[number];

/**
 * The members of an intervention, without when it acts. Whether there is such an agent, block or
 * value is for the scenario's checks.
 * @throws {ScenarioError} naming the character, and what was expected there.
 */
export function actionOf(text: string, option = '--do'): Raw {
  const words = new Words(option, text);
  const action = actions[words.one(...verbs)](words);
  words.end();
  return action;
}

const actions: Record<Verb, (words: Words) => Raw> = {
  mute(words) {
    if (words.taken('meme')) return { kind: 'mute', meme: named(words, 'the number of a meme') };
    words.one('memes', 'meme');
    words.one('of');
    return { kind: 'mute', whom: whomOf(words) };
  },
  silence: (words) => ({ kind: 'silence', whom: whomOf(words) }),
  remove: (words) => ({ kind: 'remove', whom: whomOf(words) }),
  dissolve(words) {
    words.one('alliance');
    return { kind: 'dissolve', alliance: named(words, 'the number of an alliance, or its id') };
  },
  drop(words) {
    const what = words.one('block', 'alliance');
    return { kind: 'drop', [what]: named(words, `the number of the ${what}`) };
  },
  set(words) {
    const own = words.peek as keyof typeof settings | undefined;
    if (own !== undefined && Object.hasOwn(settings, own)) return settings[own](words);
    const path = words.any(`${Object.keys(settings).join(', ')} or a path such as ${examplePath}`);
    words.one('to');
    return { kind: 'set', path, value: valueIn(words) };
  },
};

const [examplePath] = settablePaths().filter((path) => path.startsWith('social.memes'));

const settings = {
  vote(words: Words): Raw {
    words.one('vote');
    words.one('of');
    const agent = agentOf(words);
    words.one('on');
    words.one('block');
    const block = named(words, 'the number of a block, or its hash');
    words.one('to');
    return { kind: 'vote', agent, block, decision: words.one('approve', 'reject', 'none') };
  },
  strategy(words: Words): Raw {
    words.one('strategy');
    words.one('of');
    const whom = whomOf(words);
    words.one('to');
    const value = valueIn(words);
    return {
      kind: 'strategy',
      whom,
      strategy: typeof value === 'string' ? { kind: value } : value,
    };
  },
  trait(words: Words): Raw {
    words.one('trait');
    const name = words.one(...traitNames);
    words.one('of');
    const whom = whomOf(words);
    words.one('to');
    return { kind: 'traits', whom, traits: { [name]: valueIn(words) } };
  },
  link(words: Words): Raw {
    words.one('link');
    const a = agentOf(words);
    words.one('and');
    const b = agentOf(words);
    words.one('to');
    const what = words.one('loss', 'factor');
    return { kind: 'link', between: [a, b], [what]: valueIn(words) };
  },
};

/** A number where it is one, else an id. */
function named(words: Words, expected: string): number | string {
  const word = words.any(expected);
  return /^\d{1,10}$/.test(word) ? Number(word) : word;
}

/** `lawful-3`, `3` or `agent 3`. */
function agentOf(words: Words): number | string {
  words.taken('agent');
  return named(words, 'the name or ordinal of an agent');
}

const WHOM = 'all, agent NAME, alliance N, group NAME, N of group NAME or N% of group NAME';

/** Joined by `and`. */
function whomOf(words: Words): Raw[] {
  const whom = [selectorOf(words)];
  while (words.taken('and')) whom.push(selectorOf(words));
  return whom;
}

function selectorOf(words: Words): Raw {
  if (words.taken('all')) return {};
  if (words.taken('group')) return { group: words.any('the name of a group') };
  if (words.taken('alliance')) return { alliance: named(words, 'the number of an alliance') };
  if (words.taken('agent')) return { agent: named(words, 'the name or ordinal of an agent') };
  const word = words.any(WHOM);
  const [, number, percent] = /^(\d{1,9}(?:\.\d{1,9})?)(%?)$/.exec(word) ?? [];
  if (number === undefined) return { agent: word };
  if (!words.taken('of')) {
    if (percent === '%') throw words.wrong('of');
    return { agent: Number(number) };
  }
  const some = percent === '%' ? { share: Number(number) / 100 } : { count: Number(number) };
  const all = words.one('group', 'all') === 'all';
  return all ? some : { group: words.any('the name of a group'), ...some };
}

/** All that is left, as it would stand in a scenario: `0.5`, `follower`, `{ kind: lazy }`. */
function valueIn(words: Words): unknown {
  const expected = 'a value as a scenario has it';
  if (words.peek === undefined) throw words.wrong(expected);
  const before = words.wrong(expected);
  const text = words.rest(expected);
  try {
    return parse(text, { maxAliasCount: 0 }) as unknown;
  } catch {
    throw before;
  }
}
