import Foundation

/// Validates the structure of a binary property list. All offsets must be in bounds, no object can contain itself, and
/// the nesting depth is limited. Repeated references can't expand to an excessive size.
struct BinaryPropertyListCheck {
    /// The total size of an object and all objects that it references. An object counts once for each reference to it.
    private struct Extent {
        var depth = 0
        var objects = 1
        /// The number of bytes in numbers, strings and data.
        var bytes = 0
    }

    /// An array or dictionary whose references are being followed.
    private struct Container {
        let number: Int
        /// The position of the next reference.
        var place: Int
        var referencesLeft: Int
        var keysLeft: Int
        var extent = Extent()
    }

    private let layout: BinaryPropertyListLayout
    private let maximumObjects: Int
    private let maximumBytes: Int
    /// The open containers, from the outermost to the innermost.
    private var containers: [Container] = []
    private var extents: [Int: Extent] = [:]
    private var open: Set<Int> = []

    static func check(_ data: Data) throws(PropertyListError) {
        var check = try BinaryPropertyListCheck(data)
        try check.follow(check.layout.topObject, isKey: false)
        while let container = check.containers.last { try check.advance(container) }
    }

    /// Each reference to an object uses at least one byte. A valid list therefore has fewer objects than bytes, unless
    /// several references lead to the same array or dictionary.
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
            throw PropertyListError(.malformed("it has a reference to a missing object"))
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
                throw PropertyListError(.malformed("it has a dictionary key that isn't text"))
            }
            try add(Extent(bytes: bytes))
        case .container(let place, let references, let keys):
            guard !isKey else { throw PropertyListError(.malformed("it has a dictionary key that isn't text")) }
            guard containers.count < PropertyListCheck.maximumDepth else { throw Self.tooDeep }
            open.insert(number)
            containers.append(
                Container(number: number, place: place, referencesLeft: references, keysLeft: keys))
        }
    }

    /// Adds the size of a referenced object to the innermost container.
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

/// The layout of a binary property list: a magic number, the objects, a table of their offsets, and a 32-byte trailer
/// that describes the table.
struct BinaryPropertyListLayout {
    /// The object properties that the check uses.
    enum Object {
        /// A number, date, text or data value with its size in bytes.
        case scalar(bytes: Int, isText: Bool)
        /// References to other objects, starting at a position. In a dictionary, the keys come first.
        case container(place: Int, references: Int, keys: Int)
    }

    let topObject: Int
    let referenceSize: Int
    private let bytes: [UInt8]
    private let objectCount: Int
    private let offsetSize: Int
    private let table: Int

    init(_ data: Data) throws(PropertyListError) {
        bytes = [UInt8](data)
        guard bytes.count >= 8 + 1 + 1 + 32 else { throw Self.malformed("it is too short") }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.integer(in: bytes, at: trailer + 8, size: 8),
            let top = Self.integer(in: bytes, at: trailer + 16, size: 8),
            let table = Self.integer(in: bytes, at: trailer + 24, size: 8),
            top < count, table >= 9, table <= trailer, count <= (trailer - table) / offsetSize
        else { throw Self.malformed("its last 32 bytes are invalid") }
        objectCount = count
        topObject = top
        self.table = table
    }

    /// Returns the object number in the reference at a position.
    func reference(at place: Int) -> Int? {
        Self.integer(in: bytes, at: place, size: referenceSize)
    }

    func object(_ number: Int) throws(PropertyListError) -> Object {
        guard number < objectCount,
            let place = Self.integer(in: bytes, at: table + number * offsetSize, size: offsetSize),
            place >= 8, place < table
        else { throw Self.malformed("it has a reference to a missing object") }
        let low = Int(bytes[place] & 0x0F)
        switch (bytes[place] >> 4, low) {
        case (0x0, 0), (0x0, 8), (0x0, 9): return .scalar(bytes: 0, isText: false)
        case (0x1, 0...4), (0x2, 2...3): return try scalar(at: place + 1, of: 1 << low)
        case (0x3, 3):
            let date = try scalar(at: place + 1, of: 8)
            // Foundation crashes when it prints dates out of this range.
            guard isPlausibleDate(at: place + 1) else { throw Self.malformed("it has a date that is out of range") }
            return date
        case (0x8, _): return try scalar(at: place + 1, of: low + 1)
        case (0x4, _), (0x5, _), (0x6, _):
            let (count, start) = try count(at: place)
            let size = bytes[place] >> 4 == 0x6 ? count.multipliedReportingOverflow(by: 2).partialValue : count
            return try scalar(at: start, of: size, isText: bytes[place] >> 4 != 0x4)
        case (0xA, _):
            let (count, start) = try count(at: place)
            return try container(at: start, references: count, keys: 0)
        case (0xD, _):
            let (count, start) = try count(at: place)
            return try container(at: start, references: count, keys: count)
        default: throw Self.malformed("it has an object of an unknown kind")
        }
    }

    private func scalar(
        at place: Int, of size: Int, isText: Bool = false
    ) throws(PropertyListError) -> Object {
        guard size >= 0, size <= table - place else { throw Self.malformed("it has an incomplete object") }
        return .scalar(bytes: size, isText: isText)
    }

    private func container(
        at place: Int, references: Int, keys: Int
    ) throws(PropertyListError) -> Object {
        let all = references + keys
        guard all <= (table - place) / referenceSize else { throw Self.malformed("it has an incomplete object") }
        return .container(place: place, references: all, keys: keys)
    }

    /// Returns the number of an object's elements or bytes and their position. The count is a separate integer if it
    /// doesn't fit in four bits.
    private func count(at place: Int) throws(PropertyListError) -> (Int, start: Int) {
        let low = Int(bytes[place] & 0x0F)
        guard low == 0x0F else { return (low, place + 1) }
        let size = 1 << Int(bytes[place + 1] & 0x0F)
        guard bytes[place + 1] >> 4 == 0x1, size <= 8, place + 2 + size <= table,
            let count = Self.integer(in: bytes, at: place + 2, size: size), count <= bytes.count
        else { throw Self.malformed("it has an object with an invalid size") }
        return (count, place + 2 + size)
    }

    private func isPlausibleDate(at place: Int) -> Bool {
        let bits = bytes[place..<(place + 8)].reduce(0) { $0 << 8 | UInt64($1) }
        let seconds = Double(bitPattern: bits)
        // About 100,000 years.
        return seconds.magnitude < 3.2e12
    }

    /// Returns a big-endian unsigned integer, or `nil` if it is too large or incomplete.
    private static func integer(in bytes: [UInt8], at place: Int, size: Int) -> Int? {
        guard place >= 0, place + size <= bytes.count else { return nil }
        return Int(exactly: bytes[place..<(place + size)].reduce(0) { $0 << 8 | UInt64($1) })
    }

    private static func malformed(_ problem: String) -> PropertyListError { PropertyListError(.malformed(problem)) }
}
