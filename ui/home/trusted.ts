/** Where a page's policy asks for Trusted Types, a script may come only by one of these. */

interface Rules {
  createScript?(text: string): string;
  createScriptURL?(url: string): string;
}
interface Factory {
  createPolicy<T extends Rules>(name: string, rules: T): T;
}

/** The rules, as the browser keeps them where it can. The page's policy knows the name. */
export function trusted<T extends Rules>(name: string, rules: T): T {
  const { trustedTypes } = globalThis as { trustedTypes?: Factory };
  return trustedTypes?.createPolicy(name, rules) ?? rules;
}
