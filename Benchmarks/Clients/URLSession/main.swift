import Foundation
import Measurement

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

guard let job = Job() else { exit(64) }

let configuration = URLSessionConfiguration.ephemeral
configuration.httpMaximumConnectionsPerHost = job.connections
configuration.urlCache = nil
let session = URLSession(configuration: configuration)
let url = job.url

switch job.action {
case .get:
    try await job.measure { try await session.data(from: url).0.count }
case .decode:
    let decoder = JSONDecoder()
    try await job.measure { try await decoder.decode(Record.self, from: session.data(from: url).0).answer }
case .download, .discard, .upload:
    exit(64)
}
