import Foundation
import Servers

@main struct Bench {
    static func main() throws {
        Cleanup.shared.watchSignals()
        defer { Cleanup.shared.finish() }
        let site = try Site()
        Cleanup.shared.add(site.folder)
        let stage = Stage(site: site, nginx: try Nginx(site: site), share: 1)
        for workload in Workload.all.prefix(4) {
            print(workload.name)
            for client in try Client.available() {
                let m = try stage.run(client, workload)
                print(
                    client.name, Double(m.requests) / m.seconds, m.cpuSeconds / Double(m.requests) * 1e6,
                    m.peakKilobytes)
            }
        }
    }
}
