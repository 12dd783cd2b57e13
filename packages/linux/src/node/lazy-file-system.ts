import { errorCode, type FileSystemAccess, type TrawlerError } from "@trawler/plugin-api";

type Opened = FileSystemAccess & AsyncDisposable;

/**
 * The files of a member, opened by the first call that needs them: most crawlers of most members need none. What an
 * opening fails with, each call fails with, and the next one tries again (a container may not be set up yet).
 */
export class LazyFileSystem implements FileSystemAccess, AsyncDisposable {
  readonly #open: () => Promise<Opened>;
  #opened: Promise<Opened> | null = null;
  #closed = false;
  readonly #whenClosed: () => TrawlerError;

  constructor(open: () => Promise<Opened>, whenClosed: () => TrawlerError) {
    this.#open = open;
    this.#whenClosed = whenClosed;
  }

  read: FileSystemAccess["read"] = async (...parameters) => this.#use((files) => files.read(...parameters));
  readText: FileSystemAccess["readText"] = async (...parameters) => this.#use((files) => files.readText(...parameters));
  stat: FileSystemAccess["stat"] = async (...parameters) => this.#use((files) => files.stat(...parameters));
  list: FileSystemAccess["list"] = async (...parameters) => this.#use((files) => files.list(...parameters));
  digest: FileSystemAccess["digest"] = async (...parameters) => this.#use((files) => files.digest(...parameters));
  fileSystems: FileSystemAccess["fileSystems"] = async (...parameters) =>
    this.#use((files) => files.fileSystems(...parameters));

  async *walk(...parameters: Parameters<FileSystemAccess["walk"]>): ReturnType<FileSystemAccess["walk"]> {
    const files = await this.#get();
    yield* files.walk(...parameters);
  }

  async #use<T>(call: (files: Opened) => Promise<T>): Promise<T> {
    const files = await this.#get();
    try {
      return await call(files);
    } catch (error) {
      if (errorCode(error) === "TRAWLER_GONE") await this.#release();
      throw error;
    }
  }

  async #get(): Promise<Opened> {
    if (this.#closed) throw this.#whenClosed();
    this.#opened ??= this.#open();
    const opening = this.#opened;
    try {
      return await opening;
    } catch (error) {
      if (this.#opened === opening) this.#opened = null;
      throw error;
    }
  }

  async #release(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    const files = await opened?.catch(() => null);
    await files?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#release();
  }
}
