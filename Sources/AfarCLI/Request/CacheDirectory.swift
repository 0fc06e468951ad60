import Afar
import AfarDiskCache
import Foundation

/// The folder of kept responses that the command line names.
enum CacheDirectory {
    private static let opened = Locked<DiskCacheStore?>(nil)

    /// Opens the folder.
    ///
    /// - Parameter option: What names it, for the error.
    static func open(_ path: String, option: String, mustExist: Bool = false) throws -> DiskCacheStore {
        let directory = URL(filePath: path)
        let database = directory.appending(path: "responses.sqlite").path
        guard !mustExist || FileManager.default.fileExists(atPath: database) else {
            throw Failure(.usage, "\(option): there is no cache in \(path).")
        }
        do {
            let store = try DiskCacheStore(directory: directory) { error in
                StandardError.write("afar: the cache: \(TerminalText.line("\(error)"))\n")
            }
            opened.withLock { $0 = store }
            return store
        } catch {
            throw Failure(.usage, "\(option): \(path) cannot be used as a cache: \(TerminalText.line("\(error)")).")
        }
    }

    /// Writes what is to be kept.
    static func save() async { await opened.withLock { $0 }?.flush() }
}
