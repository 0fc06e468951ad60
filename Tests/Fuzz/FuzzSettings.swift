import Foundation

/// The settings in environment variables.
enum FuzzSettings {
    /// Returns the number of inputs for each subject: AFAR_FUZZ.
    static func count(else number: Int) -> Int { self.number("AFAR_FUZZ") ?? number }

    /// The seed of the inputs: AFAR_FUZZ_SEED, by default 1.
    static var seed: UInt64 { number("AFAR_FUZZ_SEED").map { UInt64(clamping: $0) } ?? 1 }

    /// The time limit for one input: AFAR_FUZZ_SECONDS, by default 1.
    static var maximumTime: Duration { .seconds(number("AFAR_FUZZ_SECONDS") ?? 1) }

    /// Returns the file that contains a subject's current input.
    static func file(of subject: Subject) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "afar-fuzz/\(subject.name)")
    }

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }
}
