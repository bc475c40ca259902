/**
 * The first script in a machine. It removes everything from the language that depends on more than
 * the arguments of a call, then hands out the function through which the host calls a module.
 *
 * The function gets a request as JSON text and replies with a text. The first character of the
 * reply tells its kind: `V` a value, `T` an exception, `M` a limit of the interpreter, `X` a value
 * that is not valid, `E` a problem in the module. The script keeps its own references to what it
 * uses, because a module may change all objects that it can reach.
 */
export const prelude = String.raw`(hostDraw) => {
'use strict';
const { parse, stringify } = JSON;
const { apply, ownKeys } = Reflect;
const { create, fromEntries, keys, getPrototypeOf } = Object;
const { isSafeInteger } = Number;
const { isArray } = Array;
const InternalError = globalThis.InternalError;
const objects = Object.prototype;

const kept = [
  'Array', 'BigInt', 'Boolean', 'Error', 'Infinity', 'JSON', 'Map', 'Math', 'NaN', 'Number',
  'Object', 'RangeError', 'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'SyntaxError',
  'TypeError', 'WeakMap', 'WeakSet', 'globalThis', 'isFinite', 'isNaN', 'parseFloat', 'parseInt',
  'undefined',
];
// Functions that create code. Their prototypes are reachable from any function.
for (const one of [() => {}, function* () {}, async () => {}, async function* () {}]) {
  delete getPrototypeOf(one).constructor;
}
for (const [of, names] of [
  [Object.prototype, ['toLocaleString']],
  [Array.prototype, ['toLocaleString']],
  [Number.prototype, ['toLocaleString']],
  [BigInt.prototype, ['toLocaleString']],
  [String.prototype, ['localeCompare', 'normalize', 'toLocaleLowerCase', 'toLocaleUpperCase']],
  [Error, ['prepareStackTrace', 'captureStackTrace', 'stackTraceLimit']],
]) {
  for (const name of names) delete of[name];
}
// The square root is exact in IEEE 754, so it is the same in all implementations.
const exact = ['floor', 'ceil', 'trunc', 'min', 'max', 'abs', 'sign', 'imul', 'sqrt'];
globalThis.Math = fromEntries(exact.map((name) => [name, Math[name]]));
for (const name of ownKeys(globalThis)) {
  if (!kept.includes(name)) delete globalThis[name];
}

globalThis.draw = (text) => {
  if (typeof text !== 'string' || text.length > 1024) {
    throw new TypeError('draw needs a text of at most 1024 characters');
  }
  const bits = hostDraw(text);
  if (bits < 0) throw new TypeError('draw needs a block, which a weight rule does not see');
  return bits;
};

let rule;
let members;
let count;
let thrown;

const INVALID = 'X';
const decisions = ['reject', 'approve'];

/** Replies with the members of a verdict. Reads each member once. */
const formatVerdict = (raw) => {
  if (typeof raw !== 'object' || raw === null) return INVALID;
  const { status, choice, standings } = raw;
  if (status === null && choice === undefined && standings === undefined) return 'V';
  if (status !== null && (typeof status !== 'string' || status.length > 16)) return INVALID;
  const verdict = create(null);
  verdict.status = status;
  if (choice !== undefined && choice !== null) {
    if (typeof choice !== 'string' || choice.length > 1024) return INVALID;
    verdict.choice = choice;
  }
  if (standings !== undefined && standings !== null) {
    const scores = copyScores(standings);
    if (scores === null) return INVALID;
    verdict.standings = scores;
  }
  return 'V' + stringify(verdict);
};

const copyScores = (standings) => {
  if (typeof standings !== 'object' || isArray(standings)) return null;
  const parent = getPrototypeOf(standings);
  if (parent !== null && parent !== objects) return null;
  const names = keys(standings);
  if (names.length > 64) return null;
  const scores = create(null);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at];
    const score = standings[name];
    if (name.length > 64 || !isSafeInteger(score)) return null;
    scores[name] = score === 0 ? 0 : score;
  }
  return scores;
};

const early = () =>
  members.decidesEarly === true ? formatVerdict(apply(count.verdict, count, [false])) : 'V';

/*
 * Requests carry lists in place of objects, because names of members take most of the time to
 * parse.
 */
const toVote = (list) => {
  const vote = { elector: list[0], agent_id: list[1], decision: decisions[list[2]], ms: list[3] };
  if (list.length > 4) vote.ballot = list[4];
  return vote;
};

const toElectors = (list) => {
  const electors = [];
  for (let at = 0; at < list.length; at += 2) {
    electors[at / 2] = { agent: list[at], weight: list[at + 1] };
  }
  return electors;
};

const toPoll = (list) => {
  const votes = list[2];
  for (let at = 0; at < votes.length; at += 1) votes[at] = toVote(votes[at]);
  return { block: list[0], electors: toElectors(list[1]), votes, over: list[3] };
};

const toCounts = (list) => ({
  approve: list[0],
  reject: list[1],
  total: list[2],
  voted: list[3],
  electors: list[4],
  vetoes: list[5],
});

const requests = {
  __proto__: null,
  decide({ 1: counts, 2: values, 3: over }) {
    const status = apply(members.decide, rule, [toCounts(counts), values, over]);
    if (status === null) return 'V';
    return typeof status === 'string' && status.length <= 16 ? 'V' + status : INVALID;
  },
  accepts({ 1: ballot, 2: values, 3: block }) {
    return apply(members.accepts, rule, [ballot, values, block]) ? 'V1' : 'V';
  },
  tally({ 1: poll, 2: values }) {
    return formatVerdict(apply(members.tally, rule, [toPoll(poll), values]));
  },
  counter({ 1: electors, 2: values, 3: block }) {
    count = apply(members.counter, rule, [toElectors(electors), values, block]);
    return early();
  },
  add({ 1: vote }) {
    apply(count.add, count, [toVote(vote)]);
    return early();
  },
  verdict() {
    return formatVerdict(apply(count.verdict, count, [true]));
  },
  // Modules that are not rules: the host names the function.
  call({ 1: name, 2: values }) {
    return 'V' + (stringify(apply(members[name], rule, values)) ?? '');
  },
};

const load = (namespace) => {
  rule = namespace.default;
  if (typeof rule !== 'object' || rule === null) return 'Emust have an object as default export';
  members = create(null);
  for (const name of keys(rule)) members[name] = rule[name];
  const described = create(null);
  for (const name of keys(members)) {
    const member = members[name];
    described[name] = typeof member === 'function' ? { function: true } : { value: member };
  }
  const text = stringify(described);
  return text.length > 16384 ? 'Ehas too large members' : 'V' + text;
};

const describe = (error) => {
  if (typeof error !== 'object' || error === null) return 'Ethrows ' + typeof error;
  const { name, message, stack } = error;
  const text = (value) => (typeof value === 'string' ? value.slice(0, 200) : '');
  return 'Ethrows ' + text(name) + ': ' + text(message) + '\n' + text(stack);
};

const isLimit = (error) =>
  error instanceof InternalError &&
  (error.message === 'out of memory' || error.message === 'stack overflow');

return (text, value) => {
  try {
    if (text === 'load') return load(value);
    if (text === 'waits') return 'Emust not use await at its top level';
    if (text === 'failed') return isLimit(value) ? 'M' : describe(value);
    if (text === 'thrown') return describe(thrown);
    const request = parse(text);
    return requests[request[0]](request);
  } catch (error) {
    try {
      if (isLimit(error)) return 'M';
      // The host asks for the description of an exception in a separate call with its own fuel.
      thrown = error;
      return 'T';
    } catch {
      return 'T';
    }
  }
};
}`;
