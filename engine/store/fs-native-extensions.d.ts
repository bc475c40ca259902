/** Types for the part of fs-native-extensions 1.5 in use; the package has none. */
declare module 'fs-native-extensions' {
  /** Takes an exclusive lock. Returns false if another open file holds it. */
  export function tryLock(fd: number): boolean;
  export function unlock(fd: number): void;
}
