extension String {
    /// This text in one line that steers no terminal: a certificate can say anything.
    var singleLine: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                        Array("\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
                    default: [scalar]
                    }
                }))
    }
}
