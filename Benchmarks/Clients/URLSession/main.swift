import Foundation
import Measurement

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

Job.main { job in
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = job.connections
    configuration.urlCache = nil
    let session = URLSession(configuration: configuration)
    let url = job.url
    let file = job.file

    switch job.action {
    case .get:
        try await job.measure { try await session.data(from: url).0.count }
    case .decode:
        let decoder = JSONDecoder()
        try await job.measure { try await decoder.decode(Record.self, from: session.data(from: url).0).answer }
    case .download:
        try await job.measure {
            let (temporary, _) = try await session.download(from: url)
            try FileManager.default.moveItem(at: temporary, to: file)
            return try file.fileSize()
        }
    case .discard:
        try await job.measure { try await BodyCounter.count(url, configuration: configuration) }
    case .upload:
        try await job.measure {
            var request = URLRequest(url: url)
            request.httpMethod = "PUT"
            let (_, response) = try await session.upload(for: request, fromFile: file)
            guard (response as? HTTPURLResponse)?.statusCode == 201 else { return 0 }
            return try file.fileSize()
        }
    case .exchange, .sendStream, .sendForm, .linger: throw Job.Unable()
    }
}
