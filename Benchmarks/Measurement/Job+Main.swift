import Foundation
import Glibc

extension Job {
    /// Runs the job from the command line and reports errors. This is the entry point of a client.
    ///
    /// The main thread sleeps and doesn't serve the main queue, because the main queue's wait function crashes under
    /// valgrind.
    public static func main(_ perform: @escaping @Sendable (Job) async throws -> Void) -> Never {
        guard let job = Job(CommandLine.arguments) else {
            printError("run this program with make bench")
            exit(64)
        }
        Task {
            do {
                try await perform(job)
                exit(0)
            } catch {
                printError("\(error)")
                exit(1)
            }
        }
        while true { pause() }
    }

    private static func printError(_ text: String) {
        FileHandle.standardError.write(Data("\(CommandLine.arguments[0]): \(text)\n".utf8))
    }
}
