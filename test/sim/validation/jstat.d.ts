/** The part of jstat 1.9 that intervals are made of; the package ships no types. */
declare module 'jstat' {
  const jstat: {
    jStat: {
      /** Student's t distribution. */
      studentt: {
        /** The quantile at `p` with `dof` degrees of freedom. */
        inv(p: number, dof: number): number;
      };
      /** The beta distribution. */
      beta: {
        /** The quantile at `p`. */
        inv(p: number, alpha: number, beta: number): number;
      };
      /** The gamma distribution. */
      gamma: {
        cdf(x: number, shape: number, scale: number): number;
        /** The quantile at `p`. */
        inv(p: number, shape: number, scale: number): number;
      };
    };
  };
  export = jstat;
}
