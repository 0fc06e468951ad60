import Afar
import Counters
import Foundation
import Servers

/// Makes a large number of requests, and checks that each completes exactly once and that no resources leak.
@main struct Soak {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == ScriptedServers.command {
            try? await ScriptedServers.serve()
            return
        }
        guard let options = Options(arguments) else {
            print(Options.help)
            exit(64)
        }
        countExactly()
        Cleanup.shared.watchSignals()
        let holds: Bool
        do {
            holds = try await run(options)
        } catch {
            print("FAILED: \(error)")
            holds = false
        }
        Cleanup.shared.finish(exitStatus: holds ? 0 : 1)
    }

    /// Restarts this program with malloc's thread caches disabled. Cached blocks count as in use, and their number
    /// increases for hours.
    private static func countExactly() {
        let name = "GLIBC_TUNABLES"
        guard getenv(name) == nil else { return }
        setenv(name, "glibc.malloc.tcache_count=0", 1)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
    }

    private static func run(_ options: Options) async throws -> Bool {
        var (ledgers, checks) = try await runTrials(options)
        checks.append(await checkHandles())
        let late = ledgers.compactMap { $0.irregular(among: $0.requests) }
        checks.append(Check("no request completed a second time afterward", late.isEmpty))
        ledgers = []
        print("\nResults (seed \(options.seed))")
        for check in checks { print(check.line) }
        return checks.allSatisfy(\.holds)
    }

    private static func runTrials(_ options: Options) async throws -> (ledgers: [Ledger], checks: [Check]) {
        let stage = try Stage()
        let count = { (full: Double) in max(Trial.laps, Int(full * options.scale)) }
        let trials: [Trial] = [
            .answers(stage, requests: count(1_000_000)),
            // With fewer requests, a late reallocation of a hash table (80 kB in libcurl or Afar) would look like a
            // leak.
            .failures(stage, requests: count(400_000)),
            .cancels(stage, requests: count(200_000), seed: options.seed),
            .storm(stage, requests: count(20_000), seed: options.seed),
            .http2(stage, requests: count(600_000), seed: options.seed),
            .libcurl(stage, requests: count(100_000), seed: options.seed),
            .urlSession(stage, requests: count(100_000), seed: options.seed),
        ].filter { trial in options.only.map(trial.title.hasPrefix) ?? true }
        var ledgers: [Ledger] = []
        var checks: [Check] = []
        for trial in trials {
            // Random variation is a few kilobytes, which must be small compared with one byte per request.
            let checksMemory = options.scale >= 1 && trial.checksResources
            let (ledger, ofTrial) = await trial.measure(on: stage, checksMemory: checksMemory)
            ledgers.append(ledger)
            checks += ofTrial.map { Check("\(trial.title): \($0.text)", $0.holds) }
        }
        return (ledgers, checks)
    }

    /// Checks that all libcurl handles are freed after the sessions have been released.
    private static func checkHandles() async -> Check {
        for _ in 0..<500 where counters_handles_freed() < counters_handles_made() {
            try? await Task.sleep(for: .milliseconds(10))
        }
        let (made, freed) = (counters_handles_made(), counters_handles_freed())
        return Check("libcurl's handles: \(made) made, \(freed) freed", made == freed && made > 0)
    }
}
