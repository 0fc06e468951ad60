import Afar
import AfarConfiguration
import AfarServiceLifecycle
import Configuration
import Logging
import ServiceLifecycle
import UnixSignals

/// The samples of the plug-ins for servers.
enum ServerSamples {
    static func lifecycle(_ session: Session, _ server: any ServiceLifecycle.Service) async throws {
        let group = ServiceGroup(
            services: [session.service(drainingFor: 10), server], gracefulShutdownSignals: [.sigterm],
            logger: Logger(label: "shop"))
        try await group.run()
    }

    static func configuration() async throws -> Session {
        let reader = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "api.http")
        let session = Session(configuration: try await SessionConfiguration(reader))
        return session
    }

    static func checkedConfiguration(_ reader: ConfigReader) async throws -> SessionConfiguration {
        let variables = ProcessInfo.processInfo.environment.keys
            .filter { $0.hasPrefix("API_HTTP_") }
            .map { String($0.dropFirst(9)) }
        let configuration = try await SessionConfiguration(reader, checking: variables)
        return configuration
    }
}
