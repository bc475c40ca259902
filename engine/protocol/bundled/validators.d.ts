/**
 * Validators of what the protocol is sent: code that ajv writes out of the schemas at the end of
 * the build (tools/validators.mjs), so that no start compiles, and no page needs `new Function`.
 */
import type { ValidateFunction } from './ajv.js';

/** By kind of request, and `genesis`. */
export declare const validators: Readonly<Record<string, ValidateFunction>>;
