/** Compares the schema and the documents of load results with the code. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseConditions, slo } from '../../../../dist/bench/load/conditions.js';
import { findFigure } from '../../../../dist/bench/load/figures.js';
import { loadResultJsonSchema, meanings } from '../../../../dist/bench/load/result.js';
import { loadResult, saturation } from '../fixture.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const guide = readFileSync(`${root}docs/load-testing.md`, 'utf8');

const tiers = [{ name: 'engine', per_s: 21_500, of_r: 1.73 }];

test('schema: accepts results, and refuses unknown members and verdicts', () => {
  const accepts = new Ajv2020().compile(loadResultJsonSchema());
  const whole = loadResult({ seconds: 2 }, { saturation: saturation(), tiers });
  expect([accepts(whole), accepts.errors]).toEqual([true, null]);
  expect(accepts({ ...whole, colour: 'red' })).toBe(false);
  expect(accepts({ ...whole, verdict: 'GOOD' })).toBe(false);
});

test('dictionary: describes every member with a value, except format', () => {
  const whole = loadResult({ seconds: 1 }, { saturation: saturation(), tiers });
  const known = new Map(meanings().map(({ path, meaning }) => [path, meaning]));
  const leaves: string[] = [];
  const visit = (path: string, value: unknown): void => {
    // Repeated members are described only once, at the first occurrence.
    if (/(?:response|service|latency|lag)$/.test(path) && known.has(path)) return;
    if (Array.isArray(value) && typeof value[0] === 'object') return visit(`${path}[]`, value[0]);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      leaves.push(path);
      return;
    }
    for (const [name, one] of Object.entries(value)) visit(path ? `${path}.${name}` : name, one);
  };
  visit('', whole);
  expect(leaves.length).toBeGreaterThan(80);
  expect(leaves.filter((path) => !known.has(path))).toEqual(['format']);
});

test('guide: its conditions, objectives and figures are valid', () => {
  const conditions = [...guide.matchAll(/--fail-on '([^']+)'/g)].map(([, text]) => text!);
  const objectives = [...guide.matchAll(/--slo (\S+)/g)].map(([, text]) => text!);
  expect(parseConditions(conditions, { relative: true }).length).toBeGreaterThan(3);
  expect(slo(objectives.filter((text) => text.includes('='))).length).toBeGreaterThan(0);
  const [, table = ''] = guide.split('| figure ');
  const [rows = ''] = table.split('\n\n');
  const named = rows.split('\n').flatMap((row) => [...row.split('|')[1]!.matchAll(/`([\w.]+)`/g)]);
  expect(named.length).toBeGreaterThan(15);
  const bounds = { ms: '1ms', share: '1%', per_s: '1' };
  for (const [, name] of named) {
    const bound = bounds[findFigure(name!)!.unit];
    expect(parseConditions([`${name}>${bound}`], { relative: false })).toHaveLength(1);
  }
});
