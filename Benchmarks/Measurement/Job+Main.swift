import Foundation
import Glibc

extension Job {
    /// What a client's main file calls: does the job that the command line names, and reports what goes wrong.
    ///
    /// The main thread sleeps. It does not serve the main queue, which would end the program under valgrind: there the
    /// queue's way to wait is fatal.
    public static func main(_ perform: @escaping @Sendable (Job) async throws -> Void) -> Never {
        guard let job = Job(CommandLine.arguments) else {
            complain("this program is started by Bench")
            exit(64)
        }
        Task {
            do {
                try await perform(job)
                exit(0)
            } catch {
                complain("\(error)")
                exit(1)
            }
        }
        while true { pause() }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(CommandLine.arguments[0]): \(text)\n".utf8))
    }
}
