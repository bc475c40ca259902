/** The only module of seedrandom in use. Loading all eight takes twice as long. */
declare module 'seedrandom/lib/alea.js' {
  function alea(seed: string): { int32(): number };
  export = alea;
}
