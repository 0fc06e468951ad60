import AfarCore
import AfarSerializers
import Foundation

/// Which encoding a document's bytes are in. libxml2 is given UTF-8 only: so all encodings are read as everywhere in Afar,
/// and what looks at the bytes before libxml2 does cannot be deceived.
struct SourceEncoding: Sendable {
    private let decoding: TextDecoding
    private let charset: String?

    init(_ options: XML.ParsingOptions, _ contentType: String?) {
        decoding = TextDecoding(encoding: options.encoding)
        charset = MediaType(contentType).charset
    }

    /// The encoding of a document that begins so.
    func encoding(of beginning: Data) throws(XML.Error) -> TextEncoding {
        do throws(TextDecodingError) {
            return try decoding.encoding(of: beginning, as: MediaType(essence: "application/xml", charset: charset))
        } catch {
            throw XML.Error(error)
        }
    }

    /// The text of a page, which always has one.
    func textOfHTML(_ page: Data) throws(XML.Error) -> String {
        var decoding = decoding
        decoding.malformedBytes = .replace
        decoding.unknownCharsets = .passOver
        do throws(TextDecodingError) {
            return try decoding.decode(page, as: MediaType(essence: "text/html", charset: charset)).text
        } catch {
            throw XML.Error(error)
        }
    }

    /// The text of bytes that must be of an encoding.
    static func text(of bytes: Data, _ encoding: TextEncoding) throws(XML.Error) -> String {
        do throws(TextDecodingError) {
            return try TextDecoding(encoding: encoding, malformedBytes: .refuse).decode(bytes).text
        } catch {
            throw XML.Error(error)
        }
    }
}

extension XML.Error {
    fileprivate init(_ error: TextDecodingError) {
        switch error.reason {
        case .malformedBytes(let encoding, let offset):
            self.init(.invalidBytes, "the bytes are no \(encoding.name) text", byteOffset: offset)
        case .unknownCharset(let label):
            self.init(.unsupportedEncoding, "the encoding “\(label.prefix(60))” is unknown")
        }
    }
}
