/** Checks file contents: a pure core, seeded randomness, and line width. */
import { code, sources, under } from './sources.js';

/** Sources of nondeterminism, and their replacements. */
const impure: [RegExp, string][] = [
  [/\bDate\.now\b|new Date\(\)|\bperformance\b/, 'take the time from the entry'],
  [/\bMath\.random\b|\brandomUUID\b|getRandomValues/, 'take it from the command'],
  [/\bMath\.(?:sin|cos|tan|exp|log|log2|log10|pow|sqrt|cbrt|hypot)\b/, 'use integers'],
  [
    /\basync\b|\bawait\b|\bPromise\b|\bsetTimeout\((?!\))|\bqueueMicrotask\b/,
    'apply is synchronous',
  ],
  [/\bprocess\.|\bglobalThis\b|\bconsole\b/, 'the host does that'],
  [/\.localeCompare\(|toLocale|\bIntl\b/, 'compare code units'],
];

test('core: has no clock, randomness, async code or I/O', () => {
  const found = sources
    .filter(({ path }) => under(path, 'engine/core'))
    .flatMap(({ path, text, imports }) => [
      ...impure
        .filter(([pattern]) => pattern.test(code(text)))
        .map(([pattern, advice]) => `${path} has ${pattern}: ${advice}`),
      ...imports.filter((name) => name.startsWith('node:')).map((name) => `${path}: ${name}`),
    ])
    // XState requires a clock object. This clock throws.
    .filter((line) => !(line.startsWith('engine/core/changes.ts') && line.includes('setTimeout')));
  expect(found).toEqual([]);
});

/** Time and timers of Node.js, without names that a method may have. */
const timed =
  /\bnode:timers\b|\bDate\.now\b|\bperformance\.|\bhrtime\b|(?<![.\w])set(?:T|Int|Imm)\w+\(/;

test('nodes: take the time from the clock of their host, so that they run in virtual time', () => {
  // Exceptions: follows a folder of another process; waits for the end of each step.
  const allowed = ['engine/node/kept-network.ts', 'cluster/simulated/clock.ts'];
  const found = sources
    .filter(({ path }) => under(path, 'cluster') || under(path, 'engine/node'))
    .filter(({ path, text }) => timed.test(code(text)) && !allowed.includes(path))
    .map(({ path }) => `${path}: use engine/store/host-clock.ts`);
  expect(found).toEqual([]);
});

/** Functions whose results depend on Node's Unicode version. */
const byPlatform = new RegExp(
  [
    /\\p\{|\\s|\.to(?:Locale)?(?:Lower|Upper)Case\(|\.normalize\(|\.localeCompare\(|\bIntl\b/,
    /(?<!archive)\.trim(?:Start|End)?\(\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

test('engine: does not depend on the Unicode version of the platform', () => {
  // Exceptions: the tables, and a pattern that appears only in documents.
  const allowed = ['engine/protocol/text.ts', 'engine/protocol/schema/primitives.ts'];
  const found = sources
    .filter(({ path }) => under(path, 'engine') && !allowed.includes(path))
    .filter(({ text }) => byPlatform.test(code(text)))
    .map(({ path }) => `${path}: use engine/protocol/text.ts`);
  expect(found).toEqual([]);
});

test('machines: use emit and assign, without timers, children or sends', () => {
  const forbidden = /\b(?:after|delay|invoke|spawn\w*|sendTo|raise|inspect)\s*[:(]/;
  const found = sources
    .filter(
      ({ text, imports }) =>
        imports.some((to) => under(to, 'engine/core/bundled')) && forbidden.test(code(text)),
    )
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

test('sim: uses only seeded random streams', () => {
  const found = sources
    .filter(({ path, text }) => under(path, 'sim') && /\bMath\.random\b|Date\.now/.test(code(text)))
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

/** Functions with platform-dependent rounding, and powers with variable exponents. */
const transcendental = new RegExp(
  [
    /\bMath\.(?:a?(?:sin|cos|tan)h?|atan2|exp|expm1|log|log1p|log2|log10|pow|cbrt|hypot)\b/,
    /\*\*\s*[A-Za-z(-]|[A-Za-z)\]]\s*\*\*(?!\/)/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

test('sim: decisions use platform-independent rounding', () => {
  // These modules analyse finished runs and do not affect the log.
  const afterwards = ['sim/report', 'sim/measure', 'sim/compare', 'sim/conformance'];
  const found = sources
    .filter(({ path }) => under(path, 'sim') && !under(path, ...afterwards))
    .filter(({ text }) => transcendental.test(code(text)))
    .map(({ path }) => `${path}: use sim/numbers`);
  expect(found).toEqual([]);
});

test('servers: each sets request timeouts and their check interval', () => {
  const needed = ['headersTimeout', 'requestTimeout', 'connectionsCheckingInterval'];
  const shipped = ['engine', 'cluster', 'api', 'report', 'sim', 'bench/load', 'cli', 'examples'];
  const found = sources
    .filter(({ path, imports }) => {
      const isServer = imports.includes('node:http') || imports.includes('node:https');
      return under(path, ...shipped) && isServer;
    })
    .filter(({ text }) => /\bcreate(?:Tls)?Server\(/.test(code(text)))
    .flatMap(({ path, text }) =>
      needed.filter((option) => !text.includes(option)).map((option) => `${path}: set ${option}`),
    );
  expect(found).toEqual([]);
});

const COLUMNS = 100;

test(`files: lines have at most ${COLUMNS} columns, and no file has open tasks`, () => {
  const found = sources.flatMap(({ path, text }) => {
    const long = text.split('\n').findIndex((line) => [...line].length > COLUMNS);
    return [
      ...(long >= 0 ? [`${path}:${long + 1} is longer than ${COLUMNS} columns`] : []),
      ...(/\bTO[D]O\b|\bFIX[M]E\b/.test(text) ? [`${path}: finish it or drop it`] : []),
    ];
  });
  expect(found).toEqual([]);
});
