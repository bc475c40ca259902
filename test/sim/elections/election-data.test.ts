/** Election data: formats of PrefLib and Pabulib, their limits, and refusals with a line. */
import {
  type DataType,
  ElectionError,
  electionLimits,
  findDataType,
  readElection,
} from '../../../dist/sim/elections/election-data.js';
import { writePrefLib } from '../../../dist/sim/elections/preflib-file.js';
import { fc, forAll } from '../../support/property.js';

const header = (type: string, lines: readonly string[] = []) => [
  `# FILE NAME: a.${type}`,
  '# TITLE: Capitals',
  `# DATA TYPE: ${type}`,
  '# NUMBER ALTERNATIVES: 3',
  ...lines,
  '# ALTERNATIVE NAME 1: Red, "dark"',
  '# ALTERNATIVE NAME 2: Green: light',
  '# ALTERNATIVE NAME 3: Blue {3}',
];
const prefLib = (type: string, orders: readonly string[], lines: readonly string[] = []) =>
  [...header(type, lines), ...orders, ''].join('\n');

const pabulib = (
  { meta = [] as string[], projects = ['1;10;Park', '2;20;"Path; part II"', '4;5;Park'] },
  votes: readonly string[],
) =>
  [
    ...['META', 'key;value', 'description;Small town', ...meta],
    ...['PROJECTS', 'project_id;cost;name', ...projects],
    ...['VOTES', ...votes, ''],
  ].join('\n');

function refusal(text: string, type: DataType) {
  try {
    readElection(text, type);
  } catch (error) {
    expect(error).toBeInstanceOf(ElectionError);
    const { code, line, message } = error as ElectionError;
    expect(message).toMatch(/^[^\n]+$/);
    return { code, line };
  }
  return null;
}

const orders = ({ ballots }: ReturnType<typeof readElection>) =>
  ballots.map(({ count, ballot, line }) => ({ count, tiers: ballot.tiers, line }));

test('PrefLib: reads orders of all types, with names, counts and lines', () => {
  const lines = ['# NUMBER VOTERS: 8', '# NUMBER UNIQUE ORDERS: 3'];
  const toi = readElection(prefLib('toi', ['5: 1,{2,3}', '2: 2', '1:{ 1 , 3 }'], lines), 'toi');
  expect(toi).toMatchObject({ title: 'Capitals', form: 'ranking', voters: 8 });
  expect(toi.alternatives).toEqual(['Red, "dark"', 'Green: light', 'Blue {3}']);
  expect(orders(toi)).toEqual([
    { count: 5, tiers: [[0], [1, 2]], line: 10 },
    { count: 2, tiers: [[1]], line: 11 },
    { count: 1, tiers: [[0, 2]], line: 12 },
  ]);
  expect(orders(readElection(prefLib('soc', ['1: 3,1,2']), 'soc'))[0]!.tiers).toEqual([
    [2],
    [0],
    [1],
  ]);
  expect(orders(readElection(prefLib('soi', ['1: 3']), 'soi'))[0]!.tiers).toEqual([[2]]);
  const windows = `\uFEFF${prefLib('toc', ['1: {1,2,3}', '']).replaceAll('\n', '\r\n')}`;
  expect(orders(readElection(windows, 'toc'))[0]!.tiers).toEqual([[0, 1, 2]]);
});

