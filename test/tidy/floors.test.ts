/** Checks the order of floors: imports go down, folder by folder. */
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { known, offences, sources } from './sources.js';

/** Folders in which the order of floors is fixed, from the lowest; a file counts as one, too. */
const floors: Record<string, string> = {
  '': 'engine cluster api report ui sim testing bench cli test',
  engine: 'protocol crypto store core admit node replay certificate history index.ts',
  api:
    'view contract documents exported checks limits transport socket http load client server.ts ' +
    'index.ts',
  bench: 'raw load fixtures servers clients cases',
  'bench/load':
    'server send prepare record agents chain workloads run figures saturate ' +
    'report shown files index.ts',
  sim:
    'rng.ts scenario agents world audit measure run ' +
    'compare queue conformance report sweep fork shown swarm why validation index.ts',
  'sim/agents': 'keys.ts port actions strategies script deciders create.ts behaviour.ts',
  'sim/world': 'messages.ts observer.ts links gateway society virtual live.ts',
  ui: 'look home data route parts player clock views shell main.tsx exported',
  cli: 'output options commands main.ts',
};

/** What lies directly in a folder and holds the path: a file's name or a folder's. */
const child = (folder: string, path: string) => {
  const prefix = folder ? `${folder}/` : '';
  return path.startsWith(prefix) ? path.slice(prefix.length).split('/')[0]! : null;
};

test.each(Object.entries(floors))('floors: in "%s", imports go down', (folder, order) => {
  const names = order.split(' ');
  const wrong = offences(({ path }, to) => {
    const [from, target] = [child(folder, path), child(folder, to)];
    if (!from || !target || names.indexOf(target) <= names.indexOf(from)) return null;
    if (!names.includes(from)) return null;
    return `the floors are ${names.join(', ')}: move what both need down, or pass it in`;
  });
  expect(wrong).toEqual([]);
});

/** Every folder with code in it. */
const rooms = [...new Set(sources.flatMap(({ path }) => above(path)))].sort();

function above(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [''] : [parent, ...above(parent)];
}

test('floors: in every folder, what lies in it can be ordered without upward arrows', () => {
  const found = rooms.flatMap((folder) => {
    const arrows = new Map<string, Set<string>>();
    for (const { path, imports } of sources) {
      const from = child(folder, path);
      if (!from) continue;
      const below = arrows.get(from) ?? new Set();
      for (const to of imports) {
        const target = known.has(to) ? child(folder, to) : null;
        if (target && target !== from) below.add(target);
      }
      arrows.set(from, below);
    }
    return circle(arrows).map((names) => `${folder || '.'}: ${names}`);
  });
  expect(found).toEqual([]);
});

/** The first circle in a graph, as a line, or nothing. */
function circle(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const done = new Set<string>();
  const visit = (name: string, trail: string[]): string[] => {
    if (trail.includes(name)) return [[...trail.slice(trail.indexOf(name)), name].join(' -> ')];
    if (done.has(name)) return [];
    for (const next of graph.get(name) ?? []) {
      const found = visit(next, [...trail, name]);
      if (found.length) return found;
    }
    done.add(name);
    return [];
  };
  for (const name of graph.keys()) {
    const found = visit(name, []);
    if (found.length) return found;
  }
  return [];
}

test('imports: no circles', () => {
  expect(circle(new Map(sources.map(({ path, imports }) => [path, imports])))).toEqual([]);
});
