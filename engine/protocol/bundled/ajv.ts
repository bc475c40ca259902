/**
 * ajv, through one door: the build bundles this file, since its 60 modules take 40 ms to load.
 */
export { Ajv, type Options, type ValidateFunction } from 'ajv';
