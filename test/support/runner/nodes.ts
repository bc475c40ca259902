/** Paths to other Node versions, from FOLKMOOT_NODES, separated by colons. */
export const nodes = (process.env.FOLKMOOT_NODES ?? '').split(':').filter((path) => path !== '');

/** Major Node versions with uWebSockets.js binaries in the registry. */
const withBinaries = [18, 20, 21, 22];

/** Returns true if uWebSockets.js must load on a version of Node, such as `22.23.3`. */
export const loadsUws = (version: string): boolean =>
  withBinaries.includes(Number(version.split('.')[0]));
