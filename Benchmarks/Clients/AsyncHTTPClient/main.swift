import AsyncHTTPClient
import Foundation
import Measurement
import NIOCore
import NIOFoundationCompat

Job.main { job in
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = job.connections
    configuration.httpVersion = .http1Only
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let request = HTTPClientRequest(url: job.url.absoluteString)
    let file = job.file

    switch job.action {
    case .get:
        try await job.measure { try await client.body(of: request).readableBytes }
    case .decode:
        let decoder = JSONDecoder()
        try await job.measure {
            try await decoder.decode(Record.self, from: Data(buffer: client.body(of: request))).answer
        }
    case .download:
        try await job.measure { try await client.download(request, to: file) }
    case .discard:
        try await job.measure {
            var count = 0
            for try await chunk in try await client.execute(request, timeout: .hours(1)).body {
                count += chunk.readableBytes
            }
            return count
        }
    case .upload:
        try await job.measure { try await client.upload(file, by: request) }
    case .exchange, .sendStream, .sendForm, .linger: throw Job.Unable()
    }
    try await client.shutdown()
}

extension HTTPClient {
    fileprivate func body(of request: HTTPClientRequest) async throws -> ByteBuffer {
        try await execute(request, timeout: .seconds(60)).body.collect(upTo: 1 << 20)
    }
}
