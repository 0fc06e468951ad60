import Foundation
import HTTPTypes

/// User name and password as they are, in Base64 (RFC 7617).
struct BasicAuthentication: AuthenticationScheme {
    let name = "basic"

    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError) {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw refusal("the user name has a colon, which ends a user name in Basic authentication", exchange)
        }
        let pair = "\(user):\(password)"
        guard pair.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw refusal("the user name or the password has control characters", exchange)
        }
        // Without a word on the charset, UTF-8 is what most servers take too; composing it is only for those that say so.
        let isUTF8 = challenge.parameters["charset"]?.lowercased() == "utf-8"
        let bytes = Data((isUTF8 ? pair.precomposedStringWithCanonicalMapping : pair).utf8)
        exchange.request.headerFields[.authorization] = "Basic \(bytes.base64EncodedString())"
    }

    private func refusal(_ message: String, _ exchange: Exchange) -> TransportError {
        TransportError(.invalidCredential, phase: .queued, url: exchange.url, message: message)
    }
}
