/** Checks the order of floors: imports go down, folder by folder. */
import { dirname } from 'node:path';
import { known, offences, sources } from './sources.js';

/** Fixed order of floors per folder, lowest first. A file also counts as a floor. */
const floors: Record<string, string> = {
  '': 'engine cluster api report ui sim testing bench cli test',
  engine: 'protocol rules crypto store core admit node replay certificate history index.ts',
  api:
    'view contract documents exported checks limits transport socket http load client server.ts ' +
    'index.ts',
  bench: 'raw load fixtures servers clients cases',
  'bench/load':
    'executors.ts server.ts nodes.ts event-stream.ts schedule.ts sender.ts signers.ts ' +
    'blocks.ts recorder.ts ' +
    'agents.ts voting.ts chain.ts workloads verdict.ts measurement.ts run.ts figures.ts ' +
    'saturation.ts merge.ts model.ts charts.ts report.ts live-progress.ts files.ts',
  sim:
    'numbers.ts rng.ts scenario agents world audit measure run compare queue conformance rules ' +
    'report sweep fork decision-index.ts run-view.ts swarm attribution index.ts',
  'sim/agents': 'port.ts actions.ts strategies.ts script deciders create.ts behaviour.ts',
  'sim/world':
    'messages.ts observer.ts faults.ts graph.ts latency.ts links.ts gateway.ts ' +
    'due-queue.ts gossip.ts knowledge.ts event-calls.ts society.ts local-world.ts live-world.ts',
  ui:
    'styles home.ts data verify route.ts components player world-clock.tsx time-bar.tsx views ' +
    'shell.tsx load main.tsx exported',
  cli: 'output options commands run.ts main.ts',
};

/** Returns a folder's direct child that contains a path. */
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
    return `the floors are ${names.join(', ')}: move shared code down, or pass it in`;
  });
  expect(wrong).toEqual([]);
});

/** All folders with code. */
const rooms = [...new Set(sources.flatMap(({ path }) => above(path)))].sort();

function above(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [''] : [parent, ...above(parent)];
}

test('floors: the imports in every folder form no cycle', () => {
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

/** Returns the first cycle in a graph as one line of text. */
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
