/** Starts workers. Under the page's policy a script may come only from where the build put it. */

/** File names by worker, put in by the build. */
declare const WORKERS: Readonly<Record<string, string>>;

interface TrustedPolicy {
  createScriptURL(url: string): string;
}
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): TrustedPolicy;
}

const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
const rules = {
  createScriptURL(name: string): string {
    const file = WORKERS[name];
    if (file === undefined) throw new TypeError(`there is no worker ${name}`);
    return `/ui/assets/${file}`;
  },
};
const policy = trusted?.createPolicy('folkmoot', rules) ?? rules;

/** Of the folder of that name: `ui/<name>/worker.ts`. */
export const startWorker = (name: string): Worker =>
  new Worker(policy.createScriptURL(name), { type: 'module', name });
