import Foundation

/// Zeros in a highly compressed form.
struct GzipBomb {
    let bytes: [UInt8]

    init(layers: Int, megabytes: Int) {
        let shell = Process()
        let output = Pipe()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        let packing = Array(repeating: "gzip -9", count: layers).joined(separator: " | ")
        shell.arguments = ["-c", "head -c \(megabytes)000000 /dev/zero | \(packing)"]
        shell.standardOutput = output
        try? shell.run()
        bytes = Array(output.fileHandleForReading.readDataToEndOfFile())
        shell.waitUntilExit()
    }
}
