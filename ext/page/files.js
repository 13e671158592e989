/*
** Files that SQLite sees, under /files/: those that the user gave.  The bytes of a File
** or Blob stay where they are and are read by pieces, so that a database may be larger
** than the memory at hand; that needs a worker, where reading can wait.
*/
const FILES = "/files/";
const PIECE = 1 << 20;
const READ_ONLY = 69; // emscripten's number of EROFS

/* The bytes of a Blob from one place to another, of which the last pieces asked for are
** kept: SQLite reads by pages of 4 kB. */
function pieces(blob) {
  const reader = new FileReaderSync(), kept = new Map();
  return (number) => {
    let piece = kept.get(number);
    kept.delete(number);
    piece ??= new Uint8Array(reader.readAsArrayBuffer(blob.slice(number * PIECE, (number + 1) * PIECE)));
    kept.set(number, piece);
    if (kept.size > 16) kept.delete(kept.keys().next().value);
    return piece;
  };
}

class Files {
  #fs;

  constructor(fs) {
    this.#fs = fs;
    fs.mkdirTree(FILES);
    fs.mkdirTree("/databases");
  }

  /* Takes a file, named as its user knows it, with folders before it if it has any;
  ** bytes are a File, a Blob, a Uint8Array or a text.  Gives the path that SQLite knows
  ** it by. */
  add(name, bytes, modified = bytes.lastModified) {
    const parts = name.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
    if (parts.length === 0) throw new Error(`evalci.files: ${JSON.stringify(name)} is no name of a file`);
    const path = FILES + parts.join("/");
    this.#fs.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    this.remove(path);
    if (typeof Blob !== "undefined" && bytes instanceof Blob) this.#lay(path, bytes);
    else this.#fs.writeFile(path, bytes, { canOwn: true });
    if (modified !== undefined) this.#fs.utime(path, modified, modified);
    return path;
  }

  /* A file whose bytes are read when they are asked for. */
  #lay(path, blob) {
    const piece = pieces(blob);
    this.#fs.writeFile(path, "");
    const { node } = this.#fs.lookupPath(path);
    Object.defineProperty(node, "usedBytes", { value: blob.size });
    node.stream_ops = {
      ...node.stream_ops,
      read(stream, memory, to, length, from) {
        const end = Math.min(from + length, blob.size);
        for (let at = from; at < end;) {
          const start = at % PIECE, part = piece((at - start) / PIECE).subarray(start, start + end - at);
          memory.set(part, to + at - from);
          at += part.length;
        }
        return Math.max(end - from, 0);
      },
      write: () => { throw new this.#fs.ErrnoError(READ_ONLY); },
    };
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
  }
}
