import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What validators check in a response's head.
enum ResponseRules {
    static func check(status: Int, isIn acceptable: some Sequence<Int>) throws {
        guard acceptable.contains(status) else {
            throw AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: status))
        }
    }

    static func check(contentTypeOf head: ResponseHead, isIn acceptable: [String]) throws {
        let ranges = acceptable.compactMap(MediaRange.init)
        guard let contentType = head.value(for: .contentType), let type = MediaRange(contentType) else {
            guard ranges.contains(.any) else {
                throw AFError.responseValidationFailed(
                    reason: .missingContentType(acceptableContentTypes: acceptable.sorted()))
            }
            return
        }
        guard ranges.contains(where: { $0.includes(type) }) else {
            throw AFError.responseValidationFailed(
                reason: .unacceptableContentType(
                    acceptableContentTypes: acceptable.sorted(), responseContentType: type.essence))
        }
    }

    /// The media types in an `Accept` header (RFC 9110, section 12.5.1).
    static func mediaTypes(in accept: String) -> [String] {
        accept.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// A type and a subtype, either of which may be `*`; parameters don't count.
    private struct MediaRange: Hashable {
        let type: Substring
        let subtype: Substring

        /// The type without its parameters, in lower case.
        var essence: String { "\(type)/\(subtype)" }

        static let any = MediaRange(type: "*", subtype: "*")

        private init(type: Substring, subtype: Substring) {
            self.type = type
            self.subtype = subtype
        }

        init?(_ text: String) {
            let essence = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
            let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
            self.init(type: parts[0], subtype: parts[1])
        }

        func includes(_ other: MediaRange) -> Bool {
            (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
        }
    }
}
