/// The headers that hold credentials: those with sensitive names, and those listed explicitly. The same headers are hidden in
/// descriptions and dropped on redirects to another origin.
package struct SensitiveHeaders: Sendable {
    /// The explicitly listed names, in lower case.
    private let names: Set<String>

    /// Creates the set of sensitive headers.
    ///
    /// - Parameter names: Names of additional sensitive headers, besides those with sensitive names. Case doesn't matter.
    package init(_ names: Set<String> = []) {
        self.names = Set(names.map(\.asciiLowercased))
    }

    package func contains(_ name: String) -> Bool {
        Redaction.isSensitive(name) || names.contains(name.asciiLowercased)
    }
}
