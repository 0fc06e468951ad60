import Foundation

/// A value that is one piece of text in XML, with white space around it that means nothing.
///
/// The forms are those of XML Schema's data types (XML Schema Part 2, section 3).
protocol XMLScalar: Codable, Sendable {
    /// What the text must be, for a person.
    static var expectation: String { get }

    /// Reads text that has no white space around it.
    init?(xml text: UnsafeBufferPointer<UInt8>)

    /// The text.
    var xmlText: String { get }
}

extension Bool: XMLScalar {
    static var expectation: String { "true, false, 1 or 0" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        switch text.count {
        case 1 where text[0] == UInt8(ascii: "1"): self = true
        case 1 where text[0] == UInt8(ascii: "0"): self = false
        case 4 where text.elementsEqual("true".utf8): self = true
        case 5 where text.elementsEqual("false".utf8): self = false
        default: return nil
        }
    }

    var xmlText: String { self ? "true" : "false" }
}

extension Decimal: XMLScalar {
    static var expectation: String { "a decimal number" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        // Foundation reads as far as it understands, and takes that.
        guard let digits = XMLNumber(text), let value = Decimal(string: digits.description), value.isFinite else {
            return nil
        }
        self = value
    }

    var xmlText: String { description }
}

extension UUID: XMLScalar {
    static var expectation: String { "a UUID" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        self.init(uuidString: String(decoding: text, as: UTF8.self))
    }

    var xmlText: String { uuidString }
}

extension URL: XMLScalar {
    static var expectation: String { "a URL" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        self.init(string: String(decoding: text, as: UTF8.self))
    }

    var xmlText: String { absoluteString }
}
