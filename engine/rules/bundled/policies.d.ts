/** Names of the rules in `library/`, in alphabetical order. The build generates this list. */
export declare const policies: readonly string[];
