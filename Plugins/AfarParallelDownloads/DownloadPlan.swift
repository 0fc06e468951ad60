import AfarCore
import Foundation
import HTTPTypes

/// The version of a file on a server. All parts must have the same version.
struct FileVersion: Equatable, Sendable {
    var length: Int64
    /// The value for `If-Range`. Nil if the response doesn't identify the file's bytes.
    var validator: String?
    /// The origin of the response. A validator is valid only for its origin (RFC 9110, section 8.8.3).
    var origin: Origin?

    init(length: Int64, validator: String, origin: Origin?) {
        self.length = length
        self.validator = validator
        self.origin = origin
    }

    init(_ head: ResponseHead, length: Int64) {
        self.length = length
        validator = head.strongValidator
        origin = Self.origin(of: head)
    }

    /// Returns whether a partial response belongs to this version of the file. The request contained the version's validator, if any.
    ///
    /// If the validator is an entity tag, the response must repeat it. A `Last-Modified` date can be missing from the response
    /// (RFC 9110, section 15.3.7).
    func includes(_ head: ResponseHead) -> Bool {
        guard origin == Self.origin(of: head) else { return false }
        guard let validator else { return true }
        let isTag = validator.hasPrefix("\"")
        return isTag
            ? head.value(for: .eTag) == validator : head.value(for: .lastModified).map { $0 == validator } ?? true
    }

    private static func origin(of head: ResponseHead) -> Origin? { URL(string: head.url).flatMap { Origin($0) } }
}

/// The division of a file into parts. Workers take one part at a time, and can return the rest of a part.
struct DownloadPlan: Sendable {
    /// The length of the first part, and the minimum length of the others, in bytes.
    static let minimumLength: Int64 = 1 << 20

    let workers: Int
    /// The bytes that no worker has taken.
    private(set) var free: [Range<Int64>] = []
    /// The workers that have a part or will take one.
    private(set) var active = 0

    init(workers: Int) { self.workers = workers }

    /// Adds bytes of the file. Bytes that are added last are requested first.
    mutating func add(_ range: Range<Int64>) {
        if !range.isEmpty { free.append(range) }
    }

    mutating func begin() { active += 1 }

    /// Returns the next part, or nil if no bytes are left. The worker then ends.
    ///
    /// The parts become smaller toward the end, so that no worker has much left when the others have finished.
    mutating func next() -> Range<Int64>? {
        guard let range = free.popLast() else {
            active -= 1
            return nil
        }
        let rest = free.reduce(Int64(range.count)) { $0 + Int64($1.count) }
        let length = workers == 1 ? rest : max(Self.minimumLength, rest / Int64(2 * workers))
        guard Int64(range.count) - length >= Self.minimumLength else { return range }
        free.append(range.lowerBound + length..<range.upperBound)
        return range.lowerBound..<range.lowerBound + length
    }

    /// Ends a worker whose requests failed, and leaves the rest of its part to the other workers. Returns false if there are no other
    /// workers.
    mutating func giveBack(_ range: Range<Int64>) -> Bool {
        guard active > 1 else { return false }
        active -= 1
        add(range)
        return true
    }
}
