import Afar
import Counters
import Foundation
import Servers

/// Makes very many requests and looks whether all end once, as they should, and leave nothing behind.
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

    /// Starts this program once more, with a malloc whose threads keep no freed blocks to themselves: such blocks count as
    /// in use, and there are more of them for hours.
    private static func countExactly() {
        let name = "GLIBC_TUNABLES"
        guard getenv(name) == nil else { return }
        setenv(name, "glibc.malloc.tcache_count=0", 1)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
    }

    private static func run(_ options: Options) async throws -> Bool {
        var (ledgers, checks) = try await runTrials(options)
        // The sessions are gone now.
        checks.append(await checkHandles())
        let late = ledgers.compactMap { $0.irregular(among: $0.requests) }
        checks.append(Check("no request was completed once more afterwards", late.isEmpty))
        ledgers = []
        print("\nVerdict (seed \(options.seed))")
        for check in checks { print(check.line) }
        return checks.allSatisfy(\.holds)
    }

    private static func runTrials(_ options: Options) async throws -> (ledgers: [Ledger], checks: [Check]) {
        let stage = try Stage()
        let count = { (full: Double) in max(Trial.laps, Int(full * options.scale)) }
        let trials: [Trial] = [
            .answers(stage, requests: count(1_000_000)),
            // So many that a table of libcurl's or ours that doubles late, some 80 kB at once, is no growth for each request.
            .failures(stage, requests: count(400_000)),
            .cancels(stage, requests: count(200_000), seed: options.seed),
            .storm(stage, requests: count(20_000), seed: options.seed),
            .urlSession(stage, requests: count(100_000), seed: options.seed),
        ].filter { trial in options.only.map(trial.title.hasPrefix) ?? true }
        var ledgers: [Ledger] = []
        var checks: [Check] = []
        for trial in trials {
            // What comes and goes by chance is some kilobytes, which must not count much against one byte a request.
            let judgesMemory = options.scale >= 1 && trial.judgesResources
            let (ledger, ofTrial) = await trial.measure(on: stage, judgesMemory: judgesMemory)
            ledgers.append(ledger)
            checks += ofTrial.map { Check("\(trial.title): \($0.text)", $0.holds) }
        }
        return (ledgers, checks)
    }

    /// Once the sessions have been released, libcurl's handles must all be freed.
    private static func checkHandles() async -> Check {
        for _ in 0..<500 where counters_handles_freed() < counters_handles_made() {
            try? await Task.sleep(for: .milliseconds(10))
        }
        let (made, freed) = (counters_handles_made(), counters_handles_freed())
        return Check("libcurl's handles: \(made) made, \(freed) freed", made == freed && made > 0)
    }
}
