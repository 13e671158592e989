/*
** The user's files, which SQLite sees under /files/.  The bytes of a File or Blob are read
** in pieces from where they are, so that a database may be larger than the memory; that
** needs a worker, where reading may block.  A file that changed after it was added cannot
** be read any more, and SQLite says so.
*/
const FILES = "/files/";
const BESIDE = /-(wal|shm|journal)$/; // what SQLite keeps beside a database
const PIECE = 1 << 20, MOST_PIECES = 256; // bytes of one, and how many are kept
const UNREADABLE = 2, READ_ONLY = 69; // emscripten's numbers of EACCES (EIO means a damaged file to SQLite) and EROFS

class Files {
  #fs;
  #pieces = new Map(); // of Blobs: the most recently used, the latest at the end

  constructor(fs) {
    this.#fs = fs;
    fs.mkdirTree(FILES);
    fs.mkdirTree("/databases");
  }

  /* Adds a file by the user's name for it, with its folders if it has any; bytes are a
  ** File, a Blob, a Uint8Array or a text.  Returns the path by which SQLite opens it. */
  add(name, bytes, modified = bytes.lastModified) {
    const parts = name.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
    if (parts.length === 0) throw new Error(`evalci.files: ${JSON.stringify(name)} is not the name of a file`);
    const path = FILES + parts.join("/");
    this.#fs.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    this.remove(path);
    const isBlob = typeof Blob !== "undefined" && bytes instanceof Blob;
    if (isBlob && typeof FileReaderSync === "undefined") throw new Error("evalci.files: a File or Blob needs a worker; elsewhere, give its bytes");
    if (isBlob) this.#lay(path, bytes);
    else this.#fs.writeFile(path, bytes, { canOwn: true });
    if (modified !== undefined) this.#fs.utime(path, modified, modified);
    return path;
  }

  /* A file whose bytes are read on demand. */
  #lay(path, blob) {
    const fs = this.#fs, reader = new FileReaderSync();
    fs.writeFile(path, "");
    const { node } = fs.lookupPath(path);
    const read = (number) => {
      try {
        return new Uint8Array(reader.readAsArrayBuffer(blob.slice(number * PIECE, (number + 1) * PIECE)));
      } catch {
        throw new fs.ErrnoError(UNREADABLE);
      }
    };
    Object.defineProperty(node, "usedBytes", { value: blob.size });
    node.stream_ops = {
      ...node.stream_ops,
      read: (stream, memory, to, length, from) => {
        const end = Math.min(from + length, blob.size);
        for (let at = from; at < end;) {
          const start = at % PIECE, number = (at - start) / PIECE;
          const part = this.#piece(`${node.id} ${number}`, () => read(number)).subarray(start, start + end - at);
          memory.set(part, to + at - from);
          at += part.length;
        }
        return Math.max(end - from, 0);
      },
      write: () => { throw new fs.ErrnoError(READ_ONLY); },
    };
  }

  /* SQLite reads by pages of 4 kB, and in no order; so whole pieces are kept. */
  #piece(name, read) {
    const piece = this.#pieces.get(name) ?? read();
    this.#pieces.delete(name);
    this.#pieces.set(name, piece);
    if (this.#pieces.size > MOST_PIECES) this.#pieces.delete(this.#pieces.keys().next().value);
    return piece;
  }

  remove(path) {
    if (this.has(path)) this.#fs.unlink(path);
  }

  has(path) {
    return this.#fs.analyzePath(path).exists;
  }

  size(path) {
    return this.has(path) ? this.#fs.stat(path).size : 0;
  }

  isFolder(path) {
    return this.has(path) && this.#fs.isDir(this.#fs.stat(path).mode);
  }

  /* The first bytes of a file, or all of them. */
  read(path, length = this.size(path)) {
    const stream = this.#fs.open(path, "r"), bytes = new Uint8Array(Math.min(length, this.size(path)));
    try {
      this.#fs.read(stream, bytes, 0, bytes.length, 0);
    } finally {
      this.#fs.close(stream);
    }
    return bytes;
  }

  /* The paths of all files at and under one, in order. */
  list(path = FILES.slice(0, -1)) {
    if (!this.isFolder(path)) return this.has(path) ? [path] : [];
    const names = this.#fs.readdir(path).filter((name) => name !== "." && name !== "..").sort();
    return names.flatMap((name) => this.list(`${path}/${name}`));
  }

  /* Forgets every file that was given. */
  clear() {
    for (const path of this.list()) this.#fs.unlink(path);
    this.#pieces.clear();
  }
}
