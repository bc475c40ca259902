/** JSON Pointer, RFC 6901: where in a document something is. */

/** A member's name as a step of a pointer. */
export const pointerStep = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
