import Foundation

/// Bytes in a text, between two lines that name what they are (RFC 7468).
enum PEMBlock {
    /// The text of a file, if it has such lines.
    static func text(in data: Data) -> String? {
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The bytes of all blocks with a label. One that does not end, or is no Base64, gives no bytes, which nobody can read.
    static func blocks(in text: String, labeled label: String) -> [Data] {
        var blocks: [Data] = []
        var lines: [Substring]?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingPrefix { $0 == " " || $0 == "\t" }
            if line.hasPrefix("-----BEGIN \(label)-----") {
                if lines != nil { blocks.append(Data()) }
                lines = []
            } else if line.hasPrefix("-----END \(label)-----"), let body = lines {
                blocks.append(Data(base64Encoded: body.joined(), options: .ignoreUnknownCharacters) ?? Data())
                lines = nil
            } else {
                lines?.append(line)
            }
        }
        if lines != nil { blocks.append(Data()) }
        return blocks
    }

    static func text(of bytes: Data, labeled label: String) -> String {
        let body = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }
}

extension Data {
    /// - Throws: ``CertificateError/unreadableFile(_:_:)``.
    init(reading file: URL) throws(CertificateError) {
        do { try self.init(contentsOf: file) } catch {
            throw .unreadableFile(file, (error as NSError).localizedDescription)
        }
    }
}
