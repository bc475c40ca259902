/**
 * Modules as decision rules: they reach nothing outside, each fault has its code, and nothing
 * survives from one call to the next.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepareSandbox } from '../../../dist/engine/index.js';
import { findGenesisProblem } from '../../../dist/engine/rules/genesis-problem.js';
import { findRuleProblem, ruleOf } from '../../../dist/engine/rules/network-rule.js';
import {
  type CountedVote,
  createElectors,
  PollCounter,
} from '../../../dist/engine/rules/poll-counter.js';
import type { Verdict } from '../../../dist/engine/rules/rule.js';
import { root } from '../../support/paths.js';

const dist = pathToFileURL(join(root, 'dist')).href;

const genesisOf = (source: string, parameters: Record<string, number> = {}) => ({
  policy: 'module',
  rule: { source, parameters },
});

const problemOf = (source: string) => findRuleProblem(genesisOf(source));

beforeAll(() => prepareSandbox());

test('module: is refused before the sandbox is loaded', async () => {
  // A copy of the module, because other tests in this process may have loaded the sandbox.
  const copy = `${dist}/engine/rules/network-rule.js?unloaded`;
  const unloaded = (await import(
    copy
  )) as typeof import('../../../dist/engine/rules/network-rule.js');
  const found = unloaded.findRuleProblem(genesisOf('export default {}'));
  expect(found?.pointer).toBe('/rule/source');
  expect(found?.message).toContain('prepareSandbox()');
  expect(() => unloaded.ruleOf(genesisOf('export default {}'))).toThrow('prepareSandbox()');
});

const block = { hash: 'ab'.repeat(32), height: 1, options: ['a', 'b'] };
const group = createElectors(
  Array.from({ length: 4 }, (_, agent) => ({ agent, weight: 1, personality: 'lawful' })),
);
const vote = (elector: number, ballot?: unknown): CountedVote => ({
  elector,
  agent_id: `${elector}`.repeat(64),
  decision: elector === 3 ? 'reject' : 'approve',
  ms: elector * 10,
  personality: 'lawful',
  ...(ballot === undefined ? {} : { ballot }),
});

/** Counts four votes and returns all verdicts, up to the one that closes the block. */
function verdictsOf(source: string, electors = group): Verdict[] {
  const counter = new PollCounter(ruleOf(genesisOf(source)), block, electors);
  const found: Verdict[] = [];
  for (let elector = 0; elector < 4; elector += 1) {
    counter.add(vote(elector));
    found.push(counter.verdict(false));
    if (found.at(-1)!.status !== null) break;
  }
  return found;
}

const lastOf = (source: string): Verdict => verdictsOf(source).at(-1)!;
const tally = (code: string) => `export default { tally(poll) { ${code} } };`;
const returns = (value: string) => lastOf(tally(`return ${value};`));
const counts = (counter: string, early = false) =>
  `export default {
    decidesEarly: ${early},
    tally: () => ({ status: 'finalized' }),
    counter(electors, values, block) { ${counter} },
  };`;
const decides = (code: string) => `export default { decide(counts, values, over) { ${code} } };`;

test('module: loads the sandbox once', async () => {
  await prepareSandbox();
  expect(prepareSandbox()).toBe(prepareSandbox());
  expect(problemOf('export default { decide: () => null }')).toBeNull();
});

/** Schemas with `anyOf`, and where their problems are. */
const anyOfProblems: [ballot: string, problem: string][] = [
  ['{ anyOf: { type: "string" } }', 'ballot.anyOf'],
  ['{ anyOf: [{ type: "string" }] }', 'ballot.anyOf'],
  ['{ anyOf: [{ type: "string" }, { type: "string" }] }', 'ballot.anyOf.1.type'],
  ['{ anyOf: [{ type: "string" }, { type: "number" }] }', 'ballot.anyOf.1.type'],
  ['{ anyOf: [{ type: "string" }, null] }', 'ballot.anyOf.1'],
  ['{ type: "string", anyOf: [] }', 'ballot.type'],
];

