extension AutoPurgingImageCache {
    /// The images of a cache, and the order in which they were used.
    struct Contents {
        private struct Entry {
            let image: Image
            let bytes: UInt64
            var lastUse: UInt64
        }

        private var entries: [String: Entry] = [:]
        private var uses: UInt64 = 0
        private(set) var bytes: UInt64 = 0

        /// Keeps an image.
        ///
        /// - Returns: The one that was there.
        mutating func add(_ image: Image, _ identifier: String) -> Image? {
            uses += 1
            let entry = Entry(image: image, bytes: UInt64(image.byteCount), lastUse: uses)
            let replaced = remove(identifier)
            entries[identifier] = entry
            bytes += entry.bytes
            return replaced
        }

        mutating func use(_ identifier: String) -> Image? {
            uses += 1
            entries[identifier]?.lastUse = uses
            return entries[identifier]?.image
        }

        mutating func remove(_ identifier: String) -> Image? {
            guard let entry = entries.removeValue(forKey: identifier) else { return nil }
            bytes -= entry.bytes
            return entry.image
        }

        /// Removes images that match.
        ///
        /// - Returns: How many they were.
        mutating func removeAll(where matches: (String) -> Bool = { _ in true }) -> Int {
            let identifiers = entries.keys.filter(matches)
            for identifier in identifiers { _ = remove(identifier) }
            return identifiers.count
        }

        /// Removes what was used least recently.
        ///
        /// - Returns: What was removed.
        mutating func purge(to limit: UInt64) -> [Image?] {
            var removed: [Image?] = []
            for (identifier, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where bytes > limit {
                removed.append(remove(identifier))
            }
            return removed
        }
    }
}
