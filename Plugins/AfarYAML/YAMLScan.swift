import CYaml

/// Scans a document without decoding it, and rejects documents that exceed the limits.
///
/// It reads the events of the C library that Yams uses. Yams itself exposes only nodes, and creating the nodes is already
/// expensive.
struct YAMLScan {
    private let limits: YAMLLimits
    private var open: [Collection] = []
    private var anchors: [String: Extent] = [:]
    private var nodes = 0
    private var bytes = 0
    private var line = 1

    /// The size of a node with aliases expanded.
    private struct Extent {
        var nodes = 1
        /// The bytes of scalars.
        var bytes = 0
        var height = 0
        /// The number of keys that a mapping gains when this node is merged into it.
        var mergedKeys = 0
    }

    /// A sequence or mapping that hasn't ended.
    private struct Collection {
        let isMapping: Bool
        let anchor: String?
        var extent = Extent()
        var isAtValue = false
        var isMerging = false
    }

    /// Rejects a document that exceeds the limits. Doesn't check whether the document is valid.
    ///
    /// - Throws: ``YAMLLimitExceeded``.
    static func check(_ text: String, _ limits: YAMLLimits) throws(YAMLLimitExceeded) {
        guard text.utf8.count <= limits.maximumSize else {
            throw YAMLLimitExceeded(limit: .size, maximum: limits.maximumSize, line: nil)
        }
        var scan = YAMLScan(limits: limits)
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(YAMLLimitExceeded) in try scan.read(bytes) }
        }
        try result.get()
    }

    private init(limits: YAMLLimits) { self.limits = limits }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(YAMLLimitExceeded) {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else { return }
        defer { yaml_parser_delete(&parser) }
        yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
        while true {
            var event = yaml_event_t()
            // Yams later reports the error in invalid YAML.
            guard yaml_parser_parse(&parser, &event) == 1 else { return }
            defer { yaml_event_delete(&event) }
            guard event.type != YAML_STREAM_END_EVENT else { return }
            line = Int(event.start_mark.line) + 1
            try take(event)
        }
    }

    private mutating func take(_ event: yaml_event_t) throws(YAMLLimitExceeded) {
        switch event.type {
        case YAML_DOCUMENT_START_EVENT:
            anchors = [:]
        case YAML_SEQUENCE_START_EVENT:
            try begin(Collection(isMapping: false, anchor: Self.name(event.data.sequence_start.anchor)))
        case YAML_MAPPING_START_EVENT:
            try begin(Collection(isMapping: true, anchor: Self.name(event.data.mapping_start.anchor)))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
            guard let collection = open.popLast() else { return }
            try add(collection.extent, anchor: collection.anchor)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            try require(.scalarLength, scalar.length, atMost: limits.maximumScalarLength)
            let extent = Extent(bytes: scalar.length)
            try count(extent)
            let isMergeKey = Self.isMergeKey(scalar.value, length: scalar.length, tag: scalar.tag)
            try add(extent, anchor: Self.name(scalar.anchor), isMergeKey: isMergeKey)
        case YAML_ALIAS_EVENT:
            // If an alias has no anchor, Yams rejects it when it decodes the document.
            let extent = Self.name(event.data.alias.anchor).flatMap { anchors[$0] } ?? Extent()
            try require(.depth, open.count + extent.height, atMost: limits.maximumDepth)
            try count(extent)
            try add(extent, anchor: nil)
        default: break
        }
    }

    private mutating func begin(_ collection: Collection) throws(YAMLLimitExceeded) {
        open.append(collection)
        try require(.depth, open.count, atMost: limits.maximumDepth)
        try count(Extent())
    }

    private mutating func count(_ more: Extent) throws(YAMLLimitExceeded) {
        nodes = nodes.adding(more.nodes)
        try require(.nodes, nodes, atMost: limits.maximumNodes)
        bytes = bytes.adding(more.bytes)
        try require(.size, bytes, atMost: limits.maximumSize)
    }

    /// Adds a complete node to its collection.
    private mutating func add(
        _ extent: Extent, anchor: String?, isMergeKey: Bool = false
    ) throws(YAMLLimitExceeded) {
        if let anchor { anchors[anchor] = extent }
        guard var parent = open.popLast() else { return }
        parent.extent.nodes = parent.extent.nodes.adding(extent.nodes)
        parent.extent.bytes = parent.extent.bytes.adding(extent.bytes)
        parent.extent.height = max(parent.extent.height, extent.height + 1)
        if !parent.isMapping {
            parent.extent.mergedKeys = parent.extent.mergedKeys.adding(extent.mergedKeys)
        } else if parent.isAtValue {
            let keys = parent.isMerging ? extent.mergedKeys : 1
            parent.extent.mergedKeys = parent.extent.mergedKeys.adding(keys)
            try require(.mappingCount, parent.extent.mergedKeys, atMost: limits.maximumMappingCount)
        }
        parent.isMerging = !parent.isAtValue && isMergeKey
        parent.isAtValue.toggle()
        open.append(parent)
    }

    private func require(
        _ limit: YAMLLimitExceeded.Limit, _ value: Int, atMost maximum: Int
    ) throws(YAMLLimitExceeded) {
        guard value <= maximum else { throw YAMLLimitExceeded(limit: limit, maximum: maximum, line: line) }
    }

    private static func name(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        pointer.map { String(cString: $0) }
    }

    /// Returns whether a scalar can be a merge key (https://yaml.org/type/merge.html). This includes quoted scalars.
    private static func isMergeKey(
        _ value: UnsafePointer<yaml_char_t>?, length: Int, tag: UnsafeMutablePointer<yaml_char_t>?
    ) -> Bool {
        let begin = UnsafeBufferPointer(start: value, count: value == nil ? 0 : min(length, 3))
        return begin.elementsEqual("<<".utf8) || name(tag) == "tag:yaml.org,2002:merge"
    }
}

extension Int {
    /// Returns the sum, or the largest integer if the sum overflows. The sum can overflow, because limits have no maximum.
    fileprivate func adding(_ other: Int) -> Int {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}
