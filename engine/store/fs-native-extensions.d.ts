/** The part of fs-native-extensions 1.5 that folder.ts uses; the package ships no types. */
declare module 'fs-native-extensions' {
  /** Takes an exclusive lock, or returns false when another open file holds one. */
  export function tryLock(fd: number): boolean;
  export function unlock(fd: number): void;
}