test.each<[what: string, text: string, type: DataType, code: string, line: number]>([
  ['an empty file', '', 'soc', 'MISSING_HEADER', 1],
  ['the format before 2021', '3\n1,Red\n2,Green\n', 'soc', 'MISSING_HEADER', 1],
  ['no orders', prefLib('soc', []), 'soc', 'EMPTY', 8],
  ['another type', prefLib('cat', ['1: 1,2,3']), 'soc', 'INVALID_TYPE', 3],
  ['a late header', prefLib('soc', ['1: 1,2,3', '# TITLE: x']), 'soc', 'LATE_HEADER', 9],
  ['a repeated key', prefLib('soc', ['# TITLE: b']), 'soc', 'REPEATED', 8],
  ['a wrong sum', prefLib('soi', ['2: 1'], ['# NUMBER VOTERS: 3']), 'soi', 'WRONG_SUM', 5],
  ['lost orders', prefLib('soi', ['2: 1'], ['# NUMBER UNIQUE ORDERS: 2']), 'soi', 'WRONG_SUM', 5],
  ['no alternatives', '# NUMBER ALTERNATIVES: 0\n1: 1\n', 'soi', 'INVALID_COUNT', 1],
  ['too many alternatives', '# NUMBER ALTERNATIVES: 1001\n1: 1\n', 'soi', 'INVALID_COUNT', 1],
  ['a lost name', '# NUMBER ALTERNATIVES: 1\n1: 1\n', 'soi', 'NAME_MISSING', 1],
  ['repeated', prefLib('soi', ['1: 1']).replace('Blue {3}', 'Red, "dark"'), 'soi', 'REPEATED', 7],
  ['an empty name', prefLib('soi', ['1: 1']).replace('Blue {3}', ''), 'soi', 'INVALID_NAME', 7],
  ['an escape', prefLib('soi', ['1: 1']).replace('Blue', '\u001b[2J'), 'soi', 'INVALID_NAME', 7],
  ['a tie in soc', prefLib('soc', ['1: 1,{2,3}']), 'soc', 'TIE', 8],
  ['a tie in soi', prefLib('soi', ['1: {2,3}']), 'soi', 'TIE', 8],
  ['a part in soc', prefLib('soc', ['1: 1,2']), 'soc', 'INCOMPLETE', 8],
  ['a part in toc', prefLib('toc', ['1: {1,2}']), 'toc', 'INCOMPLETE', 8],
  ['a count of 0', prefLib('soi', ['0: 1']), 'soi', 'INVALID_COUNT', 8],
  ['a negative count', prefLib('soi', ['-1: 1']), 'soi', 'INVALID_COUNT', 8],
  ['an exponent', prefLib('soi', ['1e3: 1']), 'soi', 'INVALID_COUNT', 8],
  ['too many voters', prefLib('soi', ['100000000: 1', '1: 2']), 'soi', 'TOO_MANY', 9],
  ['no colon', prefLib('soi', ['1,2,3']), 'soi', 'INVALID_ORDER', 8],
  ['alternative 0', prefLib('soi', ['1: 0']), 'soi', 'UNKNOWN_ALTERNATIVE', 8],
  ['alternative 4', prefLib('soi', ['1: 1,4']), 'soi', 'UNKNOWN_ALTERNATIVE', 8],
  ['a word', prefLib('soi', ['1: x']), 'soi', 'UNKNOWN_ALTERNATIVE', 8],
  ['a repetition', prefLib('soi', ['1: 1,2,1']), 'soi', 'REPEATED_ALTERNATIVE', 8],
  ...[
    '',
    ',',
    '1,',
    ',1',
    '1 2',
    '{',
    '{}',
    '{1',
    '1}',
    '{1},',
    '{{1}}',
    '{1,}',
    '{1}2',
    '1,,2',
  ].map((order): [string, string, DataType, string, number] => [
    `the order "${order}"`,
    prefLib('toi', [`1: ${order}`]),
    'toi',
    'INVALID_ORDER',
    8,
  ]),
])('PrefLib: refuses %s', (_, text, type, code, line) => {
  expect(refusal(text, type)).toEqual({ code, line });
});

test('PrefLib: a tie of one alternative reads as a single rank', () => {
  expect(orders(readElection(prefLib('soi', ['1: {2}']), 'soi'))[0]!.tiers).toEqual([[1]]);
});

test('PrefLib: limits the bytes of a file', () => {
  const text = `# ${'x'.repeat(electionLimits.bytes)}`;
  expect(refusal(text, 'soc')).toEqual({ code: 'TOO_LARGE', line: 1 });
});

