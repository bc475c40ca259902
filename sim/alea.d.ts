/** Declares the only seedrandom module in use. Loading all eight modules takes twice as long. */
declare module 'seedrandom/lib/alea.js' {
  function alea(seed: string): { int32(): number };
  export = alea;
}
