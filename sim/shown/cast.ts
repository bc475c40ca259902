/** Who of a network is who of a scenario: ids follow from keys, and those from seed and ordinal. */
import { agentId } from '../../engine/protocol/signing.js';
import { signatoryOf, unsignedSignatoryOf } from '../agents/keys.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** As the population names them: lawful-17. */
const numbered = /-(\d{1,6})$/;

export class Cast {
  readonly #population: number;
  readonly #idOf: (ordinal: number) => string;
  /** Each costs the derivation of a key. */
  readonly #ids = new Map<number, string>();

  constructor({ population, signatures }: Scenario, seed: string) {
    const keyOf = signatures === 'none' ? unsignedSignatoryOf : signatoryOf;
    this.#population = population;
    this.#idOf = (ordinal) => agentId(keyOf(seed, ordinal).publicKey);
  }

  /** The id of the agent with an ordinal. */
  idAt = (ordinal: number): string => {
    const id = this.#ids.get(ordinal) ?? this.#idOf(ordinal);
    this.#ids.set(ordinal, id);
    return id;
  };

  /** By the number in its name, which its id must bear out; null for who is not of the scenario. */
  placeOf = ({ agent_id, name }: { agent_id: string; name: string }): number | null => {
    const ordinal = Number(numbered.exec(name)?.[1] ?? Number.NaN);
    if (!(ordinal < this.#population)) return null;
    return this.idAt(ordinal) === agent_id ? ordinal : null;
  };
}
