public import Foundation

/// The texts of `/encoding/{charset}`: the bytes that are sent, and the characters that they mean.
public struct SampleText: Sendable {
    /// The charset's name, lowercased, as in `shift_jis`.
    public let charset: String
    /// What the bytes mean.
    public let text: String
    /// What is sent.
    public let bytes: Data

    /// All texts there are.
    public static let all: [SampleText] = [
        SampleText("utf-8", "Grüße", [0x47, 0x72, 0xc3, 0xbc, 0xc3, 0x9f, 0x65]),
        SampleText("iso-8859-1", "Grüße", [0x47, 0x72, 0xfc, 0xdf, 0x65]),
        SampleText("windows-1252", "“5 €”", [0x93, 0x35, 0x20, 0x80, 0x94]),
        SampleText("utf-16", "Grüße", [0xfe, 0xff, 0, 0x47, 0, 0x72, 0, 0xfc, 0, 0xdf, 0, 0x65]),
        SampleText("utf-16le", "Grüße", [0x47, 0, 0x72, 0, 0xfc, 0, 0xdf, 0, 0x65, 0]),
        SampleText("shift_jis", "日本語", [0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea]),
        SampleText("euc-jp", "日本語", [0xc6, 0xfc, 0xcb, 0xdc, 0xb8, 0xec]),
    ]

    private init(_ charset: String, _ text: String, _ bytes: [UInt8]) {
        self.charset = charset
        self.text = text
        self.bytes = Data(bytes)
    }
}
