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
