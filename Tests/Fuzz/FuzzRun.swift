import Foundation

/// A run of many inputs for one subject.
struct FuzzRun {
    let subject: Subject
    let seed: UInt64
    let count: Int
    /// The file that contains the current input, so that it is available after a crash.
    let file: URL

    /// The statistics of a run.
    struct Report {
        var accepted = 0
        var refused = 0
        /// The processor time of the slowest input.
        var slowest = Duration.zero
        /// The growth of the process's memory since the first quarter of the inputs, in bytes.
        var growth = 0
    }

    /// A failure and the input that caused it.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs all inputs.
    ///
    /// - Parameter willRead: Called before each input.
    func run(willRead: () -> Void = {}) throws -> Report {
        let mutator = Mutator(subject)
        let keeper = try InputKeeper(file)
        var report = Report()
        var memory = 0
        for index in 0..<count {
            if index == count / 4 { memory = ProcessMemory.resident }
            var random = SeededGenerator(seed: seed &+ UInt64(index), subject.name.utf8)
            let input = mutator.input(&random)
            try keeper.keep(input)
            willRead()
            do {
                let (isAccepted, time) = try Self.read(input, with: subject)
                if isAccepted { report.accepted += 1 } else { report.refused += 1 }
                report.slowest = max(report.slowest, time)
            } catch {
                throw Failure(
                    description: "\(subject.name), seed \(seed), input \(index), kept in \(file.path): "
                        + error.description)
            }
        }
        report.growth = ProcessMemory.resident - memory
        keeper.remove()
        return report
    }

    /// Parses one input.
    static func read(
        _ input: Data, with subject: Subject
    ) throws(Contradiction) -> (isAccepted: Bool, time: Duration) {
        var (isAccepted, time) = try timedRead(input, with: subject)
        if time > FuzzSettings.maximumTime {
            // On a virtual machine, the time includes periods in which the machine doesn't have the processor. An input
            // that is actually slow is slow again.
            (isAccepted, time) = try timedRead(input, with: subject)
            guard time <= FuzzSettings.maximumTime * slowness else {
                throw Contradiction("it took \(time) of processor time")
            }
        }
        return (isAccepted, time)
    }

    private static func timedRead(
        _ input: Data, with subject: Subject
    ) throws(Contradiction) -> (isAccepted: Bool, time: Duration) {
        // A seed from the input makes failures reproducible.
        var random = SeededGenerator(seed: 0, input)
        let start = threadTime
        let isAccepted = try subject.read(input, &random)
        return (isAccepted, threadTime - start)
    }

    /// How many times slower this machine is at present than the reference machine of the time limit, but at least 1.
    private static var slowness: Double {
        let start = threadTime
        var random = SeededGenerator(seed: 1, [])
        var sum: UInt64 = 0
        for _ in 0..<referenceCount { sum &+= random.next() }
        let time = threadTime - start
        return sum == 0 ? 1 : max(1, time / referenceTime)
    }

    /// The number of random numbers that the reference machine generates in ``referenceTime``, in a debug build.
    private static let referenceCount = 10_000_000
    private static let referenceTime = Duration.milliseconds(40)

    /// The processor time of this thread, which excludes other work on the machine.
    private static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
