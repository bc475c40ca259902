/** The topology of a scenario: who hears whom. */
import { type Static, Type } from '../../../engine/internal.js';
import { Share, whole } from './terms.js';

export const Topology = Type.Object(
  {
    kind: Type.Enum(
      ['complete', 'ring', 'small_world', 'scale_free', 'erdos_renyi', 'groups', 'edges'],
      {
        default: 'small_world',
        description:
          'who hears whom: everybody (2,000 agents at most); a ring; a ring with some links ' +
          'rewired (Watts and Strogatz); preferential attachment (Barabasi and Albert); each ' +
          'link by chance (Erdos and Renyi); a ring inside each group, some links rewired to ' +
          'other groups; the links of a file',
      },
    ),
    degree: whole(2, 1_000, 'mean neighbours of an agent; even, except in erdos_renyi', 8),
    probability: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'erdos_renyi: of each link, in place of degree',
      }),
    ),
    rewired: Share('of links that lead elsewhere, in small_world and groups', 0.1),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          "edges: a CSV file in the scenario's folder, a line a,b for each link: agents by " +
          'ordinal from 0, or by name',
      }),
    ),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'the social graph, along which votes and memes are heard',
  },
);

export type Topology = Static<typeof Topology>;
