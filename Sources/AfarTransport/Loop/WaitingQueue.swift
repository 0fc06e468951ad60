/// A first-in, first-out queue. Removing the first element takes constant time.
@usableFromInline package struct WaitingQueue<Element> {
    /// Removed elements at the front are nil.
    @usableFromInline var places: [Element?] = []
    @usableFromInline var start = 0

    @inlinable package init() {}

    @inlinable package var count: Int { places.count - start }

    /// The element at a position, if any.
    @inlinable package subscript(position: Int) -> Element? {
        (0..<count).contains(position) ? places[start + position] : nil
    }

    @inlinable package mutating func append(_ element: Element) { places.append(element) }

    @inlinable package mutating func prepend(_ element: Element) { places.insert(element, at: start) }

    @inlinable package mutating func takeFirst() -> Element? { take { _ in true } }

    /// Removes and returns the first element that satisfies a condition.
    @inlinable package mutating func take(where isSuitable: (Element) -> Bool) -> Element? {
        guard let index = places[start...].firstIndex(where: { $0.map(isSuitable) ?? false }) else { return nil }
        let element = places[index]
        guard index == start else {
            places.remove(at: index)
            return element
        }
        places[index] = nil
        start += 1
        // The number of moved elements never exceeds the number of removed ones, so the average cost per element is constant.
        if start * 2 >= places.count {
            places.removeFirst(start)
            start = 0
        }
        return element
    }

    /// Removes and returns all elements.
    @inlinable package mutating func takeAll() -> [Element] {
        defer { self = WaitingQueue() }
        return places.compactMap(\.self)
    }
}
