/// What a YAML document may cost. Documents from a server can be small and cost a lot: aliases that multiply ("billion
/// laughs"), deep nesting, mappings whose keys are searched one by one.
///
/// A document beyond a limit fails with a ``YAMLLimitExceeded``, before anything is made of it.
public struct YAMLLimits: Hashable, Sendable {
    /// The bytes of a document, and those of its scalars, with each alias counted as what it stands for. The default is
    /// 10 MiB.
    public var maximumSize: Int
    /// How deep sequences and mappings may lie in each other, with each alias counted as what it stands for. The default is
    /// 100.
    public var maximumDepth: Int
    /// The number of scalars, sequences and mappings, with each alias counted as what it stands for. The default is 100,000.
    public var maximumNodes: Int
    /// The bytes of a scalar, in UTF-8. The default is 1 MiB.
    public var maximumScalarLength: Int
    /// The keys of a mapping, with those that are merged into it. Decoding a mapping takes time that grows with the square
    /// of this. The default is 1,000.
    public var maximumMappingCount: Int

    /// Makes limits.
    public init(
        maximumSize: Int = 10 << 20,
        maximumDepth: Int = 100,
        maximumNodes: Int = 100_000,
        maximumScalarLength: Int = 1 << 20,
        maximumMappingCount: Int = 1_000
    ) {
        self.maximumSize = maximumSize
        self.maximumDepth = maximumDepth
        self.maximumNodes = maximumNodes
        self.maximumScalarLength = maximumScalarLength
        self.maximumMappingCount = maximumMappingCount
    }
}
