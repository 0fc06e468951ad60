import AfarConfiguration
import AfarCore
import AfarTransport
import Configuration
import Foundation
import Testing

@Suite struct SessionConfigurationReaderTests {
    private func configuration(
        _ values: [AbsoluteConfigKey: ConfigValue], defaults: SessionConfiguration = .default,
        checking keys: [String] = []
    ) async throws(SessionConfigurationError) -> SessionConfiguration {
        try await SessionConfiguration(
            ConfigReader(provider: InMemoryProvider(values: values)), defaults: defaults, checking: keys)
    }

    private func configuration(
        environment: [String: String], scope: ConfigKey = "api.client"
    ) async throws(SessionConfigurationError) -> SessionConfiguration {
        let provider = EnvironmentVariablesProvider(environmentVariables: environment)
        return try await SessionConfiguration(ConfigReader(provider: provider).scoped(to: scope))
    }

    @Test func everyKeyIsReadFromMemory() async throws {
        try await checkAll(
            configuration([
                "base-url": "https://api.example.com/v1/", "user-agent": "shop/2", "timeout.request": 12.5,
                "timeout.resource": 600, "timeout.connect": 3, "waits-for-connectivity": true,
                "maximum-connections-per-host": 64, "maximum-redirects": 0, "allows-insecure-redirects": true,
                "maximum-response-body-size": 1_048_576, "http-version": "1.1", "tls.minimum-version": "1.3",
                "tls.certificate-bundle": "/etc/ssl/own.pem", "proxy": "http://ann:pass%40word@proxy.example:3128",
                "no-proxy": ConfigValue(.stringArray(["localhost", "10.0.0.0/8"]), isSecret: false),
            ]))
    }

    @Test func everyKeyIsReadFromTheEnvironment() async throws {
        try await checkAll(
            configuration(environment: [
                "API_CLIENT_BASE_URL": "https://api.example.com/v1/", "API_CLIENT_USER_AGENT": "shop/2",
                "API_CLIENT_TIMEOUT_REQUEST": "12.5", "API_CLIENT_TIMEOUT_RESOURCE": "600",
                "API_CLIENT_TIMEOUT_CONNECT": "3", "API_CLIENT_WAITS_FOR_CONNECTIVITY": "yes",
                "API_CLIENT_MAXIMUM_CONNECTIONS_PER_HOST": "64", "API_CLIENT_MAXIMUM_REDIRECTS": "0",
                "API_CLIENT_ALLOWS_INSECURE_REDIRECTS": "true", "API_CLIENT_MAXIMUM_RESPONSE_BODY_SIZE": "1048576",
                "API_CLIENT_HTTP_VERSION": "1.1", "API_CLIENT_TLS_MINIMUM_VERSION": "1.3",
                "API_CLIENT_TLS_CERTIFICATE_BUNDLE": "/etc/ssl/own.pem",
                "API_CLIENT_PROXY": "http://ann:pass%40word@proxy.example:3128",
                "API_CLIENT_NO_PROXY": "localhost, 10.0.0.0/8", "BASE_URL": "https://other.example",
            ]))
    }

    private func checkAll(_ configuration: SessionConfiguration) throws {
        #expect(configuration.baseURL?.absoluteString == "https://api.example.com/v1/")
        #expect(configuration.headers["User-Agent"] == "shop/2")
        #expect(configuration.headers["Accept-Language"] == SessionConfiguration.default.headers["Accept-Language"])
        #expect(configuration.timeoutIntervalForRequest == 12.5)
        #expect(configuration.timeoutIntervalForResource == 600)
        #expect(configuration.timeoutIntervalForConnect == 3)
        #expect(configuration.waitsForConnectivity && configuration.allowsInsecureRedirects)
        #expect(configuration.httpMaximumConnectionsPerHost == 64)
        #expect(configuration.maximumRedirects == 0)
        #expect(configuration.maximumResponseBodySize == 1_048_576)
        #expect(configuration.httpVersion == .http1)
        #expect(configuration.tlsMinimumSupportedProtocolVersion == .v13)
        #expect(configuration.certificateBundle?.path == "/etc/ssl/own.pem")
        let proxies = try #require(configuration.network?.proxies)
        #expect(proxies.http == proxies.https && proxies.http?.host == "proxy.example" && proxies.http?.port == 3128)
        #expect(proxies.http?.credential == .init(user: "ann", password: "pass@word"))
        #expect(proxies.exclusions == ["localhost", "10.0.0.0/8"])
    }

