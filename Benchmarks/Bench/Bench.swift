import Foundation
import Measurement
import Servers

/// Runs workloads with several HTTP clients and reports their performance.
@main struct Bench {
    static func main() {
        Cleanup.shared.watchSignals()
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if options.asksForHelp {
                print(Options.help)
            } else {
                try run(options)
            }
            Cleanup.shared.finish()
        } catch {
            Cleanup.shared.finish()
            FileHandle.standardError.write(Data("Bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: Options) throws {
        let site = try Site()
        Cleanup.shared.add(site.folder)
        let stage = try Stage(site: site, share: options.isQuick ? 0.25 : 1)
        if options.checksCounts { return try checkCounts(on: stage, writesLimits: options.writesLimits) }
        let clients = try Client.available(folder: site.folder, named: options.clients)
        let machine = Machine(clients: clients)
        print(machine.lines.joined(separator: "\n"))

        var results: [WorkloadResult] = []
        for workload in options.workloads {
            let result = try stage.measure(workload, clients, options)
            print("\n\(result.title)\n\(result.table.text)")
            results.append(result)
        }
        if options.isWhole { try Documentation.write(results, machine) }
    }

    private static func checkCounts(on stage: Stage, writesLimits: Bool) throws {
        guard let client = try Client.available(folder: URL(filePath: "/"), named: ["Afar"]).first else {
            throw Failure("Afar's client is missing")
        }
        var counts: [String: Counts] = [:]
        for workload in Workload.all where CountLimits.workloads.contains(workload.name) {
            counts[workload.name] = try stage.counts(of: client, workload)
        }
        try CountLimits.check(counts, writesLimits: writesLimits)
    }
}
