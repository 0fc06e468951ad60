import CZlib
import Foundation

/// The bodies that are too large for the database. Each has its own file, which is written once.
struct BodyFiles: Sendable {
    /// The number of bytes above which a body is stored in a file.
    static let smallestSize = 32 * 1024
    /// The age in seconds after which a file without a database row is an orphan.
    private static let longestWrite: Double = 3600

    private let folder: URL

    init(folder: URL) throws {
        self.folder = folder
        let type = try? FileManager.default.attributesOfItem(atPath: folder.path)[.type] as? FileAttributeType
        guard type == nil || type == .typeDirectory else { throw CocoaError(.fileWriteFileExists) }
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Writes a body and returns the file's name. A failed write leaves no file.
    func write(_ body: Data) throws -> String {
        let name = UUID().uuidString
        do {
            try body.write(to: folder.appending(path: name))
        } catch {
            remove([name])
            throw error
        }
        return name
    }

    /// Returns the body in a file, or nil if the file doesn't exist or its contents have changed.
    ///
    /// - Throws: The system's error if the file exists but can't be read at the moment.
    func read(_ name: String, byteCount: Int, checksum: Int) throws -> Data? {
        guard UUID(uuidString: name) != nil else { return nil }
        do {
            let data = try Data(contentsOf: folder.appending(path: name), options: .mappedIfSafe)
            return data.count == byteCount && Self.checksum(of: data) == checksum ? data : nil
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    /// Returns the CRC-32 of a body. The checksum detects damage by disks and crashes, and is much faster than a cryptographic
    /// hash.
    static func checksum(of body: Data) -> Int {
        body.withUnsafeBytes { Int(crc32_z(0, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)) }
    }

    func remove(_ names: [String]) {
        // Other files in the folder don't belong to the cache.
        for name in names where UUID(uuidString: name) != nil { unlink(folder.appending(path: name).path) }
    }

    func removeAll() { remove(names) }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

    /// Removes files whose process ended before it added them to the database.
    func removeOrphans(except known: Set<String>) {
        remove(
            names.filter { name in
                guard !known.contains(name) else { return false }
                let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
                guard let date = attributes?[.modificationDate] as? Date else { return false }
                return date.timeIntervalSinceNow < -Self.longestWrite
            })
    }
}
