import Foundation

/// CPython's `json` module, in a new process for each measurement.
struct CPython {
    private let file: URL
    private let times: Int

    init(decoding data: Data, times: Int) throws {
        file = FileManager.default.temporaryDirectory.appending(path: "afar-bench-\(data.count).json")
        try data.write(to: file)
        self.times = times
    }

    /// Decodes the document `times` times and returns the processor time in seconds.
    func seconds() throws -> Double {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.script, file.path, "\(times)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard let seconds = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return seconds
    }

    private static let script = """
        import json, sys, time
        text = open(sys.argv[1], 'rb').read()
        start = time.process_time()
        for _ in range(int(sys.argv[2])):
            json.loads(text)
        print(time.process_time() - start)
        """
}
