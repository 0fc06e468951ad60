import Foundation
import Server

// Starts a server and prints its port. SIGTERM shuts the server down gracefully.
//
//     ServerProgram PORT
let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 0
let server = try await HummingbirdServer.start(port: port, handlesSIGTERM: true)
try FileHandle.standardOutput.write(contentsOf: Data("\(server.port)\n".utf8))
try await server.wait()
