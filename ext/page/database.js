/*
** A connection: SQLite's own functions, under names that are usual in JavaScript.
**
** Results are null, number, string or Uint8Array, and BigInt for an integer that a number
** cannot hold.  Parameters are the same; true and false are bound as 1 and 0.
*/
const SQLITE_OK = 0, SQLITE_ROW = 100, SQLITE_DONE = 101;
const TYPES = { integer: 1, real: 2, text: 3, blob: 4, null: 5 };
const OPEN = { readOnly: 1, write: 2 | 4, uri: 64 };
const UTF8 = 1, TRANSIENT = -1;
const PROGRESS_STEPS = 100000; // of SQLite's virtual machine, a few milliseconds
const CACHE_KILOBYTES = 64 << 10;

const encoder = new TextEncoder(), decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/* An error of SQLite: its message, its code and, for a syntax error, the offset in
** characters. */
class SqliteError extends Error {
  constructor(message, code, offset) {
    super(message);
    this.name = "SqliteError";
    this.code = code;
    if (offset >= 0) this.offset = offset;
  }
}

class Database {
  #wasm;
  #db = 0;
  #scratch = 0;

  /* Opens a path, or a URI if the path needs one. */
  constructor(wasm, path, { readOnly = false } = {}) {
    this.#wasm = wasm;
    this.path = path;
    this.#scratch = wasm._malloc(16) >>> 0;
    const rc = this.#withText(path, (name) => wasm._sqlite3_open_v2(name, this.#scratch, OPEN.uri | (readOnly ? OPEN.readOnly : OPEN.write), 0));
    this.#db = this.#pointer(this.#scratch);
    try {
      this.#check(rc);
      for (const init of ["evalci", "series"]) this.#check(wasm[`_sqlite3_${init}_init`](this.#db, 0, 0));
      wasm._sqlite3_progress_handler(this.#db, PROGRESS_STEPS, wasm.asked, 0);
      this.run(`PRAGMA cache_size = -${CACHE_KILOBYTES}`);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /* The result of one statement, or the last that has one: its columns and its rows. */
  query(sql, parameters) {
    return this.run(sql, parameters).pop() ?? { columns: [], rows: [] };
  }

  /* Every statement of a text, and the results of those that have any.  As texts: values
  ** as SQLite writes them. */
  run(sql, parameters, { asText = false } = {}) {
    const results = [];
    let result;
    this.each(sql, parameters, (row) => result.rows.push(row),
              { asText, head: (columns) => results.push(result = { columns, rows: [] }) });
    return results;
  }

  /* Calls a function with each row; if that returns false, the statement ends, and
  ** the next one follows. */
  each(sql, parameters, row, { asText = false, head = () => {} } = {}) {
    const wasm = this.#wasm, bytes = encoder.encode(`${sql}\0`), text = this.#memory(bytes);
    try {
      for (let at = text; at < text + bytes.length - 1;) {
        const rc = wasm._sqlite3_prepare_v2(this.#db, at, -1, this.#scratch, this.#scratch + 4);
        const statement = this.#pointer(this.#scratch), offset = at - text;
        this.#check(rc, () => this.#place(bytes, offset));
        at = this.#pointer(this.#scratch + 4);
        if (statement) this.#rows(statement, parameters, row, asText, head);
      }
    } finally {
      wasm._free(text);
    }
  }

  #rows(statement, parameters, row, asText, head) {
    const wasm = this.#wasm;
    try {
      this.#bind(statement, parameters);
      const count = wasm._sqlite3_column_count(statement), columns = [];
      for (let i = 0; i < count; i++) columns.push(this.#text(wasm._sqlite3_column_name(statement, i)));
      if (count > 0) head(columns);
      for (let rc; (rc = wasm._sqlite3_step(statement)) !== SQLITE_DONE;) {
        if (rc !== SQLITE_ROW) this.#check(rc);
        const values = columns.map((_, i) => this.#value(statement, i, asText));
        if (row(values, columns) === false) return;
      }
    } finally {
      wasm._sqlite3_finalize(statement);
    }
  }

  /* Imports a file or a folder, with choices as pairs of texts: ext/page/import.c.  Gives the
  ** table and the format. */
  importFiles(path, choices) {
    const wasm = this.#wasm, texts = [path, ...choices.flat()];
    if (texts.some((text) => text.includes("\0"))) throw new TypeError("evalci: a path or a choice must be a text without \\0");
    const error = this.#withText([...texts, ""].join("\0"), (given) => wasm._page_import(this.#db, given, this.#scratch)) >>> 0;
    if (!error) return { table: this.#text(this.#pointer(this.#scratch)), format: this.#text(this.#pointer(this.#scratch + 4)) };
    const message = this.#text(error);
    wasm._sqlite3_free(error);
    throw new Error(message);
  }

  get inTransaction() {
    return this.#wasm._sqlite3_get_autocommit(this.#db) === 0;
  }

  /* Stops what runs, from within a call of each() or of load()'s progress. */
  interrupt() {
    this.#wasm._sqlite3_interrupt(this.#db);
  }

  /* The database as the bytes of a file. */
  serialize() {
    const wasm = this.#wasm, memory = this.#withText("main", (main) => wasm._sqlite3_serialize(this.#db, main, this.#scratch, 0)) >>> 0;
    const size = Number(new DataView(wasm.HEAPU8.buffer).getBigInt64(this.#scratch, true));
    if (!memory && size !== 0) throw new SqliteError("out of memory", 7);
    const bytes = wasm.HEAPU8.slice(memory, memory + Math.max(size, 0));
    wasm._sqlite3_free(memory);
    return bytes;
  }

  close() {
    if (this.#db) this.#wasm._sqlite3_close(this.#db);
    this.#wasm._free(this.#scratch);
    this.#db = this.#scratch = 0;
  }

  #check(rc, offset = () => -1) {
    if (rc === SQLITE_OK) return;
    const message = this.#db ? this.#text(this.#wasm._sqlite3_errmsg(this.#db)) : "out of memory";
    throw new SqliteError(message, rc & 255, offset());
  }

  /* Where SQLite stopped reading, in characters of the whole text; it counts bytes, from
  ** the statement's beginning. */
  #place(bytes, begin) {
    const offset = this.#wasm._sqlite3_error_offset(this.#db);
    return offset < 0 ? -1 : decoder.decode(bytes.subarray(0, begin + offset)).length;
  }

  #bind(statement, parameters = []) {
    const wasm = this.#wasm, count = wasm._sqlite3_bind_parameter_count(statement), byPlace = Array.isArray(parameters);
    for (let i = 1; i <= count; i++) {
      const name = this.#text(wasm._sqlite3_bind_parameter_name(statement, i));
      const value = byPlace ? parameters[i - 1] : parameters[name.slice(1)] ?? parameters[name];
      this.#check(this.#bindOne(statement, i, value ?? null));
    }
  }

  #bindOne(statement, i, value) {
    const wasm = this.#wasm;
    if (value === null) return wasm._sqlite3_bind_null(statement, i);
    if (typeof value === "boolean") return wasm._sqlite3_bind_int64(statement, i, value ? 1n : 0n);
    if (Number.isSafeInteger(value)) return wasm._sqlite3_bind_int64(statement, i, BigInt(value));
    if (typeof value === "number") return wasm._sqlite3_bind_double(statement, i, value);
    if (typeof value === "bigint" && BigInt.asIntN(64, value) === value) return wasm._sqlite3_bind_int64(statement, i, value);
    const bytes = typeof value === "string" ? encoder.encode(value) : value;
    if (!(bytes instanceof Uint8Array)) throw new TypeError(`evalci: SQLite has no value for ${typeof value} ${String(value)}`);
    const memory = this.#memory(bytes);
    try {
      return typeof value === "string" ? wasm._sqlite3_bind_text64(statement, i, memory, BigInt(bytes.length), TRANSIENT, UTF8)
                                       : wasm._sqlite3_bind_blob64(statement, i, memory, BigInt(bytes.length), TRANSIENT);
    } finally {
      wasm._free(memory);
    }
  }

  #value(statement, i, asText) {
    const wasm = this.#wasm, type = wasm._sqlite3_column_type(statement, i);
    if (type === TYPES.null) return null;
    if (type === TYPES.real && !asText) return wasm._sqlite3_column_double(statement, i);
    if (type === TYPES.integer && !asText) {
      const integer = wasm._sqlite3_column_int64(statement, i), number = Number(integer);
      return Number.isSafeInteger(number) ? number : integer;
    }
    const isBlob = type === TYPES.blob && !asText;
    const from = (isBlob ? wasm._sqlite3_column_blob(statement, i) : wasm._sqlite3_column_text(statement, i)) >>> 0;
    const size = wasm._sqlite3_column_bytes(statement, i);
    if (!from && size > 0) throw new SqliteError("out of memory", 7);
    const bytes = wasm.HEAPU8.subarray(from, from + size);
    return isBlob ? bytes.slice() : decoder.decode(bytes);
  }

  #pointer(at) {
    return new DataView(this.#wasm.HEAPU8.buffer).getUint32(at, true);
  }

  #text(at) {
    const heap = this.#wasm.HEAPU8;
    return decoder.decode(heap.subarray(at >>> 0, heap.indexOf(0, at >>> 0)));
  }

  /* A copy of the bytes in SQLite's memory, to be freed. */
  #memory(bytes) {
    const at = this.#wasm._malloc(bytes.length || 1) >>> 0;
    if (!at) throw new SqliteError("out of memory", 7);
    this.#wasm.HEAPU8.set(bytes, at);
    return at;
  }

  #withText(text, call) {
    const at = this.#memory(encoder.encode(`${text}\0`));
    try {
      return call(at);
    } finally {
      this.#wasm._free(at);
    }
  }
}
