public import Foundation

/// An HTTP archive, version 1.2: requests and responses in the format of browsers' network panels and many other tools.
///
/// Decoding is lenient because many tools omit fields. Encoding writes all fields that the format requires.
public struct HAR: Sendable, Codable, Hashable {
    /// The content of the archive.
    public var log: Log

    /// Creates an archive with Afar as its creator.
    public init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

    /// Reads an archive from a file.
    ///
    /// - Throws: ``FileError``, which identifies the file and the position in it.
    public init(contentsOf file: URL) throws {
        do {
            self = try JSONDecoder().decode(HAR.self, from: Data(contentsOf: file))
        } catch let error as DecodingError {
            throw FileError(file: file, message: "isn't a valid HTTP archive: \(error.place)")
        } catch {
            throw FileError(file: file, message: "could not be read: \(error.localizedDescription)")
        }
    }

    /// Writes the archive to a file and creates missing folders.
    ///
    /// An existing file is replaced atomically and keeps its permissions.
    ///
    /// - Throws: ``FileError``.
    public func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let file = file.resolvingSymlinksInPath()
            let manager = FileManager.default
            try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let oldAttributes = try? manager.attributesOfItem(atPath: file.path)
            let type = oldAttributes?[.type] as? FileAttributeType ?? .typeRegular
            // Devices and pipes can't be replaced.
            try encoder.encode(self).write(to: file, options: type == .typeRegular ? .atomic : [])
            if type == .typeRegular, let mode = oldAttributes?[.posixPermissions] {
                try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            }
        } catch {
            throw FileError(file: file, message: "could not be written: \(error.localizedDescription)")
        }
    }

    /// The entries in the order of their requests.
    public var entries: [Entry] {
        get { log.entries }
        set { log.entries = newValue }
    }

    /// An error that occurs while reading or writing a file.
    public struct FileError: Error, LocalizedError, CustomStringConvertible, Sendable {
        /// The URL of the file.
        public var file: URL
        let message: String

        /// The path of the file and the problem.
        public var description: String { "\(file.path) \(message)" }
        /// The same text as ``description``.
        public var errorDescription: String? { description }
    }

    /// The content of an archive.
    public struct Log: Sendable, Codable, Hashable {
        /// The version of the format.
        public var version = "1.2"
        /// The program that wrote the archive.
        public var creator = Creator(name: "Afar", version: "1.0")
        /// The exchanges in the order of their requests.
        public var entries: [Entry]

        init(entries: [Entry]) { self.entries = entries }

        /// Decodes the content of an archive. Missing optional fields get default values.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            entries = try values.decode([Entry].self, forKey: .entries)
            version = try values.decodeIfPresent(String.self, forKey: .version) ?? version
            creator = try values.decodeIfPresent(Creator.self, forKey: .creator) ?? creator
        }
    }

    /// A program that writes archives.
    public struct Creator: Sendable, Codable, Hashable {
        /// The name of the program.
        public var name: String
        /// The version of the program.
        public var version: String
    }

    /// The name and value of a header field or a parameter.
    public struct Field: Sendable, Codable, Hashable {
        /// The name, spelled as it was sent.
        public var name: String
        /// The value.
        public var value: String
    }
}

extension DecodingError {
    /// The problem and its position.
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
