/** Random polls for the check of a decision rule, with ballots that the rule accepts. */
import type { BallotSchema } from '../../engine/rules/ballots.js';
import { OPTIONS } from '../../engine/rules/election.js';
import type { NetworkRule } from '../../engine/rules/network-rule.js';
import type { CountedVote } from '../../engine/rules/poll-counter.js';
import { isWeightRule, type PollBlock } from '../../engine/rules/rule.js';
import { mix, type Stream, shuffle } from '../rng.js';

interface PollElector {
  agent: number;
  agent_id: string;
  personality: string;
  weight: number;
}

export interface RandomPoll {
  block: PollBlock;
  electors: readonly PollElector[];
  /** In counting order. */
  votes: readonly CountedVote[];
}

/** Ballots that were drawn, and those that the rule accepted. */
export interface DrawnBallots {
  votes: number;
  accepted: number;
}

/** Size of a poll; drawn at random if absent. */
export interface PollSize {
  electors: number;
  options: number;
}

/** Largest random electorate. Special cases, such as ties, are more frequent in small ones. */
const ELECTORS = 20;
/** Attempts to draw a ballot that the rule accepts. */
const ATTEMPTS = 16;

const personalities = ['lawful', 'chaotic', 'greedy'] as const;

/** Draws a poll. Adds its ballots to the counts. */
export function drawPoll(
  rule: NetworkRule,
  stream: Stream,
  counts: DrawnBallots,
  size?: PollSize,
): RandomPoll {
  const block = drawBlock(rule, stream, size);
  const electors = drawElectors(stream, size?.electors ?? 1 + stream.int(ELECTORS));
  const silent = size || stream.chance(0.5) ? 0 : stream.int(electors.length + 1);
  const order = [...shuffle(electors.length, stream)].slice(0, electors.length - silent);
  // Some polls are close, and some are clear.
  const approving = stream.pick([0, 20, 50, 50, 80, 100]);
  let ms = 0;
  const votes = order.map((elector): CountedVote => {
    ms += stream.int(1_000);
    const { agent_id, personality } = electors[elector]!;
    const decision = stream.int(100) < approving ? 'approve' : 'reject';
    const vote: CountedVote = { elector, agent_id, personality, decision, ms };
    if (!rule.takesBallots || stream.chance(0.1)) return vote;
    const ballot = drawAccepted(rule, { block, electors }, stream);
    counts.votes += 1;
    if (ballot === undefined) return vote;
    counts.accepted += 1;
    return { ...vote, ballot };
  });
  return { block, electors, votes };
}

function drawBlock(rule: NetworkRule, stream: Stream, size?: PollSize): PollBlock {
  const words = Array.from({ length: 8 }, () => stream.int(2 ** 32));
  const hash = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const drawn = stream.chance(0.1) ? 0 : 2 + stream.int(stream.chance(0.8) ? 4 : OPTIONS - 1);
  const count = rule.usesOptions ? (size?.options ?? drawn) : 0;
  const names = Array.from({ length: count }, (_, at) => optionNames[at] ?? `option-${at}`);
  return { hash, height: 1 + stream.int(1_000), options: names };
}

/** Names of options, some of them members of every object, which a careless rule confuses. */
const optionNames = ['a', 'b', 'constructor', 'toString', '0', 'valueOf'] as const;

function drawElectors(stream: Stream, count: number): PollElector[] {
  const most = stream.pick([1, 3, 10, 100, 100_000]);
  return Array.from({ length: count }, (_, at) => ({
    agent: at,
    agent_id: `agent_${[0, 1, 2, 3].map((word) => hex(mix(at, word))).join('')}`,
    personality: stream.pick(personalities),
    weight: 1 + stream.int(most),
  }));
}

const hex = (word: number) => word.toString(16).padStart(8, '0');

/** Returns undefined if the rule accepts no drawn ballot. */
function drawAccepted(
  rule: NetworkRule,
  { block, electors }: Pick<RandomPoll, 'block' | 'electors'>,
  stream: Stream,
): unknown {
  if (isWeightRule(rule.rule) || !rule.rule.ballot) return undefined;
  const agents = electors.map(({ agent_id }) => agent_id);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    // Most texts in ballots name options. The others name agents, or are free.
    const texts = [block.options, block.options, agents, freeTexts][attempt % 4]!;
    const ballot = drawValue(rule.rule.ballot, texts.length === 0 ? freeTexts : texts, stream);
    if (rule.findBallotProblem(ballot, block) === null) return ballot;
  }
  return undefined;
}

const freeTexts = ['', 'x', 'yes', 'no', 'é', '\u{1f5f3}', '__proto__', 'x'.repeat(64)];

/** Draws a value that mostly fits the schema. */
function drawValue(schema: BallotSchema, texts: readonly string[], stream: Stream): unknown {
  switch (schema.type) {
    case 'string':
      return stream.pick(schema.enum?.length ? schema.enum : texts);
    case 'integer':
      return drawInteger(schema, stream);
    case 'array':
      return drawItems(schema, texts, stream);
    case 'object':
      return drawObject(schema, texts, stream);
    default:
      return drawValue(stream.pick(schema.anyOf), texts, stream);
  }
}

/** Half of the numbers are near the minimum, because parameters of a rule can bound them. */
function drawInteger({ minimum, maximum }: BallotSchema & { type: 'integer' }, stream: Stream) {
  if (maximum <= minimum) return minimum;
  const span = Math.min(maximum - minimum + 1, 2 ** 53);
  if (stream.chance(0.1)) return stream.pick([minimum, maximum]);
  return minimum + stream.int(stream.chance(0.5) ? Math.min(span, 8) : span);
}

function drawItems(
  { items, minItems = 0, maxItems, uniqueItems }: BallotSchema & { type: 'array' },
  texts: readonly string[],
  stream: Stream,
): unknown[] {
  const most = Math.max(minItems, Math.min(maxItems, OPTIONS, texts.length));
  const length = minItems + stream.int(most - minItems + 1);
  const drawn: unknown[] = [];
  const seen = new Set<string>();
  let left = texts;
  for (let attempt = 0; drawn.length < length && attempt < 4 * length; attempt += 1) {
    const item = drawValue(items, left, stream);
    const text = JSON.stringify(item);
    if (uniqueItems && seen.has(text)) continue;
    seen.add(text);
    drawn.push(item);
    if (!uniqueItems) continue;
    // Options are distinct over all tiers of a ranking.
    left = left.filter((one) => ![item].flat().includes(one));
    if (left.length === 0) break;
  }
  return drawn;
}

function drawObject(
  schema: Extract<BallotSchema, { type: 'object' }>,
  texts: readonly string[],
  stream: Stream,
): object {
  const isFixed = 'properties' in schema;
  const names = isFixed
    ? Object.keys(schema.properties).filter(
        (name) => schema.required?.includes(name) || stream.chance(0.5),
      )
    : stream.shuffle(texts).slice(0, stream.int(Math.min(schema.maxProperties, OPTIONS) + 1));
  const schemaOf = (name: string) =>
    isFixed ? schema.properties[name]! : schema.additionalProperties;
  return Object.fromEntries(names.map((name) => [name, drawValue(schemaOf(name), texts, stream)]));
}
