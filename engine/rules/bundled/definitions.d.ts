/**
 * Definitions of the rules in `library/` in words, as paragraphs by name. The build
 * (tools/assemble.mjs) generates them from the comments above the rules.
 */
export declare const definitions: Readonly<Record<string, readonly string[]>>;
