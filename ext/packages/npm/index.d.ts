/** A database that loads extensions: better-sqlite3's, libsql's, or node:sqlite's opened with `allowExtension: true`. */
export interface Db {
  loadExtension(path: string, entryPoint?: string): unknown;
}

/** The path of the library for this machine. */
export declare function getLoadablePath(): string;

/** Makes evalci's functions known to a database. */
export declare function load(db: Db): void;
