import type { Rule } from '../rule.js';

/**
 * Rules by name. The build (tools/assemble.mjs) generates this table from the files in `library/`,
 * so a new rule is one file.
 */
export declare const library: Readonly<Record<string, Rule>>;