    @Test func missingKeysKeepTheDefaults() async throws {
        var defaults = SessionConfiguration.default
        defaults.timeoutIntervalForRequest = 7
        defaults.maximumRedirects = 3
        defaults.network = NetworkSettings()
        defaults.network?.tcpKeepAlive = .init(idle: 9)
        let read = try await configuration(
            ["maximum-redirects": 5, "proxy": "socks5h://localhost"], defaults: defaults)
        #expect(read.timeoutIntervalForRequest == 7)
        #expect(read.maximumRedirects == 5)
        #expect(read.network?.tcpKeepAlive?.idle == 9)
        #expect(read.network?.proxies.https?.kind == .socks5h)
        let empty = try await configuration(["no-proxy": ConfigValue(.stringArray(["a"]), isSecret: false)])
        #expect(empty.baseURL == nil && empty.network == nil && empty.certificateBundle == nil)
        #expect(empty.timeoutIntervalForRequest == 60 && empty.httpVersion == .automatic)
        #expect(empty.maximumResponseBodySize == 256 << 20)
        #expect(empty.headers["User-Agent"] == SessionConfiguration.default.headers["User-Agent"])
    }

    @Test func versionsCanBeNumbers() async throws {
        let numbers = try await configuration(["http-version": 2, "tls.minimum-version": 1.2])
        #expect(numbers.httpVersion == .http2)
        #expect(numbers.tlsMinimumSupportedProtocolVersion == .v12)
        #expect(try await configuration(["http-version": 1.1]).httpVersion == .http1)
        #expect(try await configuration(["http-version": "automatic"]).httpVersion == .automatic)
    }