test.each([
  ['a syntax error', 'export default {', 'SyntaxError'],
  ['no default export', 'export const rule = {};', 'default export'],
  ['no function', 'export default {};', 'decide or tally'],
  ['both kinds', 'export default { decide() {}, tally() {} };', 'decide and tally'],
  ['a member of the other kind', 'export default { decide() {}, counter() {} };', 'counter'],
  ['an unknown member', 'export default { decide() {}, decides: 1 };', 'decides'],
  ['a value as function', 'export default { decide: 1 };', 'decide'],
  ['a bad flag', 'export default { tally() {}, decidesEarly: 1 };', 'decidesEarly'],
  ['a bad parameter', 'export default { decide() {}, parameters: { a: {} } };', 'parameter a'],
  [
    'a default outside its bounds',
    'export default { decide() {}, parameters: { a: { default: 3, minimum: 0, maximum: 2 } } };',
    'parameter a',
  ],
  ['a bad schema', 'export default { tally() {}, ballot: { type: "number" } };', 'ballot.type'],
  ...anyOfProblems.map(([ballot, problem]): [string, string, string] => [
    `a bad schema: ${ballot}`,
    `export default { tally() {}, ballot: ${ballot} };`,
    problem,
  ]),
  ['an exception', 'throw new Error("no");', 'Error: no (line 1)'],
  ['an endless loop', 'for (;;); export default {};', 'work limit'],
  ['recursion', 'const f = () => f() + 1; f(); export default {};', 'memory limit'],
  ['nested brackets', `${'('.repeat(8_000)}`, 'memory limit'],
  ['a memory bomb', 'const a = []; for (;;) a.push("x".repeat(2 ** 20) + a.length);', 'limit'],
  ['a large state', 'const a = Array(2e5).fill(1); export default { tally() {} };', 'memory'],
  ['an import', 'import fs from "node:fs"; export default { tally() {} };', 'node:fs'],
  ['await', 'await 1; export default { tally() {} };', 'await'],
])('module: %s is refused with the pointer /rule/source', (_, source, message) => {
  const found = problemOf(source);
  expect(found?.pointer).toBe('/rule/source');
  expect(found?.message).toContain(message);
});

test('module: genesis is refused for its parameters', () => {
  const source =
    'export default { decide() {}, parameters: { a: { default: 1, minimum: 0, maximum: 2 } } };';
  expect(findRuleProblem(genesisOf(source, { a: 2 }))).toBeNull();
  expect(findRuleProblem(genesisOf(source, { a: 3 }))?.pointer).toBe('/rule/parameters/a');
  expect(findRuleProblem(genesisOf(source, { b: 0 }))?.pointer).toBe('/rule/parameters/b');
  // Other parameters are missing.
  expect(findGenesisProblem({ ...genesisOf(source), network_id: 'x' })).not.toBeNull();
});

const kept = [
  'Array BigInt Boolean Error Infinity JSON Map Math NaN Number Object RangeError Reflect RegExp',
  'Set String Symbol SyntaxError TypeError WeakMap WeakSet draw globalThis isFinite isNaN',
  'parseFloat parseInt undefined',
].join(' ');

test('module: reaches only these globals', () => {
  const names = 'Reflect.ownKeys(globalThis).map(String).sort().join(" ")';
  expect(problemOf(`throw new Error(${names})`)?.message).toContain(kept.slice(0, 180));
  const whole = `if (${names} !== ${JSON.stringify(kept)}) throw 1; export default { tally() {} };`;
  expect(problemOf(whole)).toBeNull();
});

test.each([
  ...['Date', 'Intl', 'Math.random', 'Math.sin', 'Math.pow', 'eval', 'Function', 'Proxy'],
  ...['Promise', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'ArrayBuffer'],
  ...['console', 'setTimeout', 'queueMicrotask', 'process', 'require', 'fetch', 'performance'],
  ...['WebAssembly', '"".localeCompare', '"".toLocaleUpperCase', '(1).toLocaleString'],
  ...['[].toLocaleString', '({}).toLocaleString', '"".normalize', 'Error.prepareStackTrace'],
])('module: has no %s', (name) => {
  const value = `(() => { try { return typeof ${name}; } catch { return 'undefined'; } })()`;
  expect(returns(`{ status: ${value} === 'undefined' ? 'finalized' : 'rejected' }`)).toEqual({
    status: 'finalized',
  });
});

