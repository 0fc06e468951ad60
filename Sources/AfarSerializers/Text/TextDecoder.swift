public import Foundation

/// A decoder for text that arrives in chunks. Chunk boundaries don't affect the result: the bytes of an incomplete
/// character are kept until the rest arrives.
///
/// ```swift
/// var decoder = TextDecoder(.shiftJIS)
/// for await chunk in chunks { show(decoder.decode(chunk)) }
/// show(decoder.finish())
/// ```
///
/// As the Encoding Standard specifies, malformed bytes become U+FFFD. ``malformedOffset`` is the position of the first
/// malformed bytes. A byte-order mark at the beginning is removed.
public struct TextDecoder: Sendable {
    /// The encoding. A byte-order mark can change the encoding if `findsByteOrderMarks` is `true`.
    public private(set) var encoding: TextEncoding
    private let findsByteOrderMarks: Bool
    private var decoder: any ChunkDecoder
    /// The first bytes while they could still be part of a byte-order mark, and `nil` afterward.
    private var beginning: [UInt8]? = []
    private var lengthOfMark = 0

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - encoding: The encoding of the bytes.
    ///   - findsByteOrderMarks: A Boolean value that indicates whether a byte-order mark of another encoding overrides
    ///     `encoding`. The default is `false`.
    public init(_ encoding: TextEncoding, findsByteOrderMarks: Bool = false) {
        self.encoding = encoding
        self.findsByteOrderMarks = findsByteOrderMarks
        decoder = encoding.makeDecoder()
    }

    /// The offset of the first malformed bytes from the beginning of the text, or `nil` if no bytes were malformed.
    public var malformedOffset: Int? { decoder.malformedOffset.map { $0 + lengthOfMark } }

    /// Returns the text up to the last complete character. It can be empty.
    public mutating func decode(_ bytes: Data) -> String {
        bytes.withUnsafeBytes { decode($0.bindMemory(to: UInt8.self)) }
    }

    /// Returns U+FFFD if the last character is incomplete. Otherwise, returns an empty string.
    ///
    /// Call this method once, after all bytes. To decode another text, create another decoder.
    public mutating func finish() -> String {
        (beginning ?? []).withUnsafeBufferPointer { decodeBeginning($0, isWhole: true) } + decoder.finish()
    }

    package mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        guard let beginning else { return decoder.decode(bytes) }
        guard !beginning.isEmpty else { return decodeBeginning(bytes, isWhole: false) }
        return (beginning + bytes).withUnsafeBufferPointer { decodeBeginning($0, isWhole: false) }
    }

    private mutating func decodeBeginning(_ bytes: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> String {
        if bytes.isEmpty { return "" }
        switch ByteOrderMark.find(in: bytes, of: findsByteOrderMarks ? nil : encoding, isWhole: isWhole) {
        case .undecided:
            beginning = Array(bytes)
            return ""
        case .none:
            beginning = nil
            return decoder.decode(bytes)
        case .found(let mark):
            beginning = nil
            lengthOfMark = mark.bytes.count
            if mark.encoding != encoding {
                encoding = mark.encoding
                decoder = encoding.makeDecoder()
            }
            return decoder.decode(UnsafeBufferPointer(rebasing: bytes.dropFirst(lengthOfMark)))
        }
    }
}

/// A decoder for text that arrives in chunks. Malformed bytes become U+FFFD.
protocol ChunkDecoder: Sendable {
    /// The offset of the first malformed bytes.
    var malformedOffset: Int? { get }

    /// Returns the text up to the last complete character.
    mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> String

    /// Returns the replacement for an incomplete last character.
    mutating func finish() -> String
}

extension TextEncoding {
    func makeDecoder() -> any ChunkDecoder {
        switch kind {
        case .utf8: UTF8Decoder()
        case .utf16BigEndian: SteppingDecoder(UTF16Rules(isBigEndian: true))
        case .utf16LittleEndian: SteppingDecoder(UTF16Rules(isBigEndian: false))
        case .utf32BigEndian: SteppingDecoder(UTF32Rules(isBigEndian: true))
        case .utf32LittleEndian: SteppingDecoder(UTF32Rules(isBigEndian: false))
        case .gbk, .gb18030: SteppingDecoder(GB18030Rules())
        case .big5: SteppingDecoder(Big5Rules())
        case .eucJP: SteppingDecoder(EUCJPRules())
        case .iso2022JP: SteppingDecoder(ISO2022JPRules())
        case .shiftJIS: SteppingDecoder(ShiftJISRules())
        case .eucKR: SteppingDecoder(EUCKRRules())
        case .replacement: SteppingDecoder(ReplacementRules())
        default: SteppingDecoder(SingleByteRules(upperHalf))
        }
    }
}