    @Test(arguments: [
        ("base-url", "/v1"), ("base-url", "ftp://example.com"), ("base-url", "https://"),
        ("base-url", "https://example.com/v1"),
        ("user-agent", "a\r\nb"), ("timeout.request", "soon"), ("timeout.request", "0"),
        ("timeout.resource", "-1"), ("timeout.resource", "nan"), ("timeout.connect", "1e10"),
        ("timeout.connect", "inf"), ("waits-for-connectivity", "maybe"),
        ("maximum-connections-per-host", "0"), ("maximum-connections-per-host", "65536"),
        ("maximum-redirects", "-1"), ("maximum-redirects", "1.5"), ("maximum-response-body-size", "0"),
        ("maximum-response-body-size", "9223372036854775808"), ("http-version", "3"), ("http-version", "HTTP/2"),
        ("tls.minimum-version", "1.1"), ("tls.minimum-version", "TLSv1.2"),
        ("proxy", "ftp://proxy.example"), ("proxy", "http://proxy.example:0"),
    ])
    func invalidValuesAreErrorsThatNameTheKey(key: String, value: String) async throws {
        let name = "API_CLIENT_" + key.uppercased().replacing("-", with: "_").replacing(".", with: "_")
        let error = await #expect(throws: SessionConfigurationError.self) {
            try await configuration(environment: [name: value])
        }
        #expect(error?.key == key)
        let description = error?.description ?? ""
        #expect(description.hasPrefix("the value of the configuration key \(key) "))
        #expect(description.contains(": it must be "))
        #expect(error?.localizedDescription == description)
    }

    /// Deployment tools set variables that have no value to empty text.
    @Test func emptyValuesAreMissing() async throws {
        let names = [
            "BASE_URL", "USER_AGENT", "TIMEOUT_REQUEST", "WAITS_FOR_CONNECTIVITY", "MAXIMUM_REDIRECTS", "HTTP_VERSION",
            "TLS_MINIMUM_VERSION", "TLS_CERTIFICATE_BUNDLE", "PROXY", "NO_PROXY",
        ]
        let environment = Dictionary(uniqueKeysWithValues: names.map { ("API_CLIENT_" + $0, "") })
        let read = try await configuration(environment: environment)
        #expect(read.baseURL == nil && read.network == nil && read.certificateBundle == nil)
        #expect(read.timeoutIntervalForRequest == 60 && read.httpVersion == .automatic)
        #expect(read.headers == SessionConfiguration.default.headers)
    }

    @Test func valuesOfOtherTypesAreErrors() async throws {
        let values: [AbsoluteConfigKey: ConfigValue] = [
            "base-url": 1, "timeout.request": "10", "waits-for-connectivity": "true", "maximum-redirects": 1.5,
            "http-version": true, "no-proxy": "localhost",
        ]
        for (key, value) in values {
            let error = await #expect(throws: SessionConfigurationError.self) {
                try await configuration([key: value, "proxy": "http://proxy.example"])
            }
            #expect(error?.key == key.description)
            #expect(error?.underlyingError != nil)
            #expect(error?.description.contains("can't be read") == true)
        }
    }

    @Test(arguments: [
        "http://ann:s3cret@", "s3cret@proxy://example", "http://ann:s3cret@proxy.example:99999",
        "ftp://ann:s3cret@proxy.example", "http://ann:s3c ret@s3cret", "http://ann:99999/s3cret@proxy.example",
    ])
    func errorsNeverContainThePassword(url: String) async throws {
        let error = await #expect(throws: SessionConfigurationError.self) {
            try await configuration(environment: ["API_CLIENT_PROXY": url])
        }
        var text = "\(error as Any) \(String(reflecting: error)) \(error?.localizedDescription ?? "")"
        dump(error, to: &text)
        #expect(!text.contains("s3c") && !text.contains("ann"), "\(text)")
    }

    @Test func theProxyIsASecretForAccessReporters() async throws {
        let reporter = Reporter()
        let provider = InMemoryProvider(values: ["proxy": "http://ann:s3cret@proxy.example", "base-url": "http://a"])
        _ = try await SessionConfiguration(ConfigReader(provider: provider, accessReporter: reporter))
        let events = reporter.events.withLock { $0 }
        #expect(Set(events.map(\.metadata.key.description)).count == 15)
        let secrets = events.filter {
            if case .success(let value) = $0.result { value?.isSecret == true } else { false }
        }
        #expect(secrets.map(\.metadata.key.description) == ["proxy"])
    }

    @Test func aFailureOfTheProviderIsAnError() async throws {
        let error = await #expect(throws: SessionConfigurationError.self) {
            try await SessionConfiguration(ConfigReader(provider: BrokenProvider()))
        }
        #expect(error?.key == "base-url")
        #expect(error?.underlyingError is BrokenProvider.Unreachable)
    }

    @Test func unknownKeysAreErrorsIfTheyAreListed() async throws {
        let values: [AbsoluteConfigKey: ConfigValue] = ["timeout.request": 3, "timeout.reqest": 3]
        #expect(try await configuration(values).timeoutIntervalForRequest == 3)
        let error = await #expect(throws: SessionConfigurationError.self) {
            try await configuration(values, checking: values.keys.map(\.description).sorted())
        }
        #expect(error?.key == "timeout.reqest")
        #expect(error?.description.contains("timeout.request") == true)
        let names = ["base-url", "timeout.request", "BASE_URL", "TLS_MINIMUM_VERSION", "NO_PROXY"]
        #expect(try await configuration(values, checking: names).timeoutIntervalForRequest == 3)
        await #expect(throws: SessionConfigurationError.self) { try await configuration([:], checking: ["BASEURL"]) }
    }
}

private final class Reporter: AccessReporter {
    let events = Locked<[AccessEvent]>([])

    func report(_ event: AccessEvent) { events.withLock { $0.append(event) } }
}

/// A provider whose source is unavailable.
private struct BrokenProvider: ConfigProvider {
    struct Unreachable: Error {}
    struct Snapshot: ConfigSnapshot {
        let providerName = "broken"

        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult { throw Unreachable() }
    }

    let providerName = "broken"

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult { throw Unreachable() }

    func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        throw Unreachable()
    }

    nonisolated(nonsending) func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler:
            nonisolated(nonsending) (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws ->
            Return
    ) async throws -> Return { try await watchValueFromValue(forKey: key, type: type, updatesHandler: updatesHandler) }

    func snapshot() -> any ConfigSnapshot { Snapshot() }

    nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
        updatesHandler:
            nonisolated(nonsending) (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return { try await watchSnapshotFromSnapshot(updatesHandler: updatesHandler) }
}
