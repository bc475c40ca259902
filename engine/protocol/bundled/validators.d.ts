/**
 * Validators for request bodies and genesis. Ajv generates them at the end of the build
 * (tools/bundle.mjs), so that no process compiles schemas and no page needs `new Function`.
 */
/** A generated validator. Declared here because ajv is not a runtime dependency. */
export interface Validate {
  (value: unknown): boolean;
  errors?:
    | {
        keyword: string;
        instancePath: string;
        message?: string;
        params: Record<string, unknown>;
      }[]
    | null
    | undefined;
}

/** Validators by request kind, plus `genesis`. */
export declare const validators: Readonly<Record<string, Validate>>;
