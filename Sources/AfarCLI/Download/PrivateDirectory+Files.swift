import AfarCore
import Foundation

/// Files in a directory, all reached from its descriptor.
extension PrivateDirectory {
    /// A path that leads to what is open, whatever has its name by now. Where the system has no such paths it is `path`.
    func pathToDescriptor(else path: String) -> String {
        #if os(Linux)
            "/proc/self/fd/\(descriptor)"
        #else
            path
        #endif
    }

    /// The names of all that is in it, in no order.
    var names: [String] {
        // A second descriptor: listing moves its place, and ends with closing it.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let list = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list), let place = MemoryLayout<dirent>.offset(of: \.d_name) {
            let name = String(cString: (UnsafeRawPointer(entry) + place).assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The length of a file, nil when there is none that may be trusted.
    func length(of name: String) -> Int64? {
        guard let file = openFile(name, O_RDONLY) else { return nil }
        defer { close(file) }
        var status = stat()
        return fstat(file, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// The first bytes of a file, nil when there is none that may be trusted.
    func contents(of name: String, upTo count: Int) -> Data? {
        guard let file = openFile(name, O_RDONLY) else { return nil }
        return try? FileHandle(fileDescriptor: file, closeOnDealloc: true).read(upToCount: count)
    }

    /// Puts a file there, whole or not at all, in the place of one that has the name already.
    func put(_ data: Data, into name: String) {
        let draft = name + ".new"
        remove(draft)
        let file = openat(descriptor, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let isWritten = (try? FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: data)) != nil
        guard isWritten, renameat(descriptor, draft, descriptor, name) == 0 else { return remove(draft) }
    }

    /// Removes a file.
    func remove(_ name: String) { unlinkat(descriptor, name, 0) }

    /// Removes a directory of this user's, and the files in it that are named. It stays if anything else is in it.
    func removeDirectory(_ name: String, with files: [String]) {
        guard let directory = try? PrivateDirectory(name, in: self) else { return }
        for file in files { directory.remove(file) }
        unlinkat(descriptor, name, AT_REMOVEDIR)
    }
}
