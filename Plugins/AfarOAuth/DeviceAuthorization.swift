import AfarCore
import AfarTransport
public import Foundation

/// A code that the user confirms on another device (RFC 8628).
///
/// ```swift
/// let authorization = try await client.deviceAuthorization(scope: "files.read")
/// print("Open \(authorization.verificationURI) and enter \(authorization.userCode).")
/// let token = try await authorization.token()
/// ```
public struct OAuthDeviceAuthorization: Sendable {
    /// The code that the user enters.
    public let userCode: String
    /// The page on which the user enters the code.
    public let verificationURI: URL
    /// The page with the code in its URL, for example for a QR code, or nil.
    public let verificationURIComplete: URL?
    /// When the code expires.
    public let expirationDate: Date

    private let client: OAuthClient
    private let deviceCode: String
    private let interval: Duration

    init(_ object: JSONObject, client: OAuthClient) throws(OAuthError) {
        guard let deviceCode = object.string("device_code"), let userCode = object.string("user_code") else {
            throw .invalidResponse("It has no device_code or user_code.")
        }
        // Some servers use the member's name from an older draft, `verification_url`.
        guard let page = object.string("verification_uri") ?? object.string("verification_url"),
            let verificationURI = Self.page(page)
        else { throw .invalidResponse("Its verification_uri isn't a URL with https.") }
        guard let seconds = object.seconds("expires_in"), seconds > 0 else {
            throw .invalidResponse("Its expires_in isn't a number of seconds.")
        }
        self.client = client
        self.deviceCode = deviceCode
        self.userCode = String(
            userCode.unicodeScalars.prefix(100).filter { !$0.properties.isControl }.map(Character.init))
        self.verificationURI = verificationURI
        verificationURIComplete = object.string("verification_uri_complete").flatMap(Self.page)
        expirationDate = client.now.addingTimeInterval(min(seconds, 86_400))
        // The interval is 5 seconds if the server sends none (RFC 8628, section 3.2).
        interval = .seconds(min(max(object.seconds("interval") ?? 5, 1), 300))
    }

    /// Accepts only URLs that a browser opens as a page.
    private static func page(_ text: String) -> URL? {
        guard let url = URL(string: text), let origin = Origin(url), origin.isSecure() else { return nil }
        return url
    }

    /// Waits until the user has confirmed the code.
    ///
    /// The method polls at the server's interval, and increases it by 5 seconds after each `slow_down`. After a timeout, a lost connection,
    /// or a status such as 503 without an error code, it doubles the interval, up to 5 minutes (RFC 8628, section 3.5). Delays use the
    /// session's time source.
    ///
    /// - Throws: ``OAuthError/deviceCodeExpired``, ``OAuthError/refused(_:)`` with the code `access_denied`, and other errors. Polling also
    ///   ends after any other error code of the server, and after any request error that isn't temporary, such as an invalid certificate.
    public func token() async throws(OAuthError) -> OAuthToken {
        var interval = interval
        let form = [Parameter("device_code", deviceCode)]
        while true {
            let remaining = expirationDate.timeIntervalSince(client.now)
            guard remaining > 0 else { throw .deviceCodeExpired }
            do {
                try await client.session.configuration.timeSource.sleep(for: min(interval, .seconds(remaining)))
            } catch {
                throw .cancelled
            }
            guard client.now < expirationDate else { throw .deviceCodeExpired }
            do {
                return try await client.token("urn:ietf:params:oauth:grant-type:device_code", form)
            } catch OAuthError.requestFailed(let error) where error.isTemporary {
                interval = min(interval * 2, .seconds(300))
            } catch OAuthError.failed(let status) where status == 429 || status >= 500 {
                interval = min(interval * 2, .seconds(300))
            } catch OAuthError.refused(let response) {
                switch response.code {
                case .authorizationPending: break
                case .slowDown: interval += .seconds(5)
                case .expiredToken: throw .deviceCodeExpired
                default: throw .refused(response)
                }
            }
        }
    }
}

extension AFError {
    /// Whether the reason is a network problem that can disappear later.
    fileprivate var isTemporary: Bool {
        let codes: [TransportError.Code] = [
            .timedOut, .cannotFindHost, .cannotConnect, .notConnected, .connectionLost, .bodyIncomplete,
        ]
        return transportError.map { codes.contains($0.code) } ?? false
    }
}

extension OAuthDeviceAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The page and the code for the user. The text doesn't contain the device code.
    public var description: String { "device authorization \(userCode) at \(verificationURI)" }
    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// A mirror without the device code.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["userCode": userCode, "verificationURI": verificationURI] as KeyValuePairs<String, Any>)
    }
}

extension OAuthClient {
    /// Requests a code that the user confirms on another device (RFC 8628).
    ///
    /// - Parameters:
    ///   - scope: The scope, separated by spaces. The default is nil: the server chooses it.
    ///   - resources: The resources that the token is for (RFC 8707). The default is none.
    ///   - parameters: Additional parameters of the request. The default is none.
    /// - Throws: An ``OAuthError``.
    public func deviceAuthorization(
        scope: String? = nil, resources: [URL] = [], parameters: [String: String] = [:]
    ) async throws(OAuthError) -> OAuthDeviceAuthorization {
        var form = try Parameter.optional("scope", scope) + Self.resources(resources)
        // Required even if the client authenticates in another way (RFC 8628, section 3.1).
        if case .basic = authentication.method { form.append(Parameter("client_id", id)) }
        form = try Self.adding(parameters, to: form)
        let reply = try await post(form, to: "device_authorization_endpoint", server.deviceAuthorizationEndpoint)
        guard reply.status == 200, (try? reply.object())?.nonemptyString("error") == nil else {
            throw refusal(reply)
        }
        return try OAuthDeviceAuthorization(reply.object(), client: self)
    }
}
