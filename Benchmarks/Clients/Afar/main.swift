import Afar
import Foundation
import Measurement

Job.main { job in
    var configuration = SessionConfiguration.default
    configuration.httpMaximumConnectionsPerHost = job.connections
    let session = Session(configuration: configuration)
    let url = job.url
    let file = job.file

    switch job.action {
    case .get:
        try await job.measure { try await session.request(url).serializingData().value.count }
    case .decode:
        try await job.measure { try await session.request(url).serializingDecodable(Record.self).value.answer }
    case .download:
        try await job.measure {
            try await session.download(url, to: { _, _ in (file, [.removePreviousFile]) })
                .serializingDownloadedFileURL().value.fileSize()
        }
    case .discard:
        try await job.measure { try await session.transport.countBody(of: url) }
    case .upload:
        try await job.measure {
            _ = try await session.upload(file, to: url, method: .put).validate()
                .serializingData(emptyResponseCodes: [201, 204]).value
            return try file.fileSize()
        }
    }
}
