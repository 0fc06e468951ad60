public import Foundation

/// Requests and their responses in the form of an HTTP archive, version 1.2, which browsers' network panels and many tools
/// read and write.
///
/// Reading is lenient, as many tools leave out fields; what is written has all that the format demands.
public struct HAR: Sendable, Codable, Hashable {
    /// What a file is about.
    public var log: Log

    /// Makes an archive of entries, under Afar's name.
    public init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

    /// Reads a file.
    ///
    /// - Throws: A ``FileError`` that names the file and the place in it.
    public init(contentsOf file: URL) throws {
        do {
            self = try JSONDecoder().decode(HAR.self, from: Data(contentsOf: file))
        } catch let error as DecodingError {
            throw FileError(file: file, message: "is no HTTP archive: \(error.place)")
        } catch {
            throw FileError(file: file, message: "could not be read: \(error.localizedDescription)")
        }
    }

    /// Writes a file, and the folders on the way to it. A file of that name is replaced at once, or not at all, and who may
    /// read it stays.
    ///
    /// - Throws: A ``FileError``.
    public func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let file = file.resolvingSymlinksInPath()
            let manager = FileManager.default
            try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let former = try? manager.attributesOfItem(atPath: file.path)
            let type = former?[.type] as? FileAttributeType ?? .typeRegular
            // A device or a pipe is written to, not replaced.
            try encoder.encode(self).write(to: file, options: type == .typeRegular ? .atomic : [])
            if type == .typeRegular, let mode = former?[.posixPermissions] {
                try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            }
        } catch {
            throw FileError(file: file, message: "could not be written: \(error.localizedDescription)")
        }
    }

    /// The entries, in the order in which their requests were made.
    public var entries: [Entry] {
        get { log.entries }
        set { log.entries = newValue }
    }

    /// Why a file could not be read or written.
    public struct FileError: Error, LocalizedError, CustomStringConvertible, Sendable {
        /// The file.
        public var file: URL
        let message: String

        /// The file and what is wrong with it.
        public var description: String { "\(file.path) \(message)" }
        /// The same.
        public var errorDescription: String? { description }
    }

    /// The archive itself.
    public struct Log: Sendable, Codable, Hashable {
        /// The version of the format.
        public var version = "1.2"
        /// What wrote the archive.
        public var creator = Creator(name: "Afar", version: "1.0")
        /// Exchanges, in the order in which their requests were made.
        public var entries: [Entry]

        init(entries: [Entry]) { self.entries = entries }

        /// Reads what is there.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            entries = try values.decode([Entry].self, forKey: .entries)
            version = try values.decodeIfPresent(String.self, forKey: .version) ?? version
            creator = try values.decodeIfPresent(Creator.self, forKey: .creator) ?? creator
        }
    }

    /// A program.
    public struct Creator: Sendable, Codable, Hashable {
        /// Its name.
        public var name: String
        /// Its version.
        public var version: String
    }

    /// A name and a value: a header field, or a parameter.
    public struct Field: Sendable, Codable, Hashable {
        /// The name as it was sent.
        public var name: String
        /// The value.
        public var value: String
    }
}

extension DecodingError {
    /// What is wrong, and where.
    fileprivate var place: String {
        let context: Context? =
            switch self {
            case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
                .valueNotFound(_, let context):
                context
            @unknown default: nil
            }
        guard let context else { return localizedDescription }
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        return "\(context.debugDescription)\(path.isEmpty ? "" : " (at \(path.dropFirst()))")"
    }
}
