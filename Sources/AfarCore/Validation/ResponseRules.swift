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
        let ranges = acceptable.map { MediaType($0) }
        let type = head.mediaType
        guard type.isComplete else {
            guard ranges.contains(where: \.isAny) else {
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
}
