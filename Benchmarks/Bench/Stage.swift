import Foundation
import Servers

/// Where clients run: a server, its files, and their sizes.
struct Stage {
    let site: Site
    let nginx: Nginx
    /// The part of the workloads' requests that is made, to save time.
    let share: Double

    func run(_ client: Client, _ workload: Workload) throws -> Measured {
        let action = workload.action == .decode && !client.decodes ? .get : workload.action
        let requests =
            workload.isBulk ? 1 : max(workload.inFlight, Int(Double(workload.requests) * share) / client.slowness)
        let output = try Executable.run(
            client.executable, arguments(workload, action, requests: requests, warmUp: requests / 8))
        let measured = try JSONDecoder().decode(Measured.self, from: output)
        guard measured.yield == requests * expected(action, workload) else {
            throw Failure("\(client.name) did not do what \(workload.name) asks: \(measured)")
        }
        return measured
    }

    private func arguments(
        _ workload: Workload, _ action: Workload.Action, requests: Int, warmUp: Int
    ) -> [String] {
        let file = action == .upload ? site.large : site.downloaded
        return [
            action.rawValue, "http://127.0.0.1:\(nginx.port)\(workload.path)", file.path,
            String(requests), String(warmUp), String(workload.inFlight), String(workload.inFlight),
        ]
    }

    /// What one request returns.
    private func expected(_ action: Workload.Action, _ workload: Workload) -> Int {
        switch action {
        case .get: workload.path == Site.tiny ? Site.tinyBody.utf8.count : Site.record.utf8.count
        case .decode: Site.answer
        case .download, .discard, .upload: Site.gibibyte
        }
    }
}
