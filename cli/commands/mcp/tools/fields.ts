/** Arguments that several tools take: the protocol's bounds, and what a model is told of them. */
import { Hash, MemeReferences, type TSchema, Type } from '../../../../engine/internal.js';

/** A schema of the protocol with a description of what it means here. */
export const described = <T extends TSchema>(schema: T, description: string): T => ({
  ...schema,
  description,
});

/** An enumeration; some models want its type told, too. */
export const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Enum<T[]>([...values], { type: 'string', description });

/** A list's length. */
export const rows = (most: number, usual: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, description: `At most so many. Default: ${usual}.` }),
  );

export const blockHash = described(Hash, 'The block: its block_hash, 64 hex digits.');

export const memes = Type.Optional(
  described(MemeReferences, 'Ids of memes that moved you, meme_...'),
);

/** Tags as the protocol has them; which letters they may have is checked there. */
export const tags = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
    maxItems: 10,
    description: 'Words of letters, digits, _ or -, without blanks.',
  }),
);

/** The most transactions of one block. */
export const MOST_TRANSACTIONS = 1_000;
