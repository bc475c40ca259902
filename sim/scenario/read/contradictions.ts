/** Two interventions that say different things of the same at the same instant. */
import { isDeepStrictEqual } from 'node:util';
import { momentText, type Names, selectedBy } from '../interventions.js';
import type { Problem } from '../problem.js';
import type {
  Intervention,
  InterventionKind,
  InterventionOf,
  Whom,
} from '../schema/interventions/interventions.js';
import type { Scenario } from '../schema/scenario.js';

/** What it says of what: `vote 3 17` is `reject`. */
type Claim = readonly [of: string, is: unknown];

/** The ordinals that selectors name before the run. */
type Of = (whom: readonly Whom[]) => number[];

type Claims = {
  [K in InterventionKind]: (one: InterventionOf<K>, of: Of, names: Names) => Claim[];
};

const claims: Claims = {
  mute: () => [],
  dissolve: () => [],
  redraw: ({ seed }) => [['chance', seed]],
  silence: ({ whom }, of) => of(whom).map((agent) => [`agent ${agent}`, 'silent']),
  remove: ({ whom }, of) => of(whom).map((agent) => [`agent ${agent}`, 'gone']),
  drop: ({ block }) => (block === undefined ? [] : [[`block ${block}`, 'dropped']]),
  vote({ agent, block, decision }, _, names) {
    const voter = names.ordinalOf(agent);
    return [
      [`vote of agent ${voter} on block ${block}`, decision],
      ...(decision === 'none' ? [] : ([[`agent ${voter}`, 'a voter']] as const)),
      [`block ${block}`, 'voted on'],
    ];
  },
  strategy: ({ whom, strategy }, of) =>
    of(whom).map((agent) => [`strategy of agent ${agent}`, strategy]),
  traits: ({ whom, traits }, of) =>
    of(whom).flatMap((agent) =>
      Object.entries(traits).map(([name, value]) => [`${name} of agent ${agent}`, value] as const),
    ),
  set: ({ path, value }) => [[path, value]],
  link({ between, loss, factor }, _, names) {
    const ends = between.map((end) => names.ordinalOf(end)).sort((a, b) => a - b);
    const link = `link of ${ends.join(' and ')}`;
    return [
      ...(loss === undefined ? [] : ([[`loss, ${link}`, loss]] as const)),
      ...(factor === undefined ? [] : ([[`factor, ${link}`, factor]] as const)),
    ];
  },
};

/** The first, or null. */
export function contradiction(scenario: Scenario, names: Names): Problem | null {
  const said = new Map<string, { is: unknown; place: number }>();
  for (const [place, intervention] of scenario.interventions.entries()) {
    if (intervention.acts === false) continue;
    const claimsOf = claims[intervention.kind] as (...of: [Intervention, Of, Names]) => Claim[];
    const options = { place, seed: scenario.seed, membersOf: () => [] };
    const of: Of = (whom) => selectedBy(scenario, names, whom, options);
    for (const [what, is] of claimsOf(intervention, of, names)) {
      const key = `${momentText(intervention)} ${what}`;
      const before = said.get(key);
      if (!before) said.set(key, { is, place });
      else if (!isDeepStrictEqual(before.is, is)) {
        const text = `contradicts interventions.${before.place} at one instant: ${what}`;
        return { path: ['interventions', String(place)], text };
      }
    }
  }
  return null;
}