describe('Pabulib', () => {
  test('reads approvals, orders and points', () => {
    const columns = 'voter_id;age;vote';
    const approval = pabulib({ meta: ['vote_type;approval', 'num_votes;3'] }, [
      ...[columns, 'a;20;1,4', 'b;30;2', 'c;40;'],
    ]);
    const data = readElection(approval, 'pb');
    expect(data).toMatchObject({ title: 'Small town', form: 'approval', voters: 3 });
    expect(data.alternatives).toEqual(['Park', 'Path; part II', 'Park 4']);
    expect(data.ballots.map(({ ballot }) => ballot.tiers)).toEqual([[[0, 2]], [[1]], []]);
    const ordinal = pabulib({ meta: ['vote_type;ordinal'] }, [columns, 'a;20;4,1']);
    expect(readElection(ordinal, 'pb')).toMatchObject({
      form: 'ranking',
      ballots: [{ ballot: { tiers: [[2], [0]] } }],
    });
    const cumulative = pabulib({ meta: ['vote_type;cumulative'] }, [
      ...['voter_id;vote;points', 'a;1,2,4;3,5,3'],
    ]);
    expect(readElection(cumulative, 'pb')).toMatchObject({
      form: 'points',
      ballots: [{ ballot: { tiers: [[1], [0, 2]], points: [5, 3, 3] }, line: 12 }],
    });
  });

  const approval = { meta: ['vote_type;approval'] };
  test.each<[what: string, text: string, code: string, line: number]>([
    ['an empty file', '', 'NO_SECTION', 1],
    ['no title', 'key;value\n', 'NO_SECTION', 1],
    ['no votes', 'META\nkey;value\nPROJECTS\n', 'NO_SECTION', 3],
    ['an unknown type', pabulib({ meta: ['vote_type;secret'] }, ['vote']), 'INVALID_TYPE', 4],
    ['no type', pabulib({}, ['voter_id;vote', '1;1']), 'INVALID_TYPE', 1],
    ['a prototype type', pabulib({ meta: ['vote_type;constructor'] }, []), 'INVALID_TYPE', 4],
    ['a repeated key', pabulib({ meta: ['a;1', 'a;2'] }, []), 'REPEATED', 5],
    ['no vote column', pabulib(approval, ['voter_id;x', '1;1']), 'NO_COLUMN', 10],
    ['no points', pabulib({ meta: ['vote_type;scoring'] }, ['v;vote', '1;1']), 'NO_COLUMN', 10],
    [
      'few points',
      pabulib({ meta: ['vote_type;scoring'] }, ['vote;points', '1,2;5']),
      'INVALID_POINTS',
      12,
    ],
    ['an unknown project', pabulib(approval, ['v;vote', '1;3']), 'UNKNOWN_ALTERNATIVE', 12],
    ['a repeated project', pabulib(approval, ['v;vote', '1;1,1']), 'REPEATED_ALTERNATIVE', 12],
    ['many values', pabulib(approval, ['v;vote', '1;1;2']), 'WRONG_CELLS', 12],
    ['equals', pabulib({ ...approval, projects: ['1;1;a', '1;1;b'] }, ['v;vote']), 'REPEATED', 8],
    ['an empty section', pabulib({ ...approval, projects: [] }, ['v;vote', '1;']), 'EMPTY', 5],
    ['no ballots', pabulib(approval, ['v;vote']), 'EMPTY', 10],
    [
      'lost votes',
      pabulib({ meta: ['vote_type;approval', 'num_votes;2'] }, ['v;vote', '1;1']),
      'WRONG_SUM',
      5,
    ],
    ['an open quote', pabulib(approval, ['v;vote', '1;"1']), 'INVALID_CSV', 12],
  ])('refuses %s', (_, text, code, line) => {
    expect(refusal(text, 'pb')).toEqual({ code, line });
  });
});

test('Pabulib values may be quoted, over several lines, and contain quotes', () => {
  const projects = ['1;x;"a; ""b"""', '2;"x\ny"; c "d" ', '4;x; "e" f', '5 ; "" ; g'];
  const text = pabulib({ meta: ['vote_type;approval'], projects }, ['v;vote', '1;"1,2"', '']);
  const data = readElection(text.replaceAll('\n', '\r\n'), 'pb');
  expect(data.alternatives).toEqual(['a; "b"', 'c "d"', '"e" f', 'g']);
  expect(data.ballots).toMatchObject([{ ballot: { tiers: [[0, 1]] }, line: 14 }]);
  expect(readElection(text, 'pb')).toEqual(data);
});

test('rows and headers are bounded before they are parsed', () => {
  const approval = { meta: ['vote_type;approval'] };
  const long = (row: string) => refusal(pabulib(approval, ['v;vote', row]), 'pb');
  expect(long(`1;1${';'.repeat(20_000_000)}`)).toEqual({ code: 'TOO_MANY', line: 12 });
  expect(long(`1;1${';'.repeat(2_000)}`)).toEqual({ code: 'TOO_MANY', line: 12 });
  expect(long(`1;"${'\n'.repeat(2_000_000)}"`)).toEqual({ code: 'TOO_MANY', line: 12 });
  expect(long(`1;${'"";'.repeat(300_000)}`)).toEqual({ code: 'TOO_MANY', line: 12 });
  const meta = Array.from({ length: 1_001 }, (_, at) => `key${at};1`);
  expect(refusal(pabulib({ meta }, []), 'pb')).toEqual({ code: 'TOO_MANY', line: 1_003 });
  const headers = Array.from({ length: 2_001 }, (_, at) => `# K${at}: 1`).join('\n');
  expect(refusal(headers, 'soc')).toEqual({ code: 'TOO_MANY', line: 2_001 });
});

