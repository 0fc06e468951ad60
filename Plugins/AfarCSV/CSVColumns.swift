/// The names of a table's columns.
final class CSVColumns: Sendable {
    /// The names as keys are compared with them, in the order of the columns.
    let names: [String]
    private let indices: [String: Int]
    private let duplicates: Set<String>

    init(_ names: [String], _ strategy: CSVDataDecoder.KeyDecodingStrategy) {
        self.names = names.map(strategy.key)
        var indices: [String: Int] = [:]
        var duplicates: Set<String> = []
        for (index, name) in self.names.enumerated() where indices.updateValue(index, forKey: name) != nil {
            duplicates.insert(name)
        }
        self.indices = indices
        self.duplicates = duplicates
    }

    func index(of name: String) -> Int? { indices[name] }

    /// Whether several columns have a name.
    func isDuplicate(_ name: String) -> Bool { !duplicates.isEmpty && duplicates.contains(name) }
}
