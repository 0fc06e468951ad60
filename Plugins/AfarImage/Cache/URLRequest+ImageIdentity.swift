import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// What requests have in common that bring the same image: the URL, and what else a server may look at. A request with
    /// another `Authorization` is another one.
    ///
    /// Header fields and bodies may be secret, so there is a hash of them only, another one in each process.
    var imageIdentity: String {
        var parts = [url?.absoluteString ?? ""]
        if let httpMethod, httpMethod != "GET" { parts.append(httpMethod) }
        let fields = headers.map { [$0.name.lowercased(), $0.value] }.sorted { $0[0] < $1[0] }
        if !fields.isEmpty || httpBody != nil {
            parts.append(ImageIdentity.hash(of: fields, httpBody))
        }
        return parts.joined(separator: "\n")
    }
}

/// Names for what may be secret.
enum ImageIdentity {
    /// A hash of 128 bits that tells nothing, another one in each process.
    static func hash<each Part: Hashable>(of part: repeat each Part) -> String {
        [0, 1].map { number in
            var hasher = Hasher()
            hasher.combine(number)
            repeat hasher.combine(each part)
            return String(UInt(bitPattern: hasher.finalize()), radix: 36)
        }.joined()
    }
}
