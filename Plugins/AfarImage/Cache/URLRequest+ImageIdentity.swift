import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// What requests have in common that bring the same image: the URL, and what else a server may look at. A request with
    /// another `Authorization` is another one, so that nobody gets what is somebody else's.
    ///
    /// No URL has a space or a line break in it.
    var imageIdentity: String {
        var parts = [url?.absoluteString ?? ""]
        if let httpMethod, httpMethod != "GET" { parts.append(httpMethod) }
        for header in headers.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
            parts.append("\(header.name.lowercased()): \(header.value)")
        }
        if let httpBody { parts.append(httpBody.base64EncodedString()) }
        return parts.joined(separator: "\n")
    }
}
