import Afar
import AfarEgress

/// The samples of Docs/Egress-Control.md.
enum EgressSamples {
    static func session() -> Session {
        var configuration = SessionConfiguration.default
        configuration.connectionPolicy = EgressPolicy()
        let session = Session(configuration: configuration)
        return session
    }

    static func refused(_ session: Session) async {
        let response = await session.request("http://metadata.example/latest/").serializingString().response
        if let error = response.error?.transportError, error.code == .refusedByPolicy {
            print(error.message)
        }
    }

    static func rules() throws -> EgressPolicy {
        let policy = EgressPolicy(
            allowing: [
                .publicAddresses,
                try EgressRule(host: "*.corp.example", ports: [443], networks: ["10.20.0.0/16", "fd12:3456::/32"]),
            ],
            denying: [
                try EgressRule(host: "*.ads.example"),
                try EgressRule(ports: [25]),
                try EgressRule(networks: ["203.0.113.0/24"]),
            ])
        return policy
    }

    static func routes() throws -> EgressPolicy {
        let policy = EgressPolicy(
            proxies: [try EgressRule(host: "proxy.internal.example", ports: [3128])],
            unixSockets: ["/run/search.sock"],
            allowsConnectTo: true)
        return policy
    }

    static func reporting() -> EgressPolicy {
        let policy = EgressPolicy(mode: .report) { refusal in
            print("would be refused: \(refusal)")
        }
        return policy
    }

    final class OnlyTLS: ConnectionPolicy {
        func decide(on candidate: ConnectionCandidate) -> ConnectionDecision {
            candidate.scheme == "https" ? .allow : .refuse(reason: "only https is allowed")
        }
    }
}
