import Afar
import AfarNetworkActivity
import AfarYAML

enum YAMLSamples {
    static func limited() async throws {
        let deployment = try await AF.request("https://api.example.com/deployment")
            .serializing(.yaml(of: Deployment.self, limits: YAMLLimits(maximumNodes: 1_000)))
            .value
        print("\(deployment.name), within limits")
    }

    static func indicator(show: @escaping @Sendable (Bool) -> Void) async {
        let manager = NetworkActivityIndicatorManager.shared
        manager.isEnabled = true
        for await isVisible in manager.visibility() { show(isVisible) }
    }
}
