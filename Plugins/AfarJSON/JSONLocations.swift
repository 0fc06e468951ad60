import AfarSerializers

/// The locations in a text, found from marks on the way: a type may try several ways for each value, and each that fails
/// makes an error.
struct JSONLocations {
    /// The location of each 1024th byte, as far as one was asked for.
    private var marks = [JSONLocation()]

    private static let distance = 1_024

    /// The location of a byte.
    mutating func location(of offset: Int, in text: UnsafeRawBufferPointer) -> JSONLocation {
        func advanced(_ mark: JSONLocation, to end: Int) -> JSONLocation {
            mark.advanced(over: UnsafeRawBufferPointer(rebasing: text[mark.byteOffset..<end]))
        }
        while let last = marks.last, last.byteOffset + Self.distance <= offset {
            marks.append(advanced(last, to: last.byteOffset + Self.distance))
        }
        return advanced(marks[offset / Self.distance], to: offset)
    }
}
