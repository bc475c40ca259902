/**
 * TypeBox, through one door: the build bundles this file, since the package's 700 modules take
 * longer to load (150 ms) than a small simulation to run.
 */
export { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
export { Value } from 'typebox/value';
