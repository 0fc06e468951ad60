import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension CachedResponse {
    /// Foundation's form of it; nil when the URL cannot be read.
    var cachedURLResponse: CachedURLResponse? {
        let head = ResponseHead(status: status, fields: fields, url: url)
        return head.httpURLResponse.map { CachedURLResponse(response: $0, data: body) }
    }

    /// The response with what somebody has made of Foundation's form of it; nil when that is not to be kept.
    func changed(to other: CachedURLResponse) -> CachedResponse? {
        guard other.storagePolicy != .notAllowed else { return nil }
        var (status, fields) = (status, fields)
        if let head = other.response as? HTTPURLResponse {
            status = head.statusCode
            fields = HTTPFields(head, inPlaceOf: fields)
        }
        return CachedResponse(
            url: url, variant: variant, status: status, fields: fields, body: other.data, requestDate: requestDate,
            responseDate: responseDate, isForMemoryOnly: other.storagePolicy == .allowedInMemoryOnly)
    }
}

extension HTTPFields {
    /// The fields of Foundation's form of a head. Those that are as before stay apart as they were.
    fileprivate init(_ head: HTTPURLResponse, inPlaceOf old: HTTPFields) {
        self.init()
        for case (let text as String, let value as String) in head.allHeaderFields {
            guard let name = HTTPField.Name(text) else { continue }
            let values = old[values: name]
            if values.joined(separator: ", ") == value { self[values: name] = values } else { self[name] = value }
        }
    }
}
