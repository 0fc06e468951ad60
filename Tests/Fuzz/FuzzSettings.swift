import Foundation

/// What the environment says.
enum FuzzSettings {
    /// How many inputs each subject gets: AFAR_FUZZ.
    static func count(else number: Int) -> Int { self.number("AFAR_FUZZ") ?? number }

    /// What the inputs depend on: AFAR_FUZZ_SEED, by default 1.
    static var seed: UInt64 { number("AFAR_FUZZ_SEED").map { UInt64(clamping: $0) } ?? 1 }

    /// How long one input may take: AFAR_FUZZ_SECONDS, by default 1.
    static var greatestTime: Duration { .seconds(number("AFAR_FUZZ_SECONDS") ?? 1) }

    /// Where the input stands that a subject reads just now.
    static func file(of subject: Subject) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "afar-fuzz/\(subject.name)")
    }

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }
}