test('invalid ballots can be skipped, but no other problem', () => {
  const skipInvalid = true;
  const orders = ['2: 1', '3: 7', 'x', '4: 2', '# TITLE: late'];
  const text = prefLib('soi', orders, ['# NUMBER VOTERS: 9']);
  const data = readElection(text, 'soi', { skipInvalid });
  expect(data).toMatchObject({ voters: 6, skipped: { lines: 3, first: { line: 10 } } });
  const votes = pabulib({ meta: ['vote_type;approval', 'num_votes;3'] }, [
    ...['v;vote', '1;1', '2;9', '3;1,1'],
  ]);
  expect(readElection(votes, 'pb', { skipInvalid })).toMatchObject({
    voters: 1,
    skipped: { lines: 2, first: { line: 14 } },
  });
  const none = prefLib('soi', ['x']);
  expect(() => readElection(none, 'soi', { skipInvalid })).toThrow(ElectionError);
  expect(readElection(prefLib('soi', ['1: 1']), 'soi', { skipInvalid }).skipped).toBe(undefined);
});

test('the type follows from the file extension', () => {
  expect(['a/b.c.soc', 'X.TOI', 'town.pb'].map(findDataType)).toEqual(['soc', 'toi', 'pb']);
  expect(() => findDataType('votes.csv')).toThrow(ElectionError);
});

/** Election of up to six alternatives, with ties and incomplete orders. */
const elections = fc.integer({ min: 1, max: 6 }).chain((size) => {
  const all = Array.from({ length: size }, (_, at) => at);
  const tiers = fc
    .tuple(
      fc.shuffledSubarray(all, { minLength: 1 }),
      fc.array(fc.boolean(), { minLength: size, maxLength: size }),
    )
    .map(([order, ties]) => {
      const found: number[][] = [];
      for (const [at, one] of order.entries()) {
        if (at > 0 && ties[at]) found.at(-1)!.push(one);
        else found.push([one]);
      }
      return found.map((tier) => tier.sort((one, other) => one - other));
    });
  const names = fc.uniqueArray(
    fc.string({ minLength: 1, maxLength: 12 }).filter((name) => /^\S(.*\S)?$/.test(name)),
    { minLength: size, maxLength: size },
  );
  const ballots = fc.array(
    fc.record({ count: fc.integer({ min: 1, max: 9 }), ballot: fc.record({ tiers }) }),
    { minLength: 1, maxLength: 12 },
  );
  return fc.record({ alternatives: names, ballots, title: fc.string({ maxLength: 20 }) });
});

/** Counts the voters with each order. */
function countByOrder(ballots: readonly { count: number; ballot: { tiers: unknown } }[]) {
  const counts = new Map<string, number>();
  for (const { count, ballot } of ballots) {
    const order = JSON.stringify(ballot.tiers);
    counts.set(order, (counts.get(order) ?? 0) + count);
  }
  return counts;
}

test('reading a written file gives the same orders, and writing them again the same file', () => {
  forAll([elections], (election) => {
    const { type, text } = writePrefLib({ ...election, name: 'x' });
    const read = readElection(text, type);
    expect(read.alternatives).toEqual(election.alternatives);
    expect(countByOrder(read.ballots)).toEqual(countByOrder(election.ballots));
    expect(new Set(read.ballots.map(({ ballot }) => JSON.stringify(ballot))).size).toBe(
      read.ballots.length,
    );
    expect(writePrefLib({ ...read, name: 'x' })).toEqual({ type, text });
    const wider = { soc: 'soi', soi: 'toi', toc: 'toi', toi: null } as const;
    const next = wider[type];
    if (next) expect(refusal(text.replace(`TYPE: ${type}`, `TYPE: ${next}`), next)).toBeNull();
  });
});

test('any text is read or refused with a line of the text', () => {
  const types = fc.constantFrom<DataType>('soc', 'soi', 'toc', 'toi', 'pb');
  const part = fc.constantFrom(
    ...['# NUMBER ALTERNATIVES: 2\n', '# ALTERNATIVE NAME 1: a\n', '# ALTERNATIVE NAME 2: b\n'],
    ...['1: 1,2\n', '{', '}', ',', ':', ';', '"', '\n', 'META\n', 'PROJECTS\n', 'VOTES\n'],
    ...['key;value\n', 'vote_type;approval\n', 'project_id\n', 'vote;x\n', '1;\n', '9'],
  );
  const texts = fc.oneof(
    fc.array(part, { maxLength: 25 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 60 }),
  );
  forAll([texts, types], { numRuns: 500 }, (text, type) => {
    const found = refusal(text, type);
    if (!found) return;
    expect(found.line).toBeGreaterThanOrEqual(1);
    expect(found.line).toBeLessThanOrEqual(text.split(/\r\n|\r|\n/).length + 1);
  });
});
