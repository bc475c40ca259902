/** Checks the tables of docs/protocol.md against the code. */
import { reasons } from 'folkmoot';
import { closeCodes, perMinute, topics } from 'folkmoot/api';
import { reads } from '../../dist/api/contract/reads.js';
import type { Declared } from '../../dist/api/contract/route.js';
import { routes } from '../../dist/api/contract/routes.js';
import { serverRoutes } from '../../dist/api/contract/server.js';
import { shownReads } from '../../dist/api/contract/views.js';
import { document, section } from './markdown.js';

const protocol = document('docs/protocol.md');

/** Returns the cells of all table rows in a text, without heads. */
function rows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line, index, lines) => {
      const head = lines[index + 1]?.startsWith('| ---');
      return line.startsWith('| ') && !line.startsWith('| ---') && !head;
    })
    .map((line) => line.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
}

test('protocol.md: has every reason, with its code, status and meaning', () => {
  const found = rows(section(protocol, '5. Outcomes and refusals'))
    // The table of pointers has two columns.
    .filter((row) => row.length > 2 && Object.hasOwn(reasons, row[0] ?? ''))
    .map(([reason, code, status, meaning]) => [reason, code, status, meaning!.split(' · ')[0]]);
  expect(found).toEqual(
    Object.entries(reasons).map(([reason, r]) => [reason, r.code, `${r.status}`, r.meaning]),
  );
});

test('protocol.md: lists exactly the routes of the code', () => {
  const part = section(protocol, '13. HTTP');
  const named = rows(part.slice(0, part.indexOf('### Envelope and headers'))).flat();
  const paths = named
    .flatMap((cell) => cell.split(', '))
    .map((cell) => /^(?:(?:GET|POST|PUT) )?(\/[\w/{}.-]*)$/.exec(cell)?.[1])
    .filter((path) => path !== undefined)
    .map((path) => path.replace(/\{\w+\}/, '{}'));
  const known = routes.map(({ path }) => path.replace(/\{\w+\}/, '{}'));
  expect(paths.sort()).toEqual([...known].sort());
});

test('protocol.md: lists the query parameters of all reads, historical reads first', () => {
  const part = section(protocol, '13. HTTP');
  const table = part.slice(part.indexOf('### Reads'), part.indexOf('- `at` in votes of an agent'));
  const shown = rows(table)
    .filter(([paths]) => paths!.startsWith('/api/'))
    .flatMap(([paths, query]) => {
      const names = query!.replace(/\(.*?\)/g, '').match(/\w+/g) ?? [];
      return paths!.split(', ').map((path) => [path, ...names]);
    });
  const declared: Declared[] = Object.values({ ...serverRoutes, ...shownReads, ...reads });
  const known = new Map(
    declared
      .filter(({ method }) => method === undefined)
      .map(({ path, query = {} }) => [path, Object.keys(query)]),
  );
  expect(shown).toEqual(shown.map(([path]) => [path, ...known.get(path!)!]));
  const dated = Object.values(reads).map(({ path }) => path);
  expect(shown.slice(0, dated.length).map(([path]) => path)).toEqual(dated);
});

test('protocol.md: has the limits of the code', () => {
  const found = rows(section(protocol, '14. Rate limits')).filter(([name]) =>
    Object.hasOwn(perMinute, name!),
  );
  const figures = found.map(([name, figure]) => [name, Number(figure)]);
  expect(Object.fromEntries(figures)).toEqual(perMinute);
});

test('protocol.md: has every topic and close code', () => {
  const codes = rows(section(protocol, '15. WebSocket'))
    .map(([code]) => Number(code))
    .filter((code) => code > 0);
  expect(codes).toEqual(Object.values(closeCodes).map(({ code }) => code));
  const named = rows(section(protocol, '10. Events')).flatMap(([, cell = '']) => cell.split(', '));
  expect([...topics].filter((topic) => !named.includes(topic))).toEqual([]);
});
