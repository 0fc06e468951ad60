import Foundation

extension Job {
    /// What a client's main file calls: does the job that the command line names, and reports what goes wrong.
    public static func main(_ perform: (Job) async throws -> Void) async {
        guard let job = Job(CommandLine.arguments) else {
            complain("this program is started by Bench")
            exit(64)
        }
        do {
            try await perform(job)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(CommandLine.arguments[0]): \(text)\n".utf8))
    }
}
