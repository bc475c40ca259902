/** The part of jstat 1.9 that statistics.ts uses; the package ships no types. */
declare module 'jstat' {
  const jstat: {
    jStat: {
      /** Student's t distribution. */
      studentt: {
        /** The quantile at `p` with `dof` degrees of freedom. */
        inv(p: number, dof: number): number;
      };
    };
  };
  export = jstat;
}
