import Foundation

/// A PEM block (RFC 7468). Extracts and creates the DER forms of RSA keys.
struct PEM {
    let label: String
    let der: Data

    init?(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        guard let start = lines.firstIndex(where: { $0.hasPrefix("-----BEGIN ") }),
            let end = lines[start...].firstIndex(where: { $0.hasPrefix("-----END ") }),
            let der = Data(base64Encoded: lines[(start + 1)..<end].joined())
        else { return nil }
        label = String(lines[start].dropFirst(11).prefix { $0 != "-" })
        self.der = der
    }

    /// The PKCS#1 form of a private RSA key.
    var rsaPrivateKey: Data? {
        label == "RSA PRIVATE KEY" ? der : Self.elements(of: der, tag: 0x04).first
    }

    /// The PKCS#1 form of a public RSA key. Other public keys contain this form in a bit string, after a byte with the
    /// number of unused bits.
    var rsaPublicKey: Data? {
        label == "RSA PUBLIC KEY" ? der : Self.elements(of: der, tag: 0x03).first.map { Data($0.dropFirst()) }
    }

    /// Returns the contents of the elements with this tag in a sequence.
    static func elements(of der: Data, tag: UInt8) -> [Data] {
        guard var rest = element(at: der)?.contents else { return [] }
        var elements: [Data] = []
        while let (found, contents, count) = element(at: rest) {
            if found == tag { elements.append(Data(contents)) }
            rest = rest.dropFirst(count)
        }
        return elements
    }

    private static func element(at der: Data) -> (tag: UInt8, contents: Data, count: Int)? {
        var bytes = der.makeIterator()
        guard let tag = bytes.next(), let first = bytes.next() else { return nil }
        var (length, header) = (Int(first), 2)
        if first >= 0x80 {
            let size = Int(first & 0x7F)
            guard (1...4).contains(size) else { return nil }
            length = 0
            for _ in 0..<size {
                guard let byte = bytes.next() else { return nil }
                length = length << 8 | Int(byte)
            }
            header += size
        }
        guard der.count - header >= length else { return nil }
        return (tag, der.dropFirst(header).prefix(length), header + length)
    }

    /// Returns a SubjectPublicKeyInfo for a public RSA key in PKCS#1 form.
    static func publicKeyInfo(ofRSA der: Data) -> Data {
        let algorithm: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        let bits = Data([0x03]) + length(der.count + 1) + [0x00] + der
        return Data([0x30]) + length(algorithm.count + bits.count) + algorithm + bits
    }

    private static func length(_ count: Int) -> Data {
        if count < 0x80 { return Data([UInt8(count)]) }
        if count < 0x100 { return Data([0x81, UInt8(count)]) }
        return Data([0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)])
    }

    static func text(of der: Data, label: String = "PUBLIC KEY") -> String {
        let lines = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n"
    }
}
