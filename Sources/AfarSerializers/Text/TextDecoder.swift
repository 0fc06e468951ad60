public import Foundation

/// Makes text of bytes that come in chunks. However the bytes are cut, the chunks' texts make up the same text: the bytes of
/// a character that is not whole are kept until its rest comes.
///
/// ```swift
/// var decoder = TextDecoder(.shiftJIS)
/// for await chunk in chunks { show(decoder.decode(chunk)) }
/// show(decoder.finish())
/// ```
///
/// Bytes that are malformed become U+FFFD, as the Encoding Standard says; ``malformedOffset`` tells where the first are. A
/// byte-order mark at the beginning is left out.
public struct TextDecoder: Sendable {
    /// The encoding. A byte-order mark that is looked for can change it.
    public private(set) var encoding: TextEncoding
    private let findsByteOrderMarks: Bool
    private var decoder: any ChunkDecoder
    /// The first bytes, until it is clear whether they are a byte-order mark; then nil.
    private var beginning: [UInt8]? = []
    private var lengthOfMark = 0

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - encoding: The encoding of the bytes.
    ///   - findsByteOrderMarks: Whether a byte-order mark of another encoding counts more than `encoding`. The default is
    ///     false.
    public init(_ encoding: TextEncoding, findsByteOrderMarks: Bool = false) {
        self.encoding = encoding
        self.findsByteOrderMarks = findsByteOrderMarks
        decoder = encoding.makeDecoder()
    }

    /// Where the first malformed bytes begin, counted from the first byte of all; nil when there were none so far.
    public var malformedOffset: Int? { decoder.malformedOffset.map { $0 + lengthOfMark } }

    /// The text up to the last character that is whole, empty when there is none.
    public mutating func decode(_ bytes: Data) -> String {
        bytes.withUnsafeBytes { decode($0.bindMemory(to: UInt8.self)) }
    }

    /// What was kept: U+FFFD for a character whose rest never came, empty when there is none.
    ///
    /// Call it once, when all bytes were given. For another text, make another decoder.
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

// MARK: - Decoders

/// Makes text of bytes that come in chunks. What is malformed becomes U+FFFD.
protocol ChunkDecoder: Sendable {
    /// Where the first malformed bytes are, counted from the first byte.
    var malformedOffset: Int? { get }

    /// The text up to the last character that is whole.
    mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> String

    /// What stands for a character whose rest never came.
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
