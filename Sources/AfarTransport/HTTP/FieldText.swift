/// The value of a field as text. Bytes that aren't valid UTF-8 are read as ISO-8859-1 (RFC 9110, section 5.5).
package struct FieldText: Sendable {
    package let text: String
    /// Whether each character represents one byte.
    package let isLatin1: Bool

    package init(_ bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self) {
            (self.text, isLatin1) = (text, false)
        } else {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
            (self.text, isLatin1) = (String(text), true)
        }
    }

    /// The value of a field that contains a URL. Non-ASCII bytes of ISO-8859-1 are percent-encoded, since URLs consist of bytes.
    var reference: String {
        guard isLatin1 else { return text }
        return text.unicodeScalars.reduce(into: "") { reference, scalar in
            if scalar.isASCII {
                reference.unicodeScalars.append(scalar)
            } else {
                reference += "%" + String(scalar.value, radix: 16, uppercase: true)
            }
        }
    }
}
