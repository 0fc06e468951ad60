import Foundation

/// Fuzzes all code that parses untrusted input: `make fuzz`.
///
/// Each subject runs in its own process, so that a crash can be reported with the input that caused it.
///
///     AFAR_FUZZ=1000 AFAR_FUZZ_SEED=7 AfarFuzz xml-tree json    1000 inputs, seed 7, only these subjects
///     AfarFuzz --repeat xml-tree /tmp/afar-fuzz/xml-tree        one input
@main
struct Fuzz {
    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        switch arguments.popFirst() {
        case "--repeat"?:
            guard let subject = subject(arguments.popFirst()), let path = arguments.popFirst() else {
                end("--repeat requires a subject and a file")
            }
            let (isAccepted, time) = try FuzzRun.read(Data(contentsOf: URL(filePath: path)), with: subject)
            print("\(subject.name): \(isAccepted ? "accepted" : "refused") in \(time)")
        case "--alone"?:
            guard let subject = subject(arguments.popFirst()) else { end("--alone requires a subject") }
            runOnSmallStack { run(subject) }
        case let first:
            let names = [first].compactMap { $0 } + arguments
            let subjects = names.isEmpty ? Subject.all : names.compactMap(subject)
            guard names.isEmpty || subjects.count == names.count else {
                end("The subjects are: \(Subject.all.map(\.name).joined(separator: " "))")
            }
            let failed = try subjects.filter { try !runAlone($0) }.map(\.name)
            guard failed.isEmpty else { end("failed: \(failed.joined(separator: " "))") }
        }
    }

    private static func subject(_ name: String?) -> Subject? { Subject.all.first { $0.name == name } }

    private static func end(_ message: String) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(1)
    }

    /// Fuzzes a subject in another process. Returns whether it passed.
    private static func runAlone(_ subject: Subject) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--alone", subject.name]
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal else { return process.terminationStatus == 0 }
        let signal = process.terminationStatus
        let reason = signal == SIGALRM ? "timeout" : "signal \(signal)"
        let path = FuzzSettings.file(of: subject).path
        print("\(subject.name): \(reason), seed \(FuzzSettings.seed); see --repeat \(subject.name) \(path)")
        return false
    }

    private static func run(_ subject: Subject) {
        let clock = ContinuousClock()
        let start = clock.now
        let run = FuzzRun(
            subject: subject, seed: FuzzSettings.seed, count: FuzzSettings.count(else: 100_000),
            file: FuzzSettings.file(of: subject))
        do {
            // Stops endless loops. The timeout is long, because the machine can be busy.
            let report = try run.run { alarm(300) }
            let seconds = (clock.now - start).formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
            let memory = [report.growth, ProcessMemory.peak].map { "\($0 >> 20) MiB" }
            print(
                "\(subject.name): \(report.accepted) accepted, \(report.refused) refused in \(seconds), the slowest in "
                    + "\(report.slowest.formatted(.units(allowed: [.milliseconds]))); memory \(memory[0]) more, "
                    + "at most \(memory[1])")
            guard report.growth < maximumGrowth, ProcessMemory.peak < maximumPeak else {
                end("\(subject.name): it used too much memory")
            }
        } catch {
            end("\(error)")
        }
    }

    /// The maximum growth of the memory. It allows for a leak in Foundation, of about 300 bytes for each unreadable
    /// property list in OpenStep format.
    private static let maximumGrowth = 64 << 20
    private static let maximumPeak = 512 << 20

    /// Runs work with the smallest stack of any thread on Apple's platforms.
    private static func runOnSmallStack(_ work: @escaping @Sendable () -> Void) {
        let thread = Thread {
            work()
            exit(0)
        }
        thread.stackSize = 512 << 10
        thread.start()
        while true { sleep(1000) }
    }
}
