import Foundation

/// Looks whether a binary property list is put together as it should be: everything lies where it may, nothing contains
/// itself, nothing is nested too deep, and what is referred to again and again does not add up to too much.
struct BinaryPropertyListCheck {
    /// What an object takes up when everything that it refers to is written out.
    private struct Extent {
        var depth = 0
        var objects = 1
        /// The bytes of numbers, texts and data.
        var bytes = 0
    }

    /// An array or dictionary whose references are being followed.
    private struct Container {
        let number: Int
        /// Where the next reference is.
        var place: Int
        var referencesLeft: Int
        var keysLeft: Int
        var extent = Extent()
    }

    private let layout: BinaryPropertyListLayout
    private let maximumObjects: Int
    private let maximumBytes: Int
    /// From the outermost to the innermost.
    private var containers: [Container] = []
    private var extents: [Int: Extent] = [:]
    private var open: Set<Int> = []

    static func check(_ data: Data) throws(PropertyListError) {
        var check = try BinaryPropertyListCheck(data)
        try check.follow(check.layout.topObject, isKey: false)
        while let container = check.containers.last { try check.advance(container) }
    }

    /// Each reference takes a byte at least, so a legitimate list that repeats no array or dictionary stays below its
    /// own size.
    private init(_ data: Data) throws(PropertyListError) {
        layout = try BinaryPropertyListLayout(data)
        maximumObjects = max(50_000, data.count)
        maximumBytes = max(16_000_000, 16 * data.count)
    }

    private mutating func advance(_ container: Container) throws(PropertyListError) {
        guard container.referencesLeft > 0 else {
            containers.removeLast()
            open.remove(container.number)
            var extent = container.extent
            extent.depth += 1
            extents[container.number] = extent
            return try add(extent)
        }
        guard let number = layout.reference(at: container.place) else {
            throw PropertyListError(.malformed("it refers to an object outside of it"))
        }
        var next = container
        next.place += layout.referenceSize
        next.referencesLeft -= 1
        next.keysLeft = max(0, container.keysLeft - 1)
        containers[containers.count - 1] = next
        try follow(number, isKey: container.keysLeft > 0)
    }

    private mutating func follow(_ number: Int, isKey: Bool) throws(PropertyListError) {
        if let extent = extents[number], !isKey { return try add(extent) }
        if open.contains(number) { throw PropertyListError(.circular) }
        switch try layout.object(number) {
        case .scalar(let bytes, let isText):
            guard isText || !isKey else {
                throw PropertyListError(.malformed("a key of a dictionary of it is no text"))
            }
            try add(Extent(bytes: bytes))
        case .container(let place, let references, let keys):
            guard !isKey else { throw PropertyListError(.malformed("a key of a dictionary of it is no text")) }
            guard containers.count < PropertyListCheck.maximumDepth else { throw Self.tooDeep }
            open.insert(number)
            containers.append(
                Container(number: number, place: place, referencesLeft: references, keysLeft: keys))
        }
    }

    /// Adds to the innermost container what it refers to.
    private mutating func add(_ extent: Extent) throws(PropertyListError) {
        guard containers.count + extent.depth <= PropertyListCheck.maximumDepth else { throw Self.tooDeep }
        guard var container = containers.popLast() else { return }
        container.extent.depth = max(container.extent.depth, extent.depth)
        container.extent.objects += extent.objects
        container.extent.bytes += extent.bytes
        guard container.extent.objects <= maximumObjects, container.extent.bytes <= maximumBytes else {
            throw PropertyListError(.tooLarge)
        }
        containers.append(container)
    }

    private static var tooDeep: PropertyListError {
        PropertyListError(.tooDeep(limit: PropertyListCheck.maximumDepth))
    }
}
