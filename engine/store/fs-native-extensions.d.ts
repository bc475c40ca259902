/** Types for the functions used from fs-native-extensions 1.5, which ships no types. */
declare module 'fs-native-extensions' {
  /** Takes an exclusive lock. Returns false if a different open file holds the lock. */
  export function tryLock(fd: number): boolean;
  export function unlock(fd: number): void;
}
