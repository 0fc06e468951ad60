import Foundation

/// The final response of a curl run.
struct Curl: Sendable {
    struct Failed: Error {
        let exitCode: Int32
        let message: String
        var output = Data()
    }

    /// The final status.
    let status: Int
    /// The head of the final response, with normalized line breaks.
    let head: String
    let body: Data

    var text: String { String(decoding: body, as: UTF8.self) }

    var json: [String: Any] {
        get throws { try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:] }
    }

    /// Returns the values of a header, in order.
    func values(_ name: String) -> [String] {
        head.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
    }

    /// Requests a URL.
    static func get(_ url: URL, _ options: String..., input: Data? = nil) async throws -> Curl {
        try await get(url, options, input: input)
    }

    /// Requests a URL.
    static func get(_ url: URL, _ options: [String], input: Data? = nil) async throws -> Curl {
        let output = try await run(["-i", url.absoluteString] + options, input: input)
        let blank = Data("\r\n\r\n".utf8)
        var rest = output
        while let end = rest.range(of: blank) {
            let head = String(decoding: rest[rest.startIndex..<end.lowerBound], as: UTF8.self)
            rest = rest[end.upperBound...]
            let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            // Skip interim responses and followed redirects.
            if rest.starts(with: Data("HTTP/".utf8)) { continue }
            return Curl(status: status, head: head.replacing("\r\n", with: "\n"), body: Data(rest))
        }
        throw Failed(exitCode: 0, message: "no head in \(String(decoding: output, as: UTF8.self))")
    }

    /// Runs curl on a dedicated thread and returns its output.
    static func run(_ arguments: [String], input: Data? = nil) async throws -> Data {
        try await onThread {
            let process = Process()
            let (output, error, source) = (Pipe(), Pipe(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            process.arguments = ["-sS", "--max-time", "60"] + arguments
            process.standardOutput = output
            process.standardError = error
            process.standardInput = source
            try process.run()
            if let input { try source.fileHandleForWriting.write(contentsOf: input) }
            try source.fileHandleForWriting.close()
            let data = readToEnd(output.fileHandleForReading)
            let message = readToEnd(error.fileHandleForReading)
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                let text = String(decoding: message, as: UTF8.self)
                throw Failed(exitCode: process.terminationStatus, message: text, output: data)
            }
            return data
        }
    }
}

/// Reads the entire output of a process. Unlike `FileHandle`, this function loses no data if a signal interrupts a
/// read.
private func readToEnd(_ handle: FileHandle) -> Data {
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(handle.fileDescriptor, &buffer, buffer.count)
        if count > 0 { bytes += buffer[..<count] } else if count == 0 || errno != EINTR { return bytes }
    }
}

/// Runs blocking code outside of the cooperative thread pool.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
