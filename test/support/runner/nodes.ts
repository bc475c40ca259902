/** Versions of Node: the others that tests start, and those on which uWebSockets.js loads. */

/** The other versions of Node that FOLKMOOT_NODES lists: paths between colons. */
export const nodes = (process.env.FOLKMOOT_NODES ?? '').split(':').filter((path) => path !== '');

/** Major versions of Node for which the registry's copy of uWebSockets.js has binaries. */
const withBinaries = [18, 20, 21, 22];

/** Tells if uWebSockets.js has to load on a version of Node, as in `22.23.3`. */
export const loadsUws = (version: string): boolean =>
  withBinaries.includes(Number(version.split('.')[0]));
