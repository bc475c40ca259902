/** The other versions of Node that FOLKMOOT_NODES lists: paths between colons. */
export const nodes = (process.env.FOLKMOOT_NODES ?? '').split(':').filter((path) => path !== '');
