/** Properties of arbitrary values. */
import fc from 'fast-check';

export { fc };

type Values = [unknown, ...unknown[]];
type Arbitraries<Of extends Values> = [...{ [At in keyof Of]: fc.Arbitrary<Of[At]> }];
type Test<Of extends Values, Result> = (...values: Of) => Result;
/** A test, after options for fast-check or without them. */
type Rest<Of extends Values, Result> = [Test<Of, Result>] | [fc.Parameters<Of>, Test<Of, Result>];

/** Expects a test to pass for arbitrary values. */
export function forAll<Of extends Values>(from: Arbitraries<Of>, ...rest: Rest<Of, void>): void {
  const [options, test] = rest.length === 2 ? rest : [{}, rest[0]];
  fc.assert(fc.property(...from, test), options);
}

/** `forAll` for a test that returns a promise. */
export function forAllAsync<Of extends Values>(
  from: Arbitraries<Of>,
  ...rest: Rest<Of, Promise<void>>
): Promise<void> {
  const [options, test] = rest.length === 2 ? rest : [{}, rest[0]];
  return fc.assert(fc.asyncProperty(...from, test), options);
}
