/** Keys, signatures and hashes as text: hex in either case. */

/** The pattern of so many hex characters, as schemas have it. */
export const hexPattern = (characters: number) => `^[0-9a-fA-F]{${characters}}$`;

const key = new RegExp(hexPattern(64));
const signature = new RegExp(hexPattern(128));

export const isPublicKey = (text: string): boolean => key.test(text);
export const isSignature = (text: string): boolean => signature.test(text);
/** A sha256 looks as a key does. */
export const isHash = isPublicKey;
