import Foundation
import HTTPTypes

extension Exchange {
    /// The host in the caller's `Host` field, in lower case. Nil if there is no such field, or if it names the URL's own host.
    ///
    /// The field is part of the target URI (RFC 9110, section 7.1), so it can select a different site behind the same URL.
    package var otherHost: String? {
        let own = Self.hosts(request.headerFields)
        let hosts = own.isEmpty ? Self.hosts(options.defaultFields.fields) : own
        guard !hosts.isEmpty else { return nil }
        var other = request
        other.authority = hosts.joined(separator: ", ").trimmingCharacters(in: .whitespaces).asciiLowercased
        return Origin(other) == Origin(request) ? nil : other.authority
    }

    private static func hosts(_ fields: HTTPFields) -> [String] {
        fields.filter { $0.name.canonicalName == "host" }.map(\.value)
    }
}
