/** Keys, signatures and hashes as text: hex in either case. */

/** The pattern of so many hex characters, as schemas have it. */
export const hexPattern = (characters: number) => `^[0-9a-fA-F]{${characters}}$`;

const key = new RegExp(hexPattern(64));

/** What has just fitted is not looked at again. */
function remembering(expression: RegExp): (text: string) => boolean {
  let fitted: string | undefined;
  return (text) => {
    if (text === fitted) return true;
    if (!expression.test(text)) return false;
    fitted = text;
    return true;
  };
}

/** One request's key is looked at by its head, with its body, and by its credentials. */
export const isPublicKey = remembering(key);
/** Where nothing is signed, all of them are alike. */
export const isSignature = remembering(new RegExp(hexPattern(128)));
/** A sha256 looks as a key does, but one block is named by many votes. */
export const isHash = remembering(key);
