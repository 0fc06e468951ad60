extension ElementDecoder {
    /// The error for what is of another kind than the type.
    func mismatch(_ type: any Any.Type, _ description: String) -> DecodingError {
        decoding.failure(description, at: place, { .typeMismatch(type, $0) }, codingPath)
    }

    /// The error for text that is not of the type's form.
    func unreadable(_ expectation: String) -> DecodingError {
        let text = place.text
        let excerpt = text.count > 40 ? text.prefix(40) + "…" : text
        let hasElements = place.withTrimmedText { _ in true } == nil
        let found = hasElements ? "elements" : "\(excerpt.debugDescription)"
        return decoding.failure(
            "Expected \(expectation), found \(found)", at: place, DecodingError.dataCorrupted, codingPath)
    }

    /// The error for a value that must be there, and is nil or missing here.
    func nothing(_ type: any Any.Type) -> DecodingError {
        if place.isAbsent, let key, let parent { return parent.missing(key) }
        return decoding.failure("Expected \(type), found xsi:nil", at: place, { .valueNotFound(type, $0) }, codingPath)
    }

    /// The error for a value that lies in more others than this thread has room for.
    func tooDeep(_ depth: Int) -> DecodingError {
        decoding.failure(
            "The value lies in \(depth) others, and this thread's stack has no room for more", at: place,
            DecodingError.dataCorrupted, codingPath)
    }

    /// The error for a key that nothing was found for.
    func missing(_ key: any CodingKey) -> DecodingError {
        let name = decoding.name(of: key)
        return decoding.failure(
            "Found no element or attribute named \(name)", at: place, { .keyNotFound(key, $0) }, codingPath)
    }
}
