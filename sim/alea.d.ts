/** The one module of seedrandom that is used: all eight take twice as long to load. */
declare module 'seedrandom/lib/alea.js' {
  function alea(seed: string): { int32(): number };
  export = alea;
}