test.each([
  ['constructor of a function', '(() => {}).constructor("return 1")'],
  ['constructor of a constructor', '[].constructor.constructor("return 1")'],
  ['constructor of a generator', '(function* () {}).constructor("return 1")'],
  ['constructor of an async function', '(async () => {}).constructor("return 1")'],
  ['constructor of the host function', 'draw.constructor("return 1")'],
  ['an iterator type', 'Object.getPrototypeOf([][Symbol.iterator]()).constructor?.("return 1")'],
])('module: cannot create code with the %s', (_, expression) => {
  const probe = `let made; try { made = ${expression}; } catch {}
    return { status: typeof made === 'function' ? 'rejected' : 'finalized' };`;
  expect(lastOf(tally(probe))).toEqual({ status: 'finalized' });
});

test('module: a dynamic import and promises never run', () => {
  const source = `let ran = 0;
    import('node:fs').then(() => { ran = 1; }, () => { ran = 1; });
    (async () => { await null; ran = 1; })();
    export default { tally: () => ({ status: ran ? 'rejected' : 'finalized' }) };`;
  expect(lastOf(source)).toEqual({ status: 'finalized' });
});

test('module: changes to prototypes reach neither the host nor the next call', () => {
  const source = tally(`
    const before = Object.prototype.polluted;
    Object.prototype.polluted = 1;
    Object.prototype.toJSON = () => '{"status":"rejected"}';
    Array.prototype.map = JSON.parse = JSON.stringify = () => { throw 1; };
    Error.prepareStackTrace = () => { throw 1; };
    String.prototype.slice = undefined;
    return { status: before === undefined ? 'finalized' : 'rejected' };`);
  expect(lastOf(source)).toEqual({ status: 'finalized' });
  expect(lastOf(source)).toEqual({ status: 'finalized' });
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

const expired = (fault: string) => ({ status: 'expired', fault });

test.each([
  ['decide', decides('for (;;);')],
  ['tally', tally('for (;;);')],
  ['tally, in a native function', tally('[].indexOf.call({ length: 2 ** 53 - 1 }, 1);')],
  ['tally, in a regular expression', tally('/(a*)*b/.test("a".repeat(40));')],
  ['tally, copying', tally('const s = "a".repeat(2 ** 22); for (;;) (s + "b").indexOf("b");')],
  ['counter', counts('for (;;);')],
  ['add', counts('return { add() { for (;;); }, verdict: () => null };')],
  ['verdict', counts('return { add() {}, verdict() { for (;;); } };')],
  ['verdict of an early rule', counts('return { add() {}, verdict() { for (;;); } };', true)],
  ['a getter of the verdict', tally('return { get status() { for (;;); } };')],
])('module: an endless loop in %s ends in RULE_TIMEOUT', (_, source) => {
  expect(lastOf(source)).toEqual(expired('RULE_TIMEOUT'));
});

test.each([
  ['a memory bomb', 'let s = "ab"; for (;;) s = s.padEnd(2 * s.length, s);'],
  ['a list of texts', 'const t = "x".repeat(2 ** 18), a = []; for (;;) a.push(t.slice(1));'],
  ['recursion', 'const f = () => f() + 1; f();'],
  ['recursion through native functions', 'const f = () => [1].map(f); f();'],
  ['a cyclic text', 'const o = { toString: () => "" + o }; "" + o;'],
])('module: %s ends in RULE_MEMORY', (_, code) => {
  expect(lastOf(tally(code))).toEqual(expired('RULE_MEMORY'));
});

test.each([
  ['an exception', 'throw new Error("no");'],
  ['a value that is not an error', 'throw null;'],
  ['an error with a throwing message', 'throw { get message() { throw 1; } };'],
  ['a missing function', 'Date.now();'],
  ['a draw without a text', 'draw(1);'],
])('module: %s ends in RULE_THREW', (_, code) => {
  expect(lastOf(tally(code))).toEqual(expired('RULE_THREW'));
});

test.each([
  ['nothing', 'undefined'],
  ['a text', '"finalized"'],
  ['an unknown status', '{ status: "done" }'],
  ['no status at the end', '{ status: null }'],
  ['a missing status', '{}'],
  ['a promise', '(async () => ({ status: "finalized" }))()'],
  ['1 MB as status', '{ status: "x".repeat(2 ** 20) }'],
  ['1 MB as choice', '{ status: "finalized", choice: "x".repeat(2 ** 20) }'],
  ['an unknown choice', '{ status: "finalized", choice: "c" }'],
  ['a choice of a rejected block', '{ status: "rejected", choice: "a" }'],
  ['an object as choice', '{ status: "finalized", choice: { toString: () => "a" } }'],
  ['1 MB as name', '{ status: "finalized", standings: { ["x".repeat(2 ** 20)]: 1 } }'],
  ['65 scores', '{ status: "finalized", standings: { ...Array(65).fill(1) } }'],
  ['a fraction', '{ status: "finalized", standings: { a: 0.5 } }'],
  ['NaN', '{ status: "finalized", standings: { a: NaN } }'],
  ['infinity', '{ status: "finalized", standings: { a: Infinity } }'],
  ['a big integer', '{ status: "finalized", standings: { a: 1n } }'],
  ['an unsafe integer', '{ status: "finalized", standings: { a: 2 ** 53 } }'],
  ['a text as score', '{ status: "finalized", standings: { a: "1" } }'],
  ['a map as standings', '{ status: "finalized", standings: new Map([["a", 1]]) }'],
  ['a list as standings', '{ status: "finalized", standings: [1] }'],
])('module: a verdict with %s ends in RULE_VERDICT', (_, value) => {
  expect(returns(value)).toEqual(expired('RULE_VERDICT'));
});

test('module: an unknown decision ends in RULE_VERDICT', () => {
  expect(lastOf(decides('return "done";'))).toEqual(expired('RULE_VERDICT'));
  expect(lastOf(decides('return over ? undefined : null;'))).toEqual(expired('RULE_VERDICT'));
  expect(lastOf(decides('return null;'))).toEqual(expired('RULE_VERDICT'));
  expect(lastOf(decides('return draw("a") ? "finalized" : null;'))).toEqual(expired('RULE_THREW'));
});

test('module: a verdict keeps its known members only, each read once', () => {
  const code = `let reads = 0;
    return {
      get status() { reads += 1; return reads === 1 ? 'finalized' : 'rejected'; },
      toJSON: () => ({ status: 'rejected' }),
      choice: 'b',
      standings: { b: -0, a: 2, __proto__: null },
      fault: 'RULE_THREW',
      extra: 1,
    };`;
  const verdict = lastOf(tally(code));
  expect(verdict).toEqual({ status: 'finalized', choice: 'b', standings: { a: 2, b: 0 } });
  expect(Object.is(verdict.standings!.b, 0)).toBe(true);
});

test('module: a counter that departs from the tally ends in RULE_CONTRADICTION', () => {
  const counter = 'return { add() {}, verdict: () => ({ status: "rejected" }) };';
  expect(lastOf(counts(counter))).toEqual(expired('RULE_CONTRADICTION'));
  const same = 'return { add() {}, verdict: () => ({ status: "finalized" }) };';
  expect(lastOf(counts(same))).toEqual({ status: 'finalized' });
});

test('module: a counter sees all electors and votes, and may decide early', () => {
  const source = `export default {
    decidesEarly: true,
    tally: ({ votes }) => ({ status: votes.length > 2 ? 'finalized' : null, standings: { n: 3 } }),
    counter(electors, values, { hash }) {
      let n = 0;
      return {
        add({ elector, agent_id, decision, ms, ballot }) {
          const same = agent_id === String(elector).repeat(64) && ms === elector * 10;
          if (same && decision === 'approve' && ballot === undefined) n += electors[elector].weight;
        },
        verdict: () => (n > 2 ? { status: 'finalized', standings: { n } } : { status: null }),
      };
    },
  };`;
  const open = { status: null };
  const final = { status: 'finalized', standings: { n: 3 } };
  expect(verdictsOf(source)).toEqual([open, open, final]);
});

test('module: nothing survives from one call to the next', () => {
  const state = 'let calls = 0; const seen = new Set(); globalThis.calls = 0;';
  const count =
    'calls += 1; seen.add(calls); globalThis.calls += 1; draw.calls = 1 + (draw.calls ?? 0);';
  const early = `${state} export default { decidesEarly: true, tally({ over }) { ${count}
    const fresh = calls + seen.size + globalThis.calls + draw.calls === 4;
    return { status: !fresh ? 'rejected' : over ? 'finalized' : null }; } };`;
  const open = { status: null };
  expect(verdictsOf(early)).toEqual([open, open, open, { status: 'finalized' }]);
  expect(verdictsOf(early)).toEqual([open, open, open, { status: 'finalized' }]);
  const weight = `let calls = 0; export default { decide(counts, values, over) { calls += 1;
    return calls > 1 ? 'rejected' : over ? 'finalized' : null; } };`;
  expect(verdictsOf(weight).at(-1)).toEqual({ status: 'finalized' });
});

/** A counter that mixes all votes so far into one number. */
const mixing = `const mix = (sum, { elector, ms }) =>
  Math.imul(sum ^ (elector * 131 + ms), 16_777_619) | 0;
  export default {
    tally: ({ votes }) => ({ status: 'finalized', standings: { mix: votes.reduce(mix, 7) } }),
    counter() {
      let sum = 7;
      return {
        add(vote) { sum = mix(sum, vote); },
        verdict: () => ({ status: 'finalized', standings: { mix: sum } }),
      };
    },
  };`;

test('module: counters of more blocks than machines keep their states apart', () => {
  const rule = ruleOf(genesisOf(mixing));
  const counters = Array.from({ length: 20 }, () => new PollCounter(rule, block, group));
  for (let elector = 0; elector < 4; elector += 1) {
    for (const [at, counter] of counters.entries()) {
      counter.add({ ...vote((elector + at) % 4) });
    }
  }
  const mixes = counters.map((counter) => {
    const { status, standings } = counter.verdict(true);
    expect(status).toBe('finalized');
    return standings!.mix!;
  });
  // Four orders of votes, and the same result for the same order.
  expect([new Set(mixes).size, mixes.every((mix, at) => mix === mixes[at % 4])]).toEqual([4, true]);
});

test('module: a ballot is accepted only if the rule returns true', () => {
  const accepting = (code: string) =>
    ruleOf(
      genesisOf(`export default {
        tally: () => ({ status: 'finalized' }),
        ballot: { type: 'object', properties: { n: { type: 'integer', minimum: 0, maximum: 9 } },
          required: ['n'], additionalProperties: false },
        accepts(ballot, values, { options }) { ${code} },
      };`),
    ).findBallotProblem({ n: 3 }, block);
  expect(accepting('return ballot.n === 3 && options[1] === "b";')).toBeNull();
  for (const code of ['return false;', 'throw 1;', 'for (;;);', 'const f = () => f(); f();']) {
    expect(accepting(code)).not.toBeNull();
  }
  const rule = ruleOf(genesisOf('export default { tally() {}, accepts: () => false };'));
  expect(rule.findBallotProblem(undefined, block)).toBeNull();
});

test('module: the type of a value selects the schema of anyOf that it has to fit', () => {
  const rule = ruleOf(
    genesisOf(`export default {
      tally: () => ({ status: 'finalized' }),
      ballot: { anyOf: [
        { type: 'integer', minimum: 0, maximum: 9 },
        { type: 'array', maxItems: 2, items: { type: 'string', maxLength: 2 } },
      ] },
    };`),
  );
  const pointerOf = (ballot: unknown) => rule.findBallotProblem(ballot, block)?.pointer;
  for (const ballot of [0, 9, [], ['a', '']]) expect(pointerOf(ballot)).toBeUndefined();
  for (const ballot of [10, 0.5, 'a', null, {}, true, ['', '', '']])
    expect(pointerOf(ballot)).toBe('');
  expect(pointerOf(['a', 1])).toBe('/1');
});

test('module: sorts with equal keys and computes with floats as the language defines', () => {
  const code = `
    const names = ['b1', 'a1', 'b0', 'a0'].sort((x, y) => (x[0] < y[0] ? -1 : x[0] > y[0] ? 1 : 0));
    const order = names.join() === 'a1,a0,b1,b0';
    const floats = 0.1 + 0.2 === 0.30000000000000004 && Math.sqrt(2) === 1.4142135623730951;
    const zero = Object.is(-0, Math.trunc(-0.5)) && (10n ** 30n).toString().length === 31;
    return { status: order && floats && zero ? 'finalized' : 'rejected' };`;
  expect(lastOf(tally(code))).toEqual({ status: 'finalized' });
});

test('module: draws 32 bits of the SHA-256 of block and text', async () => {
  const { sha256Hex } = await import('../../../dist/engine/protocol/signing.js');
  const bits = Number.parseInt(sha256Hex(`${block.hash} chance`).slice(0, 8), 16);
  const found = returns('{ status: "finalized", standings: { drawn: draw("chance") } }');
  expect(found.standings).toEqual({ drawn: bits });
});

test('examples: sixty.js needs 60 % of the votes and a turnout of 40 %', () => {
  const rule = ruleOf(genesisOf(readFileSync(join(root, 'examples/rules/sixty.js'), 'utf8')));
  const decide = (approve: number, reject: number, over = true) =>
    rule.decide({ approve, reject, total: 100, voted: 0, electors: 100, vetoes: 0 }, over);
  expect([decide(24, 15), decide(24, 16)]).toEqual(['expired', 'rejected']);
  expect(decide(25, 15)).toBe('finalized');
  expect(decide(100, 0, false)).toBeNull();
  expect(rule.quota(100, 100)).toBe(61);
});

test('examples: ranked.js strikes the last option until one wins', () => {
  const rule = ruleOf(genesisOf(readFileSync(join(root, 'examples/rules/ranked.js'), 'utf8')));
  const poll = { hash: block.hash, height: 1, options: ['a', 'b', 'c'] };
  const five = createElectors(
    Array.from({ length: 5 }, (_, agent) => ({ agent, weight: 1, personality: 'lawful' })),
  );
  const counter = new PollCounter(rule, poll, five);
  for (const [elector, text] of ['ab', 'ab', 'bc', 'bc', 'cb'].entries()) {
    const ballot = { ranking: [...text] };
    expect(rule.findBallotProblem(ballot, poll)).toBeNull();
    counter.add({ ...vote(0), elector, ballot });
  }
  const standings = { a: 2, b: 3 };
  expect(counter.verdict(true)).toEqual({ status: 'finalized', choice: 'b', standings });
  expect(rule.findBallotProblem({ ranking: ['d'] }, poll)).not.toBeNull();
  expect(rule.findBallotProblem({ ranking: ['a', 'a'] }, poll)?.pointer).toBe('/ranking/1');
});

/**
 * A module spends the same fuel on every machine only if all machines run the same binary. If this
 * test fails after an update of QuickJS or of tools/metering.mjs, networks that decide by modules
 * can decide differently under the old and the new version: say so in CHANGELOG.md.
 */
test('sandbox: the binary that the build makes is the same everywhere', () => {
  const binary = readFileSync(join(root, 'dist/engine/rules/bundled/quickjs.wasm'));
  const found = createHash('sha256').update(binary).digest('hex');
  expect(found).toBe('17f5e943582ac6fa24ff765c58754ff0dddfbd73b1f25788e43731e7da5102bf');
});
