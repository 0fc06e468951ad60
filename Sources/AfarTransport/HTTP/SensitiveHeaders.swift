/// Which headers hold credentials: those whose names tell, and those that somebody names. One rule for all: what is hidden
/// from people's eyes follows no redirect to another origin.
package struct SensitiveHeaders: Sendable {
    /// In lower case.
    private let names: Set<String>

    /// - Parameter names: The names of headers that are sensitive beside those that are so by their names. Case does
    ///   not matter.
    package init(_ names: Set<String> = []) {
        self.names = Set(names.map(\.asciiLowercased))
    }

    package func contains(_ name: String) -> Bool {
        Redaction.isSensitive(name) || names.contains(name.asciiLowercased)
    }
}
